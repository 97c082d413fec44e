/**
 * Skills of all sources become what is published: an entry with every file's digest and size, the files by URI, the
 * folders by URI. A skill is published whole or not at all, and whatever is left out is listed with its one reason.
 */
import { failed, ok, type Problem, problem, type Result, refuse } from '../../problems/index.ts';
import type { SkillFile } from '../../skills/index.ts';
import { skillLimits } from '../../skills/index.ts';
import type { Frontmatter } from './entry.ts';
import type { ServedDocument } from './served.ts';
import { byUri, folderType, skillUri, typeOfFile } from './uri.ts';

/** What is known of a skill's folder; holds no content. */
export interface Taken {
  readonly files: readonly SkillFile[];
  /** The listed bytes, or a problem. */
  readonly read: (path: string) => Result<Uint8Array>;
  readonly document: Result<ServedDocument>;
  /** The served SKILL.md where it is not the file's own bytes. */
  readonly mended: () => Result<Uint8Array>;
}
export interface Candidate {
  /** Segments joined by `/`; the last is the folder's name. */
  readonly path: string;
  readonly source: string;
  /** Absolute folder, for whoever reads the warning. */
  readonly where: string;
  readonly taken: Result<Taken>;
}

/** The entry of SEP-2640. */
export interface Entry {
  readonly uri: string;
  readonly frontmatter: Frontmatter;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType: string;
  readonly size?: number;
}
export interface ServedFile {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  /** Hex. */
  readonly sha256: string;
  readonly size: number;
  readonly read: () => Result<Uint8Array>;
}
export interface LeftOut {
  readonly where: string;
  readonly problem: Problem;
}
export interface Published {
  /** By URI, in code-unit order. */
  readonly entries: readonly Entry[];
  readonly byUri: ReadonlyMap<string, Entry>;
  readonly files: ReadonlyMap<string, ServedFile>;
  /** Direct children of each folder. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
  /** One a skill: its SKILL.md. */
  readonly resources: readonly Resource[];
  readonly left: readonly LeftOut[];
}

interface Whole {
  readonly candidate: Candidate;
  readonly taken: Taken;
  readonly document: ServedDocument;
}

const within = (path: string, outer: string): boolean => path.startsWith(`${outer}/`);

/** An earlier source has its places to itself: nothing of a later one stands at, in or around them. */
const isTaken = ({ path, source }: Candidate, published: readonly Candidate[]): boolean =>
  published.some(
    (other) =>
      other.path === path ||
      (other.source !== source && (within(path, other.path) || within(other.path, path))),
  );

const judge = (candidate: Candidate, mode: 'complete' | 'authored'): Result<Whole> => {
  if (!candidate.taken.ok) return candidate.taken;
  const { value: taken } = candidate.taken;
  if (!taken.document.ok) return taken.document;
  const document = taken.document.value;
  if (document.mended && mode === 'authored') {
    return refuse('channel/frontmatter-incomplete', { subject: `${candidate.path}/SKILL.md` });
  }
  return ok({ candidate, taken, document });
};

/** The files as they are served: a SKILL.md of its own or of a skill inside it may be a mended one. */
const filesOf = (
  { candidate, taken }: Whole,
  wholes: ReadonlyMap<string, Whole>,
): Result<readonly ServedFile[]> => {
  const served: ServedFile[] = [];
  let total = 0;
  for (const file of taken.files) {
    const path = `${candidate.path}/${file.path}`;
    const uri = skillUri(path);
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    if (uri === undefined) return refuse('channel/path', { subject: JSON.stringify(path) });
    const inner = name === 'SKILL.md' ? wholes.get(path.slice(0, -'/SKILL.md'.length)) : undefined;
    const own = inner?.taken.files.find((one) => one.path === 'SKILL.md');
    // Two skills that hold one file were read one after the other.
    if (own !== undefined && own.sha256 !== file.sha256) return refuse('skill/changed', { subject: path });
    const document = inner?.document.mended === true ? inner : undefined;
    const { sha256, size } = document?.document ?? file;
    total += size;
    served.push({
      uri,
      name,
      mimeType: typeOfFile(name),
      sha256,
      size,
      read: document === undefined ? () => taken.read(file.path) : document.taken.mended,
    });
  }
  if (total > skillLimits.totalBytes) {
    const evidence = `${total} bytes with its name and description; at most ${skillLimits.totalBytes}`;
    return refuse('skill/too-large', { subject: candidate.path, evidence });
  }
  return ok(served.sort(byUri));
};

const childrenOf = (
  root: string,
  files: readonly ServedFile[],
  add: (uri: string, child: Resource) => void,
): void => {
  for (const { uri, name, mimeType, size } of files) {
    let at = uri.lastIndexOf('/');
    add(uri.slice(0, at), { uri, name, mimeType, size });
    while (at > root.length) {
      const folder = uri.slice(0, at);
      at = folder.lastIndexOf('/');
      add(folder.slice(0, at), {
        uri: folder,
        name: decodeURIComponent(folder.slice(at + 1)),
        mimeType: folderType,
      });
    }
  }
};

/** Pure over what was taken. `candidates`: the source that comes first wins a place. */
export const publish = (candidates: readonly Candidate[], mode: 'complete' | 'authored'): Published => {
  const left: LeftOut[] = [];
  const leave = ({ where }: Candidate, why: Problem): void => void left.push({ where, problem: why });
  const wholes = new Map<string, Whole>();
  const standing: Candidate[] = [];
  const claimed = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const [first = ''] = candidate.path.split('/');
    const near = claimed.get(first) ?? [];
    if (isTaken(candidate, near)) {
      leave(candidate, problem('channel/taken', { subject: candidate.path }));
      continue;
    }
    claimed.set(first, [...near, candidate]);
    const judged = judge(candidate, mode);
    if (judged.ok) {
      wholes.set(candidate.path, judged.value);
      standing.push(candidate);
    } else leave(candidate, judged.problem);
  }

  const entries: Entry[] = [];
  const resources: Resource[] = [];
  const files = new Map<string, ServedFile>();
  const children = new Map<string, Map<string, Resource>>();
  for (const candidate of standing) {
    const whole = wholes.get(candidate.path);
    const uri = skillUri(`${candidate.path}/SKILL.md`);
    if (whole === undefined) continue;
    const found =
      uri === undefined
        ? failed(problem('channel/path', { subject: candidate.path }))
        : filesOf(whole, wholes);
    if (!found.ok || uri === undefined) {
      if (!found.ok) leave(candidate, found.problem);
      continue;
    }
    const { frontmatter, size } = whole.document;
    const manifest = found.value.map((file) => ({
      uri: file.uri,
      digest: `sha256:${file.sha256}`,
      size: file.size,
    }));
    entries.push({ uri, frontmatter, resources: manifest });
    const { name, description } = frontmatter;
    resources.push({ uri, name, description, mimeType: 'text/markdown', size });
    for (const file of found.value) files.set(file.uri, file);
    childrenOf(uri.slice(0, -'/SKILL.md'.length), found.value, (folder, child) => {
      const known = children.get(folder);
      if (known === undefined) children.set(folder, new Map([[child.uri, child]]));
      else known.set(child.uri, child);
    });
  }
  entries.sort(byUri);
  return {
    entries,
    byUri: new Map(entries.map((entry) => [entry.uri, entry])),
    files,
    folders: new Map([...children].map(([uri, found]) => [uri, [...found.values()].sort(byUri)])),
    resources: resources.sort(byUri),
    left,
  };
};
