/**
 * Which folders of skills there are for a working directory, nearest first. The person's may be reached through a
 * link, which is said; a project's link is followed only while it stays in the project. No process is started.
 */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import { codeOf, isBelow, linkProblem, readFault } from './disk.ts';
import type { LibraryOptions, SkillOrigin, SkillRoot } from './edge.ts';

export interface Place extends SkillRoot {
  /** Absolute, without links. */
  readonly real: string;
  /** A link to a skill is followed while it leads below this; undefined: none is. */
  readonly linksBelow: string | 'anywhere' | undefined;
}
export interface Places {
  readonly places: readonly Place[];
  readonly problems: readonly { readonly path: string; readonly problem: Problem }[];
}

const missing = new Set(['ENOENT', 'ENOTDIR']);

const linkIn = (paths: readonly string[]): string | undefined =>
  paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());

/** A folder that may be reached through links. Undefined where nothing is. */
const followed = (path: string, origin: SkillOrigin): Result<Place | undefined> => {
  try {
    const real = realpathSync(path);
    if (!statSync(real).isDirectory()) return ok(undefined);
    const link = linkIn([path, dirname(path)]);
    return ok({
      origin,
      path,
      real,
      linksBelow: origin.tier === 'person' ? 'anywhere' : undefined,
      ...(link === undefined ? {} : { via: { link, target: realpathSync(link) } }),
    });
  } catch (error) {
    if (missing.has(codeOf(error))) return ok(undefined);
    return { ok: false, problem: readFault(error, path) };
  }
};

/** Another user's folder speaks for nobody here; root's and that of the working directory's owner do. */
const isForeign = (stat: Stats, cwdOwner: number): boolean => {
  const self = process.getuid?.();
  return self !== undefined && stat.uid !== self && stat.uid !== 0 && stat.uid !== cwdOwner;
};

const projectAt = (base: string, cwdOwner: number): Result<Place | undefined> => {
  const folder = join(base, '.jupiter');
  const path = join(folder, 'skills');
  try {
    const outer = lstatSync(folder, { throwIfNoEntry: false });
    if (outer === undefined) return ok(undefined);
    const link = linkIn([folder, path]);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return ok(undefined);
    const real = realpathSync(path);
    if (link !== undefined && !isBelow(base, real)) {
      return { ok: false, problem: linkProblem(link, base, path, 'the project') };
    }
    if (!stat.isDirectory()) return ok(undefined);
    if (isForeign(stat, cwdOwner)) {
      return {
        ok: false,
        problem: problem('skill/foreign-owner', { subject: path, evidence: `user ${stat.uid}` }),
      };
    }
    return ok({
      origin: { tier: 'project', base },
      path,
      real,
      linksBelow: base,
      ...(link === undefined ? {} : { via: { link, target: realpathSync(link) } }),
    });
  } catch (error) {
    if (missing.has(codeOf(error))) return ok(undefined);
    return { ok: false, problem: readFault(error, path) };
  }
};

/** `dir` and every folder above it, nearest first. */
const upward = (dir: string): readonly string[] => {
  const found: string[] = [];
  for (let at = dir; ; at = dirname(at)) {
    found.push(at);
    if (dirname(at) === at) return found;
  }
};

export const placesFor = (cwd: string, options: LibraryOptions): Places => {
  const places: Place[] = [];
  const problems: { path: string; problem: Problem }[] = [];
  const seen = new Set<string>();
  const add = (path: string, found: Result<Place | undefined>): void => {
    if (!found.ok) problems.push({ path, problem: found.problem });
    else if (found.value !== undefined && !seen.has(found.value.real)) {
      seen.add(found.value.real);
      places.push(found.value);
    }
  };
  const person = options.person === undefined ? undefined : resolve(options.person);
  if (person !== undefined) add(person, followed(person, { tier: 'person' }));
  try {
    const real = realpathSync(cwd);
    const owner = statSync(real).uid;
    for (const base of upward(real)) {
      const path = join(base, '.jupiter', 'skills');
      // The person's folder stays the person's also for whoever works below their home.
      if (path !== person) add(path, projectAt(base, owner));
    }
  } catch (error) {
    const code = codeOf(error);
    problems.push({ path: cwd, problem: problem('skill/unreadable', { subject: cwd, evidence: code }) });
  }
  const { shipped } = options;
  if (shipped !== undefined) add(shipped, followed(resolve(shipped), { tier: 'shipped' }));
  return { places, problems };
};
