/**
 * Where skills were placed, remembered: each workspace and sink with each bundle, written down before the first file
 * is placed there. From this a verification finds every workspace, and what an uninstalled bundle left, or a newer
 * revision no longer has, is taken away: at once, or later where a session still used it.
 */
import { realpathSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { BundleSkill } from '../bundles/index.ts';
import {
  type PlacedSkill,
  type Placement,
  placeSkills,
  removePlaced,
  verifyPlaced,
} from '../context/index.ts';
import { type Problem, problem, type Result } from '../problems/index.ts';
import type { EventLog } from '../state/index.ts';
import { openPlacedMemories } from './placed-memory.ts';

/** A session that is not over, and the skills it was given. */
export interface LiveSession {
  readonly id: string;
  readonly cwd: string;
  readonly sink: string | null;
  readonly skills: readonly { readonly bundle: string; readonly name: string; readonly placed: boolean }[];
}

/** What became of one place in which an uninstalled bundle, or an earlier revision, had skills. */
export interface Cleared {
  readonly bundle: string;
  readonly cwd: string;
  readonly sink: string;
  /** Skills taken away, and how many files of each. */
  readonly removed: readonly { readonly name: string; readonly files: number }[];
  /** Files that stay: changed since they were placed. They are the user's now. */
  readonly kept: readonly string[];
  /** Why nothing was taken away here; it is looked at again when a session ends and when the station starts. */
  readonly waits?: Problem;
  readonly problems: readonly Problem[];
}

export interface PlacedIn extends PlacedSkill {
  readonly cwd: string;
}

export interface Placements {
  /** `placeSkills`, with the place written down first and what became of it in the ledger. */
  readonly place: (
    cwd: string,
    sink: string,
    skills: readonly BundleSkill[],
  ) => Promise<Result<readonly Placement[]>>;
  /** An installed bundle has another revision: what that no longer has is taken away by the next `clear`. */
  readonly revised: (bundle: string) => void;
  /** Takes away what is no longer installed but was placed, where no live session uses it. */
  readonly clear: () => Promise<readonly Cleared[]>;
  /** Every placed skill of the workspaces known, of one bundle or of all. */
  readonly verify: (bundle?: string) => Promise<readonly PlacedIn[]>;
  readonly close: () => void;
}

export interface PlacementsOptions {
  readonly db: Database;
  /** Commits without waiting for the disk. */
  readonly write: (work: () => void) => void;
  readonly now: () => number;
  readonly events: EventLog;
  readonly installed: (bundle: string) => boolean;
  /** Whether the revision of an installed bundle has a skill of this name. */
  readonly has: (bundle: string, skill: string) => boolean;
  /** Sessions that are not over, or why they cannot be told: then everything counts as used. */
  readonly live: () => Promise<Result<readonly LiveSession[]>>;
}

/** Places remembered. Beyond it those whose workspace is gone are forgotten first, then the oldest. */
const mostPlaces = 10_000;

interface Place {
  readonly cwd: string;
  readonly sink: string;
  readonly bundle: string;
}

const realOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
const isGone = (path: string): boolean => {
  try {
    realpathSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
};

const shownPlace = ({ cwd, sink }: Pick<Place, 'cwd' | 'sink'>): string => `${cwd}/${sink}`;

/**
 * The live session that was given a skill of this bundle in this place, one that is not kept, or undefined. Paths are
 * real ones.
 */
const userOf = (
  place: Place,
  sessions: readonly LiveSession[],
  keep: (name: string) => boolean,
): LiveSession | undefined =>
  sessions.find(
    (session) =>
      session.sink === place.sink &&
      session.cwd === place.cwd &&
      session.skills.some((skill) => skill.bundle === place.bundle && skill.placed && !keep(skill.name)),
  );

export const openPlacements = (options: PlacementsOptions): Placements => {
  const { db, now, events } = options;
  const note = db.prepare<[string, string, string, number]>(
    'INSERT INTO placements (cwd, sink, bundle, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const forget = db.prepare<[string, string, string]>(
    'DELETE FROM placements WHERE cwd = ? AND sink = ? AND bundle = ?',
  );
  const all = db.prepare<[], Place>(
    'SELECT cwd, sink, bundle FROM placements ORDER BY at, cwd, sink, bundle',
  );
  const bundlesPlaced = db.prepare<[], string>('SELECT DISTINCT bundle FROM placements').pluck();
  const count = db.prepare<[], number>('SELECT COUNT(*) FROM placements').pluck();
  /** Installed bundles that may have left something in a workspace: all of them at first, for a kill in between. */
  const revised = new Set(bundlesPlaced.all());
  const memories = openPlacedMemories(db, options.write);
  let open = true;

  const makeRoom = (): void => {
    if ((count.get() ?? 0) <= mostPlaces) return;
    const places = all.all();
    const goner = places.filter(({ cwd }) => isGone(cwd));
    const over = places.length - mostPlaces;
    for (const { cwd, sink, bundle } of [...goner, ...places].slice(0, Math.max(over, goner.length)))
      forget.run(cwd, sink, bundle);
    memories.trim();
  };

  const remember = (cwd: string, sink: string, bundles: ReadonlySet<string>): void => {
    db.transaction(() => {
      for (const bundle of bundles) note.run(cwd, sink, bundle, now());
      makeRoom();
    })();
  };

  /** One event for what a bundle got in, one for each skill that was refused, in one write. */
  const tell = (cwd: string, sink: string, placements: readonly Placement[]): void => {
    const place = shownPlace({ cwd, sink });
    const placed = Map.groupBy(
      placements.filter(({ decision }) => decision === 'placed'),
      ({ bundle }) => bundle,
    );
    db.transaction(() => {
      for (const [bundle, skills] of placed)
        events.add('place', `${bundle} ${skills.map(({ name }) => name).join(', ')} in ${place}`);
      for (const { bundle, name, decision, reason } of placements)
        if (decision === 'refused')
          events.add(
            'withhold',
            `${bundle} ${name} in ${place}`,
            problem('context/withheld', { evidence: reason ?? '' }),
          );
    })();
  };

  const forgetPlace = ({ cwd, sink, bundle }: Place): void =>
    db.transaction(() => {
      forget.run(cwd, sink, bundle);
      memories.trim();
    })();

  const clearOne = async (place: Place, keep: (name: string) => boolean): Promise<Cleared> => {
    const done = await removePlaced({ ...place, keep, memory: memories.in(place.cwd, place.sink) });
    const found = done.ok ? done.value : [];
    const problems = done.ok
      ? found.flatMap((skill) => skill.problem ?? [])
      : done.problem.code === 'context/workspace-missing'
        ? []
        : [done.problem];
    // What could not be removed is tried again; a workspace that is gone holds nothing.
    if (open && problems.length === 0 && !options.installed(place.bundle)) forgetPlace(place);
    const removed = found
      .filter((skill) => skill.problem === undefined)
      .map(({ name, removed: files }) => ({ name, files }));
    for (const { name } of removed)
      if (open) events.add('remove', `${place.bundle} ${name} in ${shownPlace(place)}`);
    const kept = found.flatMap((skill) => skill.kept.map((path) => `${skill.name}/${path}`));
    return { ...place, removed, kept, problems };
  };

  const waiting = (place: Place, waits: Problem): Cleared => ({
    ...place,
    removed: [],
    kept: [],
    waits,
    problems: [],
  });

  let turn: Promise<unknown> = Promise.resolve();
  const clear = async (): Promise<readonly Cleared[]> => {
    const gone = new Set(bundlesPlaced.all().filter((bundle) => !options.installed(bundle)));
    if (!open || gone.size + revised.size === 0) return [];
    const left = all.all().filter(({ bundle }) => gone.has(bundle) || revised.has(bundle));
    // Looked at now; one that comes meanwhile, and one whose places have to wait, is looked at again.
    revised.clear();
    if (left.length === 0) return [];
    const live = await options.live();
    const sessions = live.ok ? live.value.map((one) => ({ ...one, cwd: realOf(one.cwd) })) : [];
    const done: Cleared[] = [];
    for (const place of left) {
      if (!open) break;
      const { bundle } = place;
      const keep = (name: string): boolean => options.installed(bundle) && options.has(bundle, name);
      const user = userOf(place, sessions, keep);
      const cleared = !live.ok
        ? waiting(place, live.problem)
        : user !== undefined
          ? waiting(place, problem('context/in-use', { subject: user.id, evidence: shownPlace(place) }))
          : await clearOne(place, keep);
      if (cleared.waits !== undefined || cleared.problems.length > 0) revised.add(bundle);
      done.push(cleared);
    }
    return done.filter(({ removed, kept, waits, problems, bundle }) =>
      gone.has(bundle) ? true : removed.length + kept.length + problems.length > 0 || waits !== undefined,
    );
  };

  return {
    place: async (cwd, sink, skills) => {
      const real = realOf(cwd);
      remember(real, sink, new Set(skills.map(({ bundle }) => bundle)));
      const placed = await placeSkills({ cwd, sink, skills, memory: memories.in(real, sink) });
      if (placed.ok && open) tell(real, sink, placed.value);
      return placed;
    },
    revised: (bundle) => void revised.add(bundle),
    clear: () => {
      const next = turn.then(clear, clear);
      turn = next.catch(() => undefined);
      return next;
    },
    verify: async (bundle) => {
      const places = all.all().filter((place) => bundle === undefined || place.bundle === bundle);
      const seen = new Set<string>();
      const found: PlacedIn[] = [];
      for (const { cwd, sink } of places) {
        if (!open) break;
        if (seen.has(shownPlace({ cwd, sink })) || isGone(cwd)) continue;
        seen.add(shownPlace({ cwd, sink }));
        const skills = await verifyPlaced(cwd, sink, memories.in(cwd, sink));
        if (!skills.ok) {
          found.push({
            cwd,
            sink,
            name: null,
            bundle: null,
            revision: null,
            problems: [skills.problem],
            added: [],
          });
          continue;
        }
        found.push(
          ...skills.value
            .filter((skill) => bundle === undefined || skill.bundle === bundle || skill.bundle === null)
            .map((skill) => ({ ...skill, cwd })),
        );
      }
      return found;
    },
    close: () => {
      open = false;
    },
  };
};
