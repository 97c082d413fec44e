/**
 * What the station remembers of each component over a restart: the revision that serves, the one before it, and a
 * newer one that does not serve, with its reason. Also which bundles are on their way out.
 */
import type { Database } from 'better-sqlite3';
import type { Problem } from '../problems/index.ts';

export interface Candidate {
  readonly revision: string;
  /** Why it does not serve: it failed, or policy does not grant what it asks for. */
  readonly problem: Problem;
}
export interface Standing {
  readonly serving?: string;
  readonly retained?: string;
  readonly candidate?: Candidate;
}

export interface Standings {
  readonly of: (bundle: string, component: string) => Standing;
  readonly set: (bundle: string, component: string, standing: Standing) => void;
  /** Forgets one component, or all of a bundle. */
  readonly forget: (bundle: string, component?: string) => void;
  /** Every revision any component of a bundle serves from, retains or waits for. */
  readonly revisions: (bundle: string) => ReadonlySet<string>;
  readonly leaving: () => ReadonlySet<string>;
  readonly leave: (bundle: string) => void;
  readonly left: (bundle: string) => void;
}

interface Row {
  readonly component: string;
  readonly serving: string | null;
  readonly retained: string | null;
  readonly candidate: string | null;
  readonly problem: string | null;
}

const standingOf = ({ serving, retained, candidate, problem }: Row): Standing => ({
  ...(serving === null ? {} : { serving }),
  ...(retained === null ? {} : { retained }),
  ...(candidate === null || problem === null
    ? {}
    : { candidate: { revision: candidate, problem: JSON.parse(problem) as Problem } }),
});

/** `redact` takes secrets out of what is written. */
export const openStandings = (db: Database, redact: (text: string) => string): Standings => {
  const one = db.prepare<[string, string], Row>('SELECT * FROM standings WHERE bundle = ? AND component = ?');
  const all = db.prepare<[string], Row>('SELECT * FROM standings WHERE bundle = ?');
  const put = db.prepare<[string, string, string | null, string | null, string | null, string | null]>(
    'INSERT OR REPLACE INTO standings (bundle, component, serving, retained, candidate, problem) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const forgetOne = db.prepare<[string, string]>('DELETE FROM standings WHERE bundle = ? AND component = ?');
  const forgetAll = db.prepare<[string]>('DELETE FROM standings WHERE bundle = ?');
  const leaving = db.prepare<[], string>('SELECT bundle FROM leaving').pluck();
  const leave = db.prepare<[string]>('INSERT OR IGNORE INTO leaving (bundle) VALUES (?)');
  const left = db.prepare<[string]>('DELETE FROM leaving WHERE bundle = ?');
  return {
    of: (bundle, component) => {
      const row = one.get(bundle, component);
      return row === undefined ? {} : standingOf(row);
    },
    set: (bundle, component, { serving, retained, candidate }) => {
      const why = candidate === undefined ? null : redact(JSON.stringify(candidate.problem));
      put.run(bundle, component, serving ?? null, retained ?? null, candidate?.revision ?? null, why);
    },
    forget: (bundle, component) => {
      if (component === undefined) forgetAll.run(bundle);
      else forgetOne.run(bundle, component);
    },
    revisions: (bundle) =>
      new Set(
        all
          .all(bundle)
          .flatMap(({ serving, retained, candidate }) =>
            [serving, retained, candidate].filter((revision) => revision !== null),
          ),
      ),
    leaving: () => new Set(leaving.all()),
    leave: (bundle) => void leave.run(bundle),
    left: (bundle) => void left.run(bundle),
  };
};
