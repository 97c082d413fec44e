/**
 * What is published at this moment. A look compares stamps of every folder and file and reads what differs; what it
 * finds counts as now for a quarter of a second, or ten times as long as looking took. While nothing differs, a look
 * gives the same catalog, so whatever was made of one can be kept as long as it is the current one.
 */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ok, type Problem, problem, type Result } from '../../problems/index.ts';
import {
  bundledSkill,
  parseSkill,
  type SkillFolder,
  type SkillSource,
  skillFoldersBelow,
  watchSkillFolder,
} from '../../skills/index.ts';
import { freshMs, lookShare } from './limits.ts';
import { type Candidate, type LeftOut, type Published, publish, type Taken } from './publish.ts';
import { mendedBytes, servedDocument } from './served.ts';

/** What policy publishes now. */
export interface Sources {
  readonly bundles: readonly SkillSource[];
  /** Absolute. */
  readonly folders: readonly string[];
  readonly frontmatter: 'complete' | 'authored';
}

export interface Catalog {
  /** The current catalog when it still counts as now. */
  readonly fresh: () => Published | undefined;
  readonly look: () => Promise<Published>;
  /** The next request looks again: something was not as listed. */
  readonly expire: () => void;
}

export interface CatalogOptions {
  readonly sources: () => Sources;
  /** Each reason why something is left out, once while it lasts. */
  readonly report: (left: LeftOut) => void;
  readonly changed?: (published: Published) => void;
  /** Milliseconds that only go forward. */
  readonly clock?: () => number;
}

// Longest stretch of looking before others get their turn, ms.
const stretchMs = 12;

const take = (folder: SkillFolder): Taken => {
  const name = basename(folder.dir);
  const document = servedDocument(folder.document, name);
  // The folder holds its SKILL.md; only what is named here stays.
  const { files, read } = folder;
  return {
    files,
    read,
    document,
    mended: (): Result<Uint8Array> => {
      const raw = read('SKILL.md');
      if (!raw.ok) return raw;
      const parsed = parseSkill(raw.value, { folder: name });
      return parsed.ok ? ok(mendedBytes(parsed.value, name)) : parsed;
    },
  };
};

interface Known {
  readonly now: () => Result<Taken>;
}

export const openCatalog = (options: CatalogOptions): Catalog => {
  const clock = options.clock ?? (() => performance.now());
  const known = new Map<string, Known>();
  const told = new Set<string>();
  let current: Published | undefined;
  let seen: readonly Candidate[] = [];
  let seenMode = '';
  let until = Number.NEGATIVE_INFINITY;
  let looking: Promise<Published> | undefined;

  const remembered = (key: string, present: Set<string>, open: () => Known): Result<Taken> => {
    present.add(key);
    const one = known.get(key) ?? open();
    known.set(key, one);
    return one.now();
  };

  const fromBundle = (source: SkillSource, present: Set<string>): Candidate => {
    const key = ['bundle', source.bundle, source.revision, source.name].join('\0');
    return {
      path: `${source.bundle}/${source.name}`,
      source: `bundle ${source.bundle}`,
      where: source.folder,
      taken: remembered(key, present, () => {
        // Admitted bytes never change under their revision; only a fault is looked for again.
        let kept: Result<Taken> | undefined;
        return {
          now: () => {
            if (kept?.ok === true) return kept;
            const skill = bundledSkill(source);
            const folder = skill.ok ? skill.value.files() : skill;
            kept = folder.ok ? ok(take(folder.value)) : folder;
            return kept;
          },
        };
      }),
    };
  };

  const fromFolder = async (
    folder: string,
    present: Set<string>,
    breathe: () => Promise<void>,
    left: LeftOut[],
  ): Promise<readonly Candidate[]> => {
    let root: string;
    try {
      root = realpathSync(folder);
    } catch (error) {
      const evidence = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
      left.push({ where: folder, problem: problem('channel/folder', { subject: folder, evidence }) });
      return [];
    }
    const found = await skillFoldersBelow(root, breathe);
    for (const { path, problem: why } of found.problems) left.push({ where: path, problem: why });
    const candidates: Candidate[] = [];
    for (const path of found.folders) {
      const dir = join(root, path);
      const taken = remembered(`folder\0${dir}`, present, () => ({
        now: watchSkillFolder(dir, basename(dir), take),
      }));
      candidates.push({ path, source: `folder ${folder}`, where: dir, taken });
      await breathe();
    }
    return candidates;
  };

  const tell = (left: readonly LeftOut[]): void => {
    const now = new Set<string>();
    for (const one of left) {
      const key = [one.where, one.problem.code, one.problem.evidence ?? ''].join('\0');
      now.add(key);
      if (!told.has(key)) options.report(one);
    }
    told.clear();
    for (const key of now) told.add(key);
  };

  const lookNow = async (): Promise<Published> => {
    const began = clock();
    let since = performance.now();
    const breathe = async (): Promise<void> => {
      if (performance.now() - since < stretchMs) return;
      await setImmediate();
      since = performance.now();
    };
    const { bundles, folders, frontmatter } = options.sources();
    const present = new Set<string>();
    const around: LeftOut[] = [];
    const candidates: Candidate[] = [];
    for (const source of bundles) {
      candidates.push(fromBundle(source, present));
      await breathe();
    }
    for (const folder of folders) candidates.push(...(await fromFolder(folder, present, breathe, around)));
    for (const key of known.keys()) if (!present.has(key)) known.delete(key);
    if (current === undefined || seenMode !== frontmatter || !sameAll(seen, candidates)) {
      const published = publish(candidates, frontmatter);
      const differs = current !== undefined && !sameEntries(current, published);
      current = published;
      if (differs) options.changed?.(published);
    }
    seen = candidates;
    seenMode = frontmatter;
    tell([...around, ...current.left]);
    const ended = clock();
    until = ended + Math.max(freshMs, lookShare * (ended - began));
    return current;
  };

  return {
    fresh: () => (clock() < until ? current : undefined),
    look: () => {
      if (current !== undefined && clock() < until) return Promise.resolve(current);
      looking ??= lookNow().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    expire: () => {
      until = Number.NEGATIVE_INFINITY;
    },
  };
};

const sameProblem = (a: Problem, b: Problem): boolean =>
  a.code === b.code && a.subject === b.subject && a.evidence === b.evidence;

const sameAll = (a: readonly Candidate[], b: readonly Candidate[]): boolean =>
  a.length === b.length &&
  a.every((one, index) => {
    const other = b[index];
    if (other === undefined || one.path !== other.path || one.where !== other.where) return false;
    if (one.taken.ok) return other.taken.ok && one.taken.value === other.taken.value;
    return !other.taken.ok && sameProblem(one.taken.problem, other.taken.problem);
  });

/** Whether clients would list the same. */
const sameEntries = (a: Published, b: Published): boolean =>
  a.entries.length === b.entries.length &&
  a.entries.every((entry, index) => JSON.stringify(entry) === JSON.stringify(b.entries[index]));
