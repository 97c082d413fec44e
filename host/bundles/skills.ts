/**
 * Skills of a bundle: any content path `skills/<name>/SKILL.md` makes one, and `<name>` alone is its name here. What
 * the file says about itself is never read, so no path can come from it.
 */
import { join } from 'node:path';
import { shownPath } from '../paths/index.ts';
import { type Problem, problem } from '../problems/index.ts';
import type { VerifiedBundle } from './edge.ts';

// agentskills.io/specification: 1 to 64 lower-case letters, digits and hyphens, no hyphen at an end or doubled.
const skillName = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;
const inSkill = /^skills\/([^/]+)\/(.+)$/s;

/** One skill: where its admitted bytes lie and what they must be. The shape session-context takes as its source. */
export interface BundleSkill {
  readonly bundle: string;
  /** The bundle's identity, hex. */
  readonly revision: string;
  readonly name: string;
  /** Absolute folder of the skill in the package. */
  readonly folder: string;
  /** Paths are relative to `folder`. */
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly size: number }[];
}

/** `bundle/skill-name` for each folder that would be a skill and cannot be. */
export const skillFaults = (paths: readonly string[]): readonly Problem[] =>
  paths.flatMap((path) => {
    const [, name = '', rest] = inSkill.exec(path) ?? [];
    return rest !== 'SKILL.md' || skillName.test(name)
      ? []
      : [
          problem('bundle/skill-name', {
            subject: shownPath(path),
            message: `The skill folder "${shownPath(name)}" has a name that no skill can have.`,
          }),
        ];
  });

/** Folders under `skills/` that make no skill, for a warning. */
export const skillless = (paths: readonly string[]): readonly string[] => {
  const content = new Set(paths);
  const folders = new Set(paths.flatMap((path) => inSkill.exec(path)?.[1] ?? []));
  return [...folders].filter((name) => !content.has(`skills/${name}/SKILL.md`));
};

/** Every skill of a bundle, by name, each with all files below its folder. */
export const skillsOf = (bundle: VerifiedBundle): readonly BundleSkill[] => {
  const files = new Map<string, { path: string; sha256: string; size: number }[]>();
  for (const { path, sha256, size } of bundle.manifest.content) {
    const [, name, rest] = inSkill.exec(path) ?? [];
    if (name === undefined || rest === undefined) continue;
    const known = files.get(name);
    if (known === undefined) files.set(name, [{ path: rest, sha256, size }]);
    else known.push({ path: rest, sha256, size });
  }
  return [...files]
    .filter(([name, own]) => skillName.test(name) && own.some((file) => file.path === 'SKILL.md'))
    .map(([name, own]) => ({
      bundle: bundle.manifest.id,
      revision: bundle.identity,
      name,
      folder: join(bundle.folder, 'skills', name),
      files: own,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};
