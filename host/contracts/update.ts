/**
 * `jupiter contracts update`: puts what is newly declared into the locks. It never changes or removes an entry: where
 * the locks it would write do not pass the check, it writes nothing. A second run changes no byte.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ok, type Result, refuse } from '../problems/index.ts';
import { type CheckOptions, type CheckReport, examine } from './check.ts';
import { lockText } from './lock.ts';
import type { Subject } from './subjects.ts';

export type UpdateOptions = Pick<CheckOptions, 'repo' | 'cwd' | 'env' | 'manifests' | 'lock'>;

export interface UpdateReport {
  /** Of the locks as they would be; any finding means that nothing was written. */
  readonly check: CheckReport;
  /** Locks that were written, from the folder of the project. */
  readonly written: readonly string[];
  /** IDs that came into a lock. */
  readonly added: readonly string[];
}

/** The text a lock is to have: its own entries once each, and what is declared under an ID it does not have. */
const updatedLock = (subject: Subject): { readonly text: string; readonly added: readonly string[] } => {
  const own = subject.lock?.all ?? [];
  const entries = [...new Map(own.map((entry) => [entry.text, entry])).values()];
  // Declared twice, the first one counts; the check then names the other.
  const fresh = new Map(subject.declared.toReversed().map(({ entry }) => [entry.id, entry]));
  for (const { id } of entries) fresh.delete(id);
  return { text: lockText([...entries, ...fresh.values()]), added: [...fresh.keys()].sort() };
};

const write = (file: string, text: string): Result<true> => {
  const draft = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, text, { flag: 'wx' });
    renameSync(draft, file);
    return ok(true);
  } catch (error) {
    rmSync(draft, { force: true });
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return refuse('contract/write-failed', { evidence: code });
  }
};

/** Writes the locks, or says why not: findings in the report, a problem where nothing could be looked at. */
export const updateContracts = async (options: UpdateOptions): Promise<Result<UpdateReport>> => {
  const texts = new Map<string, { text: string; before: string | undefined; added: readonly string[] }>();
  const examined = await examine(options, (subject, before) => {
    // A lock that cannot be understood to its end would lose what was not understood.
    const lost = subject.lock?.faults.some(({ code }) => code === 'contract/lock-malformed') === true;
    if (lost || subject.fault !== undefined) return undefined;
    if (subject.lock === undefined && subject.declared.length === 0) return undefined;
    const next = updatedLock(subject);
    texts.set(subject.file, { ...next, before });
    return next.text;
  });
  if (!examined.ok) return examined;
  const { root, report } = examined.value;
  if (report.findings.length > 0) return ok({ check: report, written: [], added: [] });
  const written: string[] = [];
  for (const [file, { text, before }] of texts) {
    if (text === before) continue;
    const done = write(join(root, file), text);
    if (!done.ok) return refuse('contract/write-failed', { ...done.problem, subject: file });
    written.push(file);
  }
  return ok({ check: report, written, added: [...texts.values()].flatMap(({ added }) => added) });
};
