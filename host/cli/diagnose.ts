/**
 * A bundle looked at without changing anything: its bytes, whether each component would be admitted, and whether its
 * topics stand for other shapes elsewhere: in the contract bundle of this installation, and in what the station of
 * this home has installed or retained. What could not be looked at is said.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  diagnoseBundle,
  readBundle,
  type TopicClaim,
  topicClaims,
  topicConflict,
  type VerifiedBundle,
} from '../bundles/index.ts';
import { ok, type Problem, type Result } from '../problems/index.ts';
import { installation, mostTopics } from '../station/index.ts';
import { connectStation, type StationClient } from './client.ts';
import type { Io } from './output.ts';
import { skillWarnings } from './skill-warnings.ts';

export interface Unchecked {
  readonly what: string;
  readonly why: Problem;
}
export interface Diagnosed {
  readonly id?: string;
  readonly version?: string;
  readonly revision?: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly unchecked: readonly Unchecked[];
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

/** Topics the contract bundle of this installation knows with another shape. */
const shippedConflicts = async (claims: readonly TopicClaim[]): Promise<Result<readonly Problem[]>> => {
  if (claims.length === 0) return ok([]);
  const contracts = await readBundle(join(installation(), 'dist', 'bundles', 'contracts'));
  if (!contracts.ok) return contracts;
  const { manifest, identity, folder } = contracts.value;
  const shipped = topicClaims(manifest, folder);
  if (!shipped.ok) return shipped;
  const known = new Map(shipped.value.map((claim) => [claim.id, claim]));
  return ok(
    claims.flatMap((claim) => {
      const other = known.get(claim.id);
      const since = other && { ...other, bundle: manifest.id, identity };
      return (since && topicConflict(claim, since, 'ships with this jupiter')) ?? [];
    }),
  );
};

const installedConflicts = async (
  station: StationClient,
  claims: readonly TopicClaim[],
): Promise<Result<readonly Problem[]>> => {
  const found: Problem[] = [];
  for (let at = 0; at < claims.length; at += mostTopics) {
    const topics = claims.slice(at, at + mostTopics).map(({ id, kind, digest }) => ({ id, kind, digest }));
    const answer = await station.call('bundle.conflicts', { topics });
    if (!answer.ok) return answer;
    found.push(...answer.value.problems);
  }
  return ok(found);
};

const standing = async (
  station: StationClient,
  { manifest, identity }: VerifiedBundle,
): Promise<Diagnosed['station']> => {
  const listed = await station.call('bundle.list', {});
  if (!listed.ok) return undefined;
  const installed = listed.value.bundles.find(({ id }) => id === manifest.id);
  if (installed === undefined) return { installed: null, text: 'not installed' };
  const text =
    installed.revision === identity
      ? `installed, this very revision${installed.ungranted.length === 0 ? '' : `; not granted: ${installed.ungranted.join(', ')}`}`
      : `installed as ${installed.version}, another revision`;
  return { installed: installed.revision, text };
};

interface Looked {
  readonly problems: readonly Problem[];
  readonly unchecked: readonly Unchecked[];
  readonly station?: Diagnosed['station'];
}

/** Topics against what is known elsewhere; the station's word, where one runs, goes before that of the installation. */
const elsewhere = async (bundle: VerifiedBundle, io: Io): Promise<Looked> => {
  const claims = topicClaims(bundle.manifest, bundle.folder);
  const problems: Problem[] = claims.ok ? [] : [claims.problem];
  const unchecked: Unchecked[] = [];
  const said = claims.ok ? claims.value : [];
  const add = (what: string, found: Result<readonly Problem[]>): void => {
    if (!found.ok) unchecked.push({ what, why: found.problem });
    else
      problems.push(...found.value.filter(({ subject }) => !problems.some((one) => one.subject === subject)));
  };
  const connected = await connectStation(io.home);
  const installed = connected.ok ? await installedConflicts(connected.value, said) : connected;
  add('topics against what is installed', installed);
  add('topics against the contract bundle', await shippedConflicts(said));
  if (!connected.ok) return { problems, unchecked };
  const station = await standing(connected.value, bundle);
  connected.value.close();
  return { problems, unchecked, ...(station === undefined ? {} : { station }) };
};

export const diagnose = async (src: string, io: Io): Promise<Diagnosed> => {
  let looked: Looked = { problems: [], unchecked: [] };
  let findings: readonly Problem[] = [];
  const { bundle, problems, warnings } = await diagnoseBundle(src, async (found) => {
    // Now: what an archive holds is unpacked only for the time of this look.
    findings = skillWarnings(found);
    looked = await elsewhere(found, io);
    return [...(await admission(found)), ...looked.problems];
  });
  const { unchecked, station } = looked;
  const all = { problems, warnings: [...warnings, ...findings] };
  if (bundle === undefined) {
    const why = problems[0];
    const what = 'components and topics';
    return { ...all, unchecked: why === undefined ? [] : [{ what, why }] };
  }
  const { id, version } = bundle.manifest;
  const revision = bundle.identity;
  return { id, version, revision, ...all, unchecked, ...(station === undefined ? {} : { station }) };
};
