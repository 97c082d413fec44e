/**
 * Text files of a workspace, read and written for the agent that works in it. A path is held to the rules of placement:
 * below the workspace, no link on the way, before and after; what is written goes to plain names only, and beside no
 * twin. A file is replaced as a whole, so that nobody sees half of one and a hard link outside keeps what it had.
 *
 * A text that holds a secret is neither read nor written: taken out of it the secret would be lost at the next write.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { collisionKey, kindAt, makeBelow, segmentFault, shownPath, strayBelow } from '../paths/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import { bytesAt, errnoOf, writeNew } from './bytes.ts';
import { believedIn, segmentsInside } from './outside.ts';

/** Longest file that is looked through for the lines that were asked for, bytes. */
const fileBytes = 16 * 1024 * 1024;
/** Longest text handed over, UTF-16 units: an answer to an agent is one effect of one message. */
const textUnits = 512 * 1024;

export interface FileAsked {
  /** The workspace. */
  readonly cwd: string;
  /** Absolute, or relative to the workspace. */
  readonly path: string;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}
interface Place {
  readonly root: string;
  readonly segments: readonly string[];
  readonly parents: readonly string[];
  readonly file: string;
}

const rootOf = (cwd: string): Result<string> => {
  if (!isAbsolute(cwd))
    return refuse('context/workspace-missing', { subject: cwd, evidence: 'not absolute' });
  try {
    return ok(realpathSync(cwd));
  } catch (error) {
    return refuse('context/workspace-missing', { subject: cwd, evidence: errnoOf(error) });
  }
};

const placeOf = (cwd: string, path: string): Result<Place> => {
  const root = rootOf(cwd);
  if (!root.ok) return root;
  const segments = segmentsInside(cwd, root.value, path);
  if (segments === undefined) return refuse('context/path-outside', { subject: shownPath(path) });
  return ok({
    root: root.value,
    segments,
    parents: segments.slice(0, -1),
    file: join(root.value, ...segments),
  });
};

/** The folder a command may run in: the workspace, or one inside it (`context/path-outside`, `context/not-a-file`). */
export const folderInside = (cwd: string, path: string | undefined): Result<string> => {
  const root = rootOf(cwd);
  if (!root.ok || path === undefined) return root;
  if ([cwd, root.value].includes(resolve(cwd, path))) return root;
  const segments = segmentsInside(cwd, root.value, path);
  if (segments === undefined) return refuse('context/path-outside', { subject: shownPath(path) });
  const stray = strayBelow(root.value, segments);
  return stray === undefined ? ok(join(root.value, ...segments)) : failed(stray);
};

/** The lines from `line` (from 1) on, `limit` of them at most, with the line ends they have. */
export const linesOf = (text: string, line: number | null, limit: number | null): string => {
  let start = 0;
  for (let at = 1; at < (line ?? 1) && start >= 0; at += 1) start = text.indexOf('\n', start) + 1 || -1;
  if (start < 0) return '';
  if (limit === null) return text.slice(start);
  let end = start;
  for (let count = 0; count < limit && end >= 0; count += 1) end = text.indexOf('\n', end) + 1 || -1;
  return end < 0 ? text.slice(start) : text.slice(start, end);
};

/** `context/path-outside`, `-missing`, `file-missing`, `not-a-file`, `not-text`, `file-too-long`, `holds-secret`. */
export const readTextFile = ({
  cwd,
  path,
  line,
  limit,
  redact,
}: FileAsked & { readonly line: number | null; readonly limit: number | null }): Result<string> => {
  const place = placeOf(cwd, path);
  if (!place.ok) return place;
  const { root, parents, file } = place.value;
  const subject = shownPath(path);
  try {
    const bytes = bytesAt(file, fileBytes);
    const stray = strayBelow(root, parents);
    if (stray !== undefined && bytes !== 'missing') return failed(stray);
    if (bytes === 'missing') return refuse('context/file-missing', { subject });
    if (bytes === 'too-long')
      return refuse('context/file-too-long', { subject, evidence: `more than ${fileBytes} bytes` });
    if (typeof bytes === 'string') return refuse('context/not-a-file', { subject, evidence: bytes });
    const text = linesOf(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      line,
      limit,
    );
    if (text.length > textUnits)
      return refuse('context/file-too-long', {
        subject,
        evidence: `${text.length} characters, at most ${textUnits}`,
      });
    return redact(text) === text ? ok(text) : refuse('context/holds-secret', { subject });
  } catch (error) {
    return error instanceof TypeError
      ? refuse('context/not-text', { subject })
      : refuse('paths/unreadable', { subject, evidence: errnoOf(error) });
  }
};

/** What redaction leaves in a secret's place, in a text that came through it. */
const marker = /\[redacted [A-Za-z_][A-Za-z0-9_]*\]/g;

/** The name in a folder, made on the way to a new file, that some system would take for this one. */
const twinOf = ({ root, segments }: Place): string | undefined => {
  let at = root;
  for (const segment of segments) {
    if (kindAt(join(at, segment)) === 'missing')
      return readdirSync(at).find((name) => collisionKey(name) === collisionKey(segment));
    at = join(at, segment);
  }
  return undefined;
};

/** `paths/unsafe`, `paths/linked`, `context/believed`, `context/path-outside`, `not-a-file`, `twin`, `holds-secret`, `write-failed`. */
export const writeTextFile = ({
  cwd,
  path,
  content,
  redact,
}: FileAsked & { readonly content: string }): Result<undefined> => {
  const place = placeOf(cwd, path);
  if (!place.ok) return place;
  const { root, segments, parents, file } = place.value;
  const subject = shownPath(path);
  const evidence = believedIn(segments);
  if (evidence !== undefined) return refuse('context/believed', { subject, evidence });
  const fault = segments.map(segmentFault).find((found) => found !== undefined);
  if (fault !== undefined) return refuse('paths/unsafe', { subject, message: `The path ${fault}.` });
  try {
    const kind = kindAt(file);
    if (kind !== 'missing' && kind !== 'file')
      return refuse('context/not-a-file', { subject, evidence: kind });
    const before = kind === 'file' ? bytesAt(file, fileBytes) : '';
    const lost = [...content.matchAll(marker)].some(([mark]) => !before.includes(mark));
    if (lost || redact(content) !== content) return refuse('context/holds-secret', { subject });
    const twin = twinOf(place.value);
    if (twin !== undefined) return refuse('context/twin', { subject, evidence: shownPath(twin) });
    const folder = makeBelow(root, parents);
    return folder.ok ? replace({ root, parents, file, content, old: kind === 'file' }) : folder;
  } catch (error) {
    return refuse('context/write-failed', { subject, evidence: errnoOf(error) });
  }
};

const replace = (of: {
  readonly root: string;
  readonly parents: readonly string[];
  readonly file: string;
  readonly content: string;
  readonly old: boolean;
}): Result<undefined> => {
  const aside = join(of.root, ...of.parents, `.jupiter-${randomBytes(9).toString('hex')}.new`);
  try {
    writeNew(aside, Buffer.from(of.content));
    if (of.old) chmodSync(aside, statSync(of.file).mode & 0o777);
    const stray = strayBelow(of.root, of.parents);
    if (stray !== undefined) return failed(stray);
    // In a link's place the link goes, never what it leads to.
    renameSync(aside, of.file);
    return ok(undefined);
  } finally {
    rmSync(aside, { force: true });
  }
};
