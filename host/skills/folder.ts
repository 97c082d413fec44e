/**
 * A skill's folder read once: every file hashed, none kept in memory but SKILL.md. What is listed is one moment: when
 * anything differs by the end, nothing is listed. A later read gives the listed bytes or says that they are gone.
 */
import { createHash, hash } from 'node:crypto';
import { closeSync, lstatSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { isSettled, linkProblem, openRegular, readFault, readThrough, type Stamp, stampOf } from './disk.ts';
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
import { strayed, surveyFolder, type Visit } from './survey.ts';

/** SHA-256 over `path NUL digest LF` of every file, hex. */
export const digestOfFiles = (files: readonly SkillFile[]): string =>
  hash('sha256', files.map(({ path, sha256 }) => `${path}\0${sha256}\n`).join(''), 'hex');

export interface Bytes {
  readonly bytes: Buffer;
  readonly stamp: Stamp;
}

/** One regular file of at most `limit` bytes, as it was when it was opened. */
export const bytesAt = (place: string, subject: string, limit: number): Result<Bytes> => {
  const opened = openRegular(place, subject);
  if (!opened.ok) return opened;
  try {
    const { stat } = opened.value;
    if (stat.size > limit) {
      return refuse('skill/file-too-large', { subject, evidence: `${stat.size} bytes; at most ${limit}` });
    }
    const bytes = Buffer.alloc(stat.size);
    let at = 0;
    const done = readThrough(opened.value, subject, (part) => {
      at += part.copy(bytes, at);
    });
    return done.ok ? ok({ bytes, stamp: stampOf(stat) }) : done;
  } finally {
    closeSync(opened.value.fd);
  }
};

/** Hashes every file the survey meets; keeps the bytes of SKILL.md. */
const hashing = (
  limits: SkillLimits,
): { readonly visit: Visit; readonly document: () => Buffer | undefined } => {
  let kept: Buffer | undefined;
  const visit: Visit = (place, path, subject) => {
    const opened = openRegular(place, subject);
    if (!opened.ok) return opened;
    const { stat } = opened.value;
    try {
      const isDocument = path === 'SKILL.md';
      // Over a limit there is nothing to read: the survey says so by the size.
      if (stat.size > limits.fileBytes || (isDocument && stat.size > limits.documentBytes))
        return ok({ stat });
      let sha256 = '';
      let running: ReturnType<typeof createHash> | undefined;
      const parts: Buffer[] = [];
      const done = readThrough(opened.value, subject, (part, last) => {
        if (isDocument) parts.push(Buffer.from(part));
        if (running === undefined && last) sha256 = hash('sha256', part, 'hex');
        else {
          running ??= createHash('sha256');
          running.update(part);
          if (last) sha256 = running.digest('hex');
        }
      });
      if (!done.ok) return done;
      if (isDocument) kept = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      return ok({ stat, sha256 });
    } finally {
      closeSync(opened.value.fd);
    }
  };
  return { visit, document: () => kept };
};

export interface Snapshot {
  readonly folder: SkillFolder;
  /** The stamps under which `folder` stays true, by absolute path. */
  readonly stamps: ReadonlyMap<string, Stamp>;
  /** The newest change of anything, ms. */
  readonly changed: number;
}

const readOnce = (real: string, shown: string, limits: SkillLimits): Result<Snapshot> => {
  const reading = hashing(limits);
  const survey = surveyFolder(real, shown, limits, reading.visit);
  if (!survey.ok) return survey;
  const bytes = reading.document();
  const stray = strayed(real, survey.value);
  if (bytes === undefined || stray !== undefined) {
    return refuse('skill/changed', { subject: `${shown}/${stray ?? 'SKILL.md'}` });
  }
  const document = parseSkill(bytes, { folder: shown });
  if (!document.ok) return document;
  const { folders, changed, stamp } = survey.value;
  const stamps = new Map([[real, stamp]]);
  for (const folder of folders) stamps.set(`${real}/${folder.path}`, folder.stamp);
  for (const file of survey.value.files) stamps.set(`${real}/${file.path}`, file.stamp);
  const files = survey.value.files.map(({ path, sha256 = '', size }) => ({ path, sha256, size }));
  const folder = folderOf(real, shown, files, document.value, limits.fileBytes);
  return ok({ folder, stamps, changed });
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
  const subject = `${shown}/${file.path}`;
  const found = bytesAt(`${real}/${file.path}`, subject, limit);
  if (!found.ok) return found;
  const { bytes } = found.value;
  // Whatever stands there now, only bytes with the listed digest leave.
  return bytes.length === file.size && hash('sha256', bytes, 'hex') === file.sha256
    ? ok(bytes)
    : refuse('skill/changed', { subject });
};

// A writer that is done is caught up with; one that goes on for longer is reported.
const attempts = 3;

/**
 * A snapshot of a real folder; a passing change is tried again at once. Within one tick of the kernel's clock a file
 * can change without its times moving on, so what is that young is read twice and must be the same both times.
 */
export const snapshotOf = (real: string, shown: string, options: ReadOptions = {}): Result<Snapshot> => {
  const limits = { ...skillLimits, ...options.limits };
  for (let attempt = 1; ; attempt += 1) {
    const found = readOnce(real, shown, limits);
    if (found.ok) {
      if (isSettled(found.value.changed, Date.now())) return found;
      const again = readOnce(real, shown, limits);
      if (again.ok && again.value.folder.digest === found.value.folder.digest) return again;
    } else if (found.problem.code !== 'skill/changed') return found;
    if (attempt === attempts) return found.ok ? refuse('skill/changed', { subject: shown }) : found;
  }
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
