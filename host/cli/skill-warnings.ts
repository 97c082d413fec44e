/** What agent families will refuse, cut or misread in the skills of a bundle, as warnings about the bundle. */
import { join, relative, sep } from 'node:path';
import { skillsOf, type VerifiedBundle } from '../bundles/index.ts';
import { type Problem, problem } from '../problems/index.ts';
import { lintSkills } from '../skills/index.ts';

/** `folder`: where the bundle's files lie, if not in the bundle's own folder. */
export const skillWarnings = (bundle: VerifiedBundle, folder = bundle.folder): readonly Problem[] => {
  const skills = skillsOf(bundle).map(({ name }) => join(folder, 'skills', name));
  const report = skills.length === 0 ? undefined : lintSkills(skills);
  if (report === undefined) return [];
  if (!report.ok) return [report.problem];
  return report.value.findings.map(({ file, line, rule, level, families, message }) =>
    problem('bundle/skill-finding', {
      subject: `${relative(folder, file).split(sep).join('/')}:${line}`,
      message: level === 'error' ? `A skill that agents refuse: ${message}` : message,
      evidence: families.length === 0 ? rule : `${rule}: ${families.join(', ')}`,
    }),
  );
};
