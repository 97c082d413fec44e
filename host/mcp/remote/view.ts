/** What the operator sees of other servers' skills. Pure. */
import type { Problem } from '../../problems/index.ts';
import { droppedFields } from './document.ts';
import { filesOf } from './entry.ts';
import type { ServerRow, SkillRow } from './records.ts';

export interface RemoteSkill {
  /** `label/path`: how it is named in commands. */
  readonly address: string;
  readonly uri: string;
  /** The folder it is placed in. */
  readonly name: string;
  readonly description: string;
  /** `waiting` for an approval; `changed`: its approval ended with its content; `refused`: it cannot be used. */
  readonly state: 'waiting' | 'approved' | 'changed' | 'refused';
  /** Of its manifest, hex: what an approval names. Empty where there is none. */
  readonly digest: string;
  readonly files: number;
  /** Bytes. */
  readonly size: number;
  /** Fields of its frontmatter that are not passed on. */
  readonly dropped: readonly string[];
  /** The server serves it no more; what was approved stays. */
  readonly withdrawn?: true;
  /** Why it is refused, or could not be retrieved. */
  readonly problem?: Problem;
}
/** One skill with every file of its manifest; none where it cannot be used. */
export interface RemoteManifest extends RemoteSkill {
  readonly manifest: readonly { readonly path: string; readonly sha256: string; readonly size: number }[];
}
export interface RemoteServer {
  readonly label: string;
  readonly url: string;
  readonly listedAt: number;
  readonly skills: readonly RemoteSkill[];
  /** Entries that are no skills. */
  readonly leftOut: readonly Problem[];
  /** Why it could not be listed the last time. */
  readonly problem?: Problem;
}

const stateOf = ({ approved, approvedBefore }: SkillRow): RemoteSkill['state'] =>
  approved !== null ? 'approved' : approvedBefore === null ? 'waiting' : 'changed';

export const skillView = (row: SkillRow, fault: Problem | undefined): RemoteSkill => {
  const { label, path, name, entry, digest } = row;
  const judged = filesOf(entry);
  const sizes = entry.resources === 'dynamic' ? [] : entry.resources.map(({ size }) => size);
  const why = judged.ok ? fault : judged.problem;
  return {
    address: `${label}/${path}`,
    uri: entry.uri,
    name,
    description: entry.frontmatter.description,
    state: judged.ok ? stateOf(row) : 'refused',
    digest,
    files: sizes.length,
    size: sizes.reduce((sum, size) => sum + size, 0),
    dropped: droppedFields(entry.frontmatter),
    ...(row.served ? {} : { withdrawn: true as const }),
    ...(why === undefined ? {} : { problem: why }),
  };
};

export const manifestView = (row: SkillRow, fault: Problem | undefined): RemoteManifest => {
  const files = filesOf(row.entry);
  const manifest = files.ok ? files.value.map(({ path, sha256, size }) => ({ path, sha256, size })) : [];
  return { ...skillView(row, fault), manifest };
};

export const serverView = (
  { label, url, listedAt, leftOut }: ServerRow,
  rows: readonly SkillRow[],
  unlisted: Problem | undefined,
  fault: (row: SkillRow) => Problem | undefined,
): RemoteServer => ({
  label,
  url,
  listedAt,
  skills: rows.map((row) => skillView(row, fault(row))),
  leftOut,
  ...(unlisted === undefined ? {} : { problem: unlisted }),
});
