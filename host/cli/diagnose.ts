/**
 * A bundle looked at without a station: its bytes, and whether each component would be admitted. What a station that
 * runs knows of it is added.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnoseBundle, type VerifiedBundle } from '../bundles/index.ts';
import type { Problem } from '../problems/index.ts';
import { connectStation } from './client.ts';
import type { Io } from './output.ts';
import { skillWarnings } from './skill-warnings.ts';

export interface Diagnosed {
  readonly id?: string;
  readonly version?: string;
  readonly revision?: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly station?: { readonly installed: string | null; readonly text: string };
}

const admission = async (bundle: VerifiedBundle): Promise<readonly Problem[]> => {
  if (bundle.manifest.components.length === 0) return [];
  const { admitComponent, defaultLimits } = await import('../sandbox/index.ts');
  const cache = await mkdtemp(join(tmpdir(), 'jupiter-diagnose-'));
  try {
    const problems: Problem[] = [];
    for (const { id, entry, permissions } of bundle.manifest.components) {
      const bytes = await readFile(join(bundle.folder, ...entry.split('/')));
      const admitted = await admitComponent(bytes, { cache, permissions, limits: defaultLimits });
      if (!admitted.ok) problems.push({ ...admitted.problem, subject: admitted.problem.subject ?? id });
    }
    return problems;
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
};

const stationView = async (io: Io, { manifest, identity }: VerifiedBundle): Promise<Diagnosed['station']> => {
  const station = await connectStation(io.home);
  if (!station.ok) return undefined;
  const listed = await station.value.call('bundle.list', {});
  station.value.close();
  if (!listed.ok) return undefined;
  const installed = listed.value.bundles.find(({ id }) => id === manifest.id);
  if (installed === undefined) return { installed: null, text: 'not installed' };
  const text =
    installed.revision === identity
      ? `installed, this very revision${installed.ungranted.length === 0 ? '' : `; not granted: ${installed.ungranted.join(', ')}`}`
      : `installed as ${installed.version}, another revision`;
  return { installed: installed.revision, text };
};

export const diagnose = async (src: string, io: Io): Promise<Diagnosed> => {
  let findings: readonly Problem[] = [];
  const {
    bundle,
    problems,
    warnings: own,
  } = await diagnoseBundle(src, (found) => {
    // Now: what an archive holds is unpacked only for the time of this look.
    findings = skillWarnings(found);
    return admission(found);
  });
  const warnings = [...own, ...findings];
  if (bundle === undefined) return { problems, warnings };
  const { id, version } = bundle.manifest;
  const station = await stationView(io, bundle);
  return {
    id,
    version,
    revision: bundle.identity,
    problems,
    warnings,
    ...(station === undefined ? {} : { station }),
  };
};
