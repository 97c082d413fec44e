/**
 * A skill's folder read once: every file hashed, none kept in memory but SKILL.md. What is listed is one moment: when
 * anything differs by the end, nothing is listed. A later read gives the listed bytes or says that they are gone.
 */
import { createHash, hash } from 'node:crypto';
import { closeSync, lstatSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import {
  type Held,
  holdFolder,
  linkProblem,
  openRegular,
  readFault,
  readThrough,
  stampAt,
  stampOf,
} from './disk.ts';
import type {
  ParsedSkill,
  ReadOptions,
  ReadSkillFolder,
  SkillFile,
  SkillFolder,
  SkillLimits,
} from './edge.ts';
import { skillLimits } from './limits.ts';
import { parseSkill } from './parse.ts';
import { type Survey, type Surveyed, surveyFolder } from './survey.ts';

/** SHA-256 over `path NUL digest LF` of every file, hex. */
export const digestOfFiles = (files: readonly SkillFile[]): string =>
  hash('sha256', files.map(({ path, sha256 }) => `${path}\0${sha256}\n`).join(''), 'hex');

/** The bytes of one regular file of a held folder, of at most `limit` bytes. */
export const bytesBelow = (held: Held, path: string, shown: string, limit: number): Result<Buffer> => {
  const subject = `${shown}/${path}`;
  const opened = openRegular(`${held.base}/${path}`, subject);
  if (!opened.ok) return opened;
  try {
    const { size } = opened.value.stat;
    if (size > limit) {
      const code = path === 'SKILL.md' ? 'skill/document-too-large' : 'skill/file-too-large';
      return refuse(code, { subject, evidence: `${size} bytes; at most ${limit}` });
    }
    const bytes = Buffer.alloc(size);
    let at = 0;
    const done = readThrough(opened.value, subject, (part) => {
      at += part.copy(bytes, at);
    });
    return done.ok ? ok(bytes) : done;
  } finally {
    closeSync(opened.value.fd);
  }
};

const hashBelow = (held: Held, file: Surveyed, subject: string): Result<string> => {
  const opened = openRegular(`${held.base}/${file.path}`, subject);
  if (!opened.ok) return opened;
  try {
    if (stampOf(opened.value.stat) !== file.stamp) return refuse('skill/changed', { subject });
    let digest = '';
    let running: ReturnType<typeof createHash> | undefined;
    const done = readThrough(opened.value, subject, (part, last) => {
      if (running === undefined && last) digest = hash('sha256', part, 'hex');
      else {
        running ??= createHash('sha256');
        running.update(part);
        if (last) digest = running.digest('hex');
      }
    });
    return done.ok ? ok(digest) : done;
  } finally {
    closeSync(opened.value.fd);
  }
};

/** The path that is no longer what the survey found, or undefined. */
const strayed = (held: Held, real: string, survey: Survey): string | undefined => {
  if (stampAt(real) !== stampOf(held.stat)) return '';
  const differs = ({ path, stamp }: { path: string; stamp: string }): boolean =>
    stampAt(`${held.base}/${path}`) !== stamp;
  return (survey.folders.find(differs) ?? survey.files.find(differs))?.path;
};

export interface Snapshot {
  readonly folder: SkillFolder;
  /** The stamps under which `folder` stays true, by absolute path. */
  readonly stamps: ReadonlyMap<string, string>;
  /** The newest change of anything, ms. */
  readonly changed: number;
}

const readOnce = (real: string, shown: string, limits: SkillLimits): Result<Snapshot> => {
  const opened = holdFolder(real, shown);
  if (!opened.ok) return opened;
  const held = opened.value;
  try {
    const survey = surveyFolder(held, real, shown, limits);
    if (!survey.ok) return survey;
    const files: SkillFile[] = [];
    for (const file of survey.value.files) {
      const sha256 = hashBelow(held, file, `${shown}/${file.path}`);
      if (!sha256.ok) return sha256;
      files.push({ path: file.path, sha256: sha256.value, size: file.size });
    }
    const document = parsedBelow(held, files, shown, limits);
    if (!document.ok) return document;
    const stray = strayed(held, real, survey.value);
    if (stray !== undefined) return refuse('skill/changed', { subject: `${shown}/${stray}` });
    const stamps = new Map([[real, stampOf(held.stat)]]);
    for (const { path, stamp } of [...survey.value.folders, ...survey.value.files]) {
      stamps.set(join(real, path), stamp);
    }
    const folder = folderOf(real, shown, files, document.value, limits.fileBytes);
    return ok({ folder, stamps, changed: survey.value.changed });
  } catch (error) {
    return { ok: false, problem: readFault(error, shown) };
  } finally {
    held.close();
  }
};

const parsedBelow = (
  held: Held,
  files: readonly SkillFile[],
  shown: string,
  limits: SkillLimits,
): Result<ParsedSkill> => {
  const bytes = bytesBelow(held, 'SKILL.md', shown, limits.documentBytes);
  if (!bytes.ok) return bytes;
  const listed = files.find(({ path }) => path === 'SKILL.md')?.sha256;
  if (hash('sha256', bytes.value, 'hex') !== listed) {
    return refuse('skill/changed', { subject: `${shown}/SKILL.md` });
  }
  return parseSkill(bytes.value, { folder: shown });
};

/** A folder whose files are known, from disk or from a bundle's manifest. */
export const folderOf = (
  real: string,
  shown: string,
  files: readonly SkillFile[],
  document: ParsedSkill,
  fileBytes: number,
): SkillFolder => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return {
    dir: real,
    document,
    files,
    size: files.reduce((sum, { size }) => sum + size, 0),
    digest: digestOfFiles(files),
    read: (path) => {
      const file = byPath.get(path);
      const subject = `${shown}/${path}`;
      if (file === undefined)
        return refuse('skill/unreadable', { subject, evidence: 'not a file of the skill' });
      return listedBytes(real, shown, file, fileBytes);
    },
  };
};

const listedBytes = (real: string, shown: string, file: SkillFile, limit: number): Result<Uint8Array> => {
  const opened = holdFolder(real, shown);
  if (!opened.ok) return opened;
  try {
    // A folder on the way that has become a link is not followed: its real place must be the one it had.
    const parent = join(real, file.path, '..');
    if (realpathSync(parent) !== parent) return refuse('skill/changed', { subject: `${shown}/${file.path}` });
    const bytes = bytesBelow(opened.value, file.path, shown, limit);
    if (!bytes.ok) return bytes;
    return bytes.value.length === file.size && hash('sha256', bytes.value, 'hex') === file.sha256
      ? bytes
      : refuse('skill/changed', { subject: `${shown}/${file.path}` });
  } catch (error) {
    return { ok: false, problem: readFault(error, `${shown}/${file.path}`) };
  } finally {
    opened.value.close();
  }
};

// A writer that is done is caught up with; one that goes on for longer is reported.
const attempts = 3;

/** A snapshot of a real folder; a passing change is tried again at once. */
export const snapshotOf = (real: string, shown: string, options: ReadOptions = {}): Result<Snapshot> => {
  const limits = { ...skillLimits, ...options.limits };
  let found = readOnce(real, shown, limits);
  for (
    let attempt = 1;
    attempt < attempts && !found.ok && found.problem.code === 'skill/changed';
    attempt += 1
  ) {
    found = readOnce(real, shown, limits);
  }
  return found;
};

/** The folder's real place, or why it is none. */
const realFolder = (dir: string, shown: string): Result<string> => {
  try {
    if (lstatSync(dir).isSymbolicLink()) return failedLink(linkProblem(dir, dir, shown, 'its place'));
    return ok(realpathSync(dir));
  } catch (error) {
    const found = readFault(error, shown);
    return failedLink(
      found.code === 'skill/changed' ? problem('skill/no-document', { subject: shown }) : found,
    );
  }
};
const failedLink = (found: Problem): Result<never> => ({ ok: false, problem: found });

export const readSkillFolder: ReadSkillFolder = (dir, options = {}) => {
  const shown = options.folder ?? basename(dir);
  const real = realFolder(dir, shown);
  if (!real.ok) return real;
  const found = snapshotOf(real.value, shown, options);
  return found.ok ? ok(found.value.folder) : found;
};
