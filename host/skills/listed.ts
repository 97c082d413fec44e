/**
 * One skill of the library: listed from its SKILL.md and a survey of its folder, everything else read when asked for.
 */
import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { codeOf, isSettled, isStill, type Stamp } from './disk.ts';
import type { ParsedSkill, Skill, SkillFolder, SkillOrigin, SkillSource } from './edge.ts';
import { bytesAt, folderOf, type Snapshot, snapshotOf } from './folder.ts';
import { skillLimits } from './limits.ts';
import { parseSkill } from './parse.ts';
import { strayed, surveyFolder } from './survey.ts';

type Via = Skill['via'];

const skillOf = (
  parsed: ParsedSkill,
  digest: string,
  place: { readonly origin: SkillOrigin; readonly dir: string; readonly path: string; readonly via?: Via },
  reads: Pick<Skill, 'document' | 'files'>,
): Skill => ({
  name: parsed.name,
  description: parsed.description,
  ...(parsed.argumentHint === undefined ? {} : { argumentHint: parsed.argumentHint }),
  arguments: parsed.arguments,
  allowedTools: parsed.allowedTools,
  ...(parsed.model === undefined ? {} : { model: parsed.model }),
  other: parsed.other,
  authored: parsed.authored,
  hasFrontmatter: parsed.frontmatter !== undefined,
  diagnostics: parsed.diagnostics,
  origin: place.origin,
  dir: place.dir,
  path: place.path,
  ...(place.via === undefined ? {} : { via: place.via }),
  digest,
  ...reads,
});

const documentAt = (dir: string, folder: string, digest: string): Result<ParsedSkill> => {
  const subject = `${folder}/SKILL.md`;
  const found = bytesAt(`${dir}/SKILL.md`, subject, skillLimits.documentBytes);
  if (!found.ok) return found;
  const { bytes } = found.value;
  return hash('sha256', bytes, 'hex') === digest
    ? parseSkill(bytes, { folder })
    : refuse('skill/changed', { subject });
};

/** What a look found in one folder, and under which stamps it stays true. */
export interface Sighting {
  /** Undefined: no skill, and nothing to say. */
  readonly found: Result<Skill> | undefined;
  /** Every file was read, not only SKILL.md. */
  readonly whole: boolean;
  readonly holds: () => boolean;
}

export interface DiskPlace {
  readonly origin: SkillOrigin;
  /** Absolute, without links. */
  readonly dir: string;
  /** As it was found. */
  readonly path: string;
  readonly via?: Via;
}

const listedOf = (place: DiskPlace, parsed: ParsedSkill, now: () => number, kept?: Snapshot): Skill => {
  const folder = basename(place.path);
  const digest = hash('sha256', parsed.raw, 'hex');
  return skillOf(
    parsed,
    digest,
    { ...place, path: join(place.path, 'SKILL.md') },
    {
      document: () => documentAt(place.dir, folder, digest),
      files: remembered(place.dir, folder, digest, now, kept),
    },
  );
};

const standing = (stamps: ReadonlyMap<string, Stamp>): boolean => {
  for (const [path, stamp] of stamps) if (!isStill(path, stamp)) return false;
  return true;
};

// A fault may be mended without any time moving on, so it is looked for again each time.
const faulty = (found: Problem): Sighting => ({ found: failed(found), whole: false, holds: () => false });

const nothingThere: Sighting = { found: undefined, whole: false, holds: () => false };

/** Surveys a folder and reads its SKILL.md. Nothing else is opened. */
export const sight = (place: DiskPlace, now: () => number): Sighting => {
  const folder = basename(place.path);
  const { dir } = place;
  const at = now();
  const survey = surveyFolder(dir, folder, skillLimits);
  if (!survey.ok) {
    return survey.problem.code === 'skill/no-document' ? nothingThere : faulty(survey.problem);
  }
  const subject = `${folder}/SKILL.md`;
  const read = bytesAt(`${dir}/SKILL.md`, subject, skillLimits.documentBytes);
  if (!read.ok) return faulty(read.problem);
  // A folder that was a link in between led to other inodes.
  if (
    strayed(dir, { ...survey.value, files: [] }) !== undefined ||
    !isStill(`${dir}/SKILL.md`, read.value.stamp)
  ) {
    return faulty(problem('skill/changed', { subject }));
  }
  const parsed = parseSkill(read.value.bytes, { folder });
  if (!parsed.ok) return faulty(parsed.problem);
  const stamps = new Map([[dir, survey.value.stamp]]);
  for (const { path, stamp } of survey.value.folders) stamps.set(`${dir}/${path}`, stamp);
  stamps.set(`${dir}/SKILL.md`, read.value.stamp);
  const settled = isSettled(survey.value.changed, at);
  const skill = listedOf(place, parsed.value, now);
  return { found: ok(skill), whole: false, holds: () => settled && standing(stamps) };
};

/** Reads and hashes every file of a folder in the same pass. */
export const sightWhole = (place: DiskPlace, now: () => number): Sighting => {
  const at = now();
  const found = snapshotOf(place.dir, basename(place.path));
  if (!found.ok) {
    return found.problem.code === 'skill/no-document' ? sight(place, now) : faulty(found.problem);
  }
  const settled = isSettled(found.value.changed, at);
  const skill = listedOf(place, found.value.folder.document, now, settled ? found.value : undefined);
  return { found: ok(skill), whole: true, holds: () => settled && standing(found.value.stamps) };
};

const remembered = (
  dir: string,
  folder: string,
  digest: string,
  now: () => number,
  first: Snapshot | undefined,
): (() => Result<SkillFolder>) => {
  let kept = first;
  return () => {
    if (kept !== undefined && standing(kept.stamps)) return ok(kept.folder);
    const at = now();
    const found = snapshotOf(dir, folder);
    kept = undefined;
    if (!found.ok) return found;
    if (hash('sha256', found.value.folder.document.raw, 'hex') !== digest) {
      return refuse('skill/changed', { subject: `${folder}/SKILL.md` });
    }
    if (isSettled(found.value.changed, at)) kept = found.value;
    return ok(found.value.folder);
  };
};

/** A skill of an installed bundle. Its bytes must be the admitted ones. */
export const bundled = (source: SkillSource): Result<Skill> => {
  const { name: folder, folder: dir, bundle, revision } = source;
  const admitted = source.files.find(({ path }) => path === 'SKILL.md')?.sha256;
  if (admitted === undefined) return refuse('skill/no-document', { subject: folder });
  const document = (): Result<ParsedSkill> => documentAt(dir, folder, admitted);
  const parsed = document();
  if (!parsed.ok) return parsed;
  const files = (): Result<SkillFolder> => {
    const read = document();
    return read.ok ? ok(folderOf(dir, folder, source.files, read.value, skillLimits.fileBytes)) : read;
  };
  const origin: SkillOrigin = { tier: 'bundle', bundle, revision };
  return ok(
    skillOf(parsed.value, admitted, { origin, dir, path: join(dir, 'SKILL.md') }, { document, files }),
  );
};

export const unreadableFolder = (error: unknown, path: string): Problem =>
  problem('skill/unreadable', { subject: path, evidence: codeOf(error) });
