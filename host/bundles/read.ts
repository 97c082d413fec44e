/**
 * Looking at a bundle without changing anything: the first thing wrong with it (`readBundle`), or all of it
 * (`diagnoseBundle`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shownPath } from '../paths/index.ts';
import { type Problem, problem } from '../problems/index.ts';
import type { ReadBundle, VerifiedBundle } from './edge.ts';
import { examine, rootOf, verified } from './examine.ts';
import { skillless, skillsOf } from './skills.ts';
import { openSource } from './source.ts';

export const readBundle: ReadBundle = async (dir) => {
  const root = rootOf(dir);
  return root.ok ? verified(await examine(root.value)) : root;
};

export interface Diagnosis {
  /** Present where nothing is wrong with the bundle by itself. */
  readonly bundle?: VerifiedBundle;
  readonly problems: readonly Problem[];
  /** What works but was probably not meant. */
  readonly warnings: readonly Problem[];
}

/** What only the station knows of a sound bundle: component admission, conflicts with what is installed. */
export type FurtherChecks = (bundle: VerifiedBundle) => Promise<readonly Problem[]>;

/**
 * Everything wrong with a bundle at once, a folder or an archive. What an archive holds is unpacked below the temporary
 * folder for the time of the look: the `folder` of the answer is gone by then.
 */
export const diagnoseBundle = async (source: string, further?: FurtherChecks): Promise<Diagnosis> => {
  const place = mkdtempSync(join(tmpdir(), 'jupiter-unpacked-'));
  try {
    const opened = await openSource(source, join(place, 'bundle'));
    if (!opened.ok) return { problems: [opened.problem], warnings: [] };
    return await diagnoseFolder(opened.value.folder, further);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

const diagnoseFolder = async (folder: string, further: FurtherChecks | undefined): Promise<Diagnosis> => {
  const examined = await examine(folder);
  const paths = examined.manifest?.content.map((file) => file.path) ?? [];
  const warnings = [
    ...skillless(paths).map((name) =>
      problem('bundle/no-skill-file', { subject: shownPath(`skills/${name}`) }),
    ),
    ...paths
      .filter((path) => path.split('/').some((segment) => segment.startsWith('.')))
      .map((path) => problem('bundle/hidden-file', { subject: shownPath(path) })),
  ];
  if (examined.problems.length > 0) return { problems: examined.problems, warnings };
  const result = verified(examined);
  if (!result.ok) return { problems: [result.problem], warnings };
  const bundle = result.value;
  const { components, topics } = bundle.manifest;
  const empty = components.length + topics.length + skillsOf(bundle).length === 0;
  return {
    bundle,
    problems: further === undefined ? [] : await further(bundle),
    warnings: empty
      ? [...warnings, problem('bundle/nothing-inside', { subject: bundle.manifest.id })]
      : warnings,
  };
};
