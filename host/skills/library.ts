/**
 * The skills there are for a working directory: the person's, the project's, those of installed bundles, the
 * product's own. A look compares inode, size and times of folders and SKILL.md files with the last look's and reads
 * what differs; all else comes from memory, which holds no body and no file.
 */
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Problem, problem, type Result } from '../problems/index.ts';
import { isBelow, isSettled, isStill, linkProblem, type Stamp, stampOf } from './disk.ts';
import type { LibraryOptions, Look, Skill, SkillLibrary, SkillSource } from './edge.ts';
import { rememberedRoots, skillsPerRoot } from './limits.ts';
import { bundled, type Sighting, sight, sightWhole, unreadableFolder } from './listed.ts';
import { type Place, placesFor } from './places.ts';
import { winnersOf } from './winners.ts';

// Longest stretch of reading before others get their turn, ms.
const stretchMs = 12;

interface Entry {
  readonly name: string;
  readonly isLink: boolean;
}
interface Remembered {
  stamp: Stamp | undefined;
  settled: boolean;
  entries: readonly Entry[];
  /** Folders in it beyond the bound; 0 as a rule. */
  beyond: number;
  /** By the real place of a skill's folder. */
  readonly sightings: Map<string, Sighting>;
}
interface Found {
  readonly skills: Skill[];
  readonly problems: { path: string; problem: Problem }[];
}

const byName = (a: Entry, b: Entry): number => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));

/** `now` is for tests: whether a file is old enough to be trusted to its time. */
export const openSkillLibrary = (options: LibraryOptions & { readonly now?: () => number }): SkillLibrary => {
  const now = options.now ?? Date.now;
  const roots = new Map<string, Remembered>();
  const bundles = new Map<string, Result<Skill>>();

  const rootAt = (place: Place): Remembered => {
    const key = `${place.origin.tier}\0${place.path}\0${place.real}`;
    const known = roots.get(key) ?? {
      stamp: undefined,
      settled: false,
      entries: [],
      beyond: 0,
      sightings: new Map(),
    };
    // The least recently used of too many is forgotten.
    roots.delete(key);
    roots.set(key, known);
    const oldest = roots.size > rememberedRoots ? roots.keys().next().value : undefined;
    if (oldest !== undefined) roots.delete(oldest);
    if (known.settled && known.stamp !== undefined && isStill(place.real, known.stamp)) return known;
    const stat = lstatSync(place.real);
    const folders = readdirSync(place.real, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))
      .sort(byName);
    known.entries = folders.slice(0, skillsPerRoot);
    known.beyond = folders.length - known.entries.length;
    known.stamp = stampOf(stat);
    known.settled = isSettled(stat.ctimeMs, now());
    return known;
  };

  const readRoot = async (place: Place, whole: boolean, breathe: () => Promise<void>): Promise<Found> => {
    const found: Found = { skills: [], problems: [] };
    let root: Remembered;
    try {
      root = rootAt(place);
    } catch (error) {
      found.problems.push({ path: place.path, problem: unreadableFolder(error, place.path) });
      return found;
    }
    if (root.beyond > 0) {
      const evidence = `${root.entries.length + root.beyond} folders; at most ${skillsPerRoot}`;
      const tooMany = problem('skill/too-many', { subject: place.path, evidence });
      found.problems.push({ path: place.path, problem: tooMany });
    }
    const present = new Set<string>();
    for (const entry of root.entries) {
      const path = join(place.path, entry.name);
      const target = entry.isLink ? linkedFolder(place, join(place.real, entry.name)) : undefined;
      if (target !== undefined && typeof target !== 'string') {
        if (target.problem !== undefined) found.problems.push({ path, problem: target.problem });
        continue;
      }
      const dir = target ?? join(place.real, entry.name);
      present.add(path);
      const known = root.sightings.get(path);
      const via = target === undefined ? place.via : { link: path, target };
      const at = { origin: place.origin, dir, path, ...(via === undefined ? {} : { via }) };
      const stays = known?.holds() === true && sameDir(known, dir) && (known.whole || !whole);
      const sighting = known !== undefined && stays ? known : (whole ? sightWhole : sight)(at, now);
      root.sightings.set(path, sighting);
      if (sighting.found?.ok === true) found.skills.push(sighting.found.value);
      else if (sighting.found !== undefined) {
        found.problems.push({ path: join(path, 'SKILL.md'), problem: sighting.found.problem });
      }
      await breathe();
    }
    for (const path of root.sightings.keys()) if (!present.has(path)) root.sightings.delete(path);
    return found;
  };

  const readBundles = async (breathe: () => Promise<void>): Promise<Found> => {
    const found: Found = { skills: [], problems: [] };
    const present = new Set<string>();
    for (const source of options.bundles?.() ?? []) {
      const key = bundleKey(source);
      present.add(key);
      const known = bundles.get(key);
      // Admitted bytes never change under their revision; only what could not be read is tried again.
      const skill = known?.ok === true ? known : bundled(source);
      bundles.set(key, skill);
      if (skill.ok) found.skills.push(skill.value);
      else found.problems.push({ path: join(source.folder, 'SKILL.md'), problem: skill.problem });
      await breathe();
    }
    for (const key of bundles.keys()) if (!present.has(key)) bundles.delete(key);
    return found;
  };

  return {
    look: async ({ cwd, whole = false }): Promise<Look> => {
      let since = performance.now();
      const breathe = async (): Promise<void> => {
        if (performance.now() - since < stretchMs) return;
        await setImmediate();
        since = performance.now();
      };
      const { places, problems } = placesFor(cwd, options);
      const skills: Skill[] = [];
      const faults = [...problems];
      const take = (found: Found): void => {
        skills.push(...found.skills);
        faults.push(...found.problems);
      };
      const shipped = places.filter(({ origin }) => origin.tier === 'shipped');
      for (const place of places)
        if (place.origin.tier !== 'shipped') take(await readRoot(place, whole, breathe));
      take(await readBundles(breathe));
      for (const place of shipped) take(await readRoot(place, whole, breathe));
      const listed = places.map(({ origin, path, via }) => ({
        origin,
        path,
        ...(via === undefined ? {} : { via }),
      }));
      return { ...winnersOf(skills), problems: faults, roots: listed };
    },
  };
};

const bundleKey = ({ bundle, revision, name, folder }: SkillSource): string =>
  [bundle, revision, name, folder].join('\0');

const sameDir = (known: Sighting, dir: string): boolean =>
  known.found?.ok !== true || known.found.value.dir === dir;

/** Where a link in a folder of skills leads; a problem where it may not; `{}` where it is no folder of ours. */
const linkedFolder = (place: Place, link: string): string | { readonly problem?: Problem } => {
  const subject = join(place.path, basename(link));
  try {
    const real = realpathSync(link);
    if (
      place.linksBelow === 'anywhere' ||
      (place.linksBelow !== undefined && isBelow(place.linksBelow, real))
    ) {
      return lstatSync(real).isDirectory() ? real : {};
    }
  } catch {
    // It leads nowhere, which the problem says.
  }
  const base = place.origin.tier === 'project' ? place.origin.base : place.real;
  const where = place.origin.tier === 'project' ? 'the project' : 'the folder of skills';
  return { problem: linkProblem(link, base, subject, where) };
};
