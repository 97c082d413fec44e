/**
 * `jupiter contracts check`: the manifests and the WIT folders against their locks, the locks against everything ever
 * released. It writes nothing, needs no station, and says what it could not see; with `ci` that is a failure.
 */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { type Finding, finding, findingLimit } from './findings.ts';
import type { Environment } from './git.ts';
import { attributed, type Base, historyBase, type Past, refBase, releases } from './past.ts';
import { openRepository, parents, type Repository } from './repository.ts';
import { declaredFindings, lockFindings, releasedFindings } from './rules.ts';
import { stagedState, workingState } from './state.ts';
import { type LockAs, type Present, presentSubjects, type Subject, subjectNames } from './subjects.ts';

export interface CheckOptions {
  /** The folder of the project; default: the top of the repository `cwd` is in, else `cwd`. */
  readonly repo?: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Compare with the locks at these commits, not with the whole history. */
  readonly against?: readonly string[];
  /** What cannot be seen is a failure. */
  readonly ci?: boolean;
  /** Check the index against HEAD (and what is being merged), as the hook does. */
  readonly staged?: boolean;
  /** Manifests, from `repo`; default: every `bundle.json` that git does not ignore. */
  readonly manifests?: readonly string[];
  /** The lock of the topics, from `repo`. */
  readonly lock?: string;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  /** Findings beyond `findingLimit`. */
  readonly more: number;
  /** What could not be seen or deserves a word; none of it fails. */
  readonly notes: readonly Problem[];
  readonly seen: {
    readonly manifests: number;
    readonly topics: number;
    readonly interfaces: number;
    /** Versions of locks that were compared with, and the commits that brought them. */
    readonly versions: number;
    readonly commits: number;
  };
}

export interface Project {
  readonly root: string;
  readonly repository?: Repository;
  /** Why there is no repository. */
  readonly without?: Problem;
}

/** The folder that is meant and the repository around it (`cli/usage` for a folder that is none). */
export const openProject = async (
  options: Pick<CheckOptions, 'repo' | 'cwd' | 'env'>,
): Promise<Result<Project>> => {
  const asked = resolve(options.cwd, options.repo ?? '.');
  if (!existsSync(asked) || !statSync(asked).isDirectory())
    return refuse('cli/usage', {
      subject: options.repo ?? asked,
      message: 'The folder to check does not exist.',
    });
  const { repository, problem: without } = await openRepository(asked, options.cwd, options.env);
  if (repository === undefined) return ok({ root: asked, ...(without === undefined ? {} : { without }) });
  if (options.repo !== undefined) return ok({ root: asked, repository });
  return ok({ root: repository.top, repository: { ...repository, prefix: '' } });
};

/** Runs the check. A problem means that there is no report: usage, or git failing in the middle. */
export const checkContracts = async (options: CheckOptions): Promise<Result<CheckReport>> => {
  const examined = await examine(options);
  return examined.ok ? ok(examined.value.report) : examined;
};

/**
 * The check, of the locks as they are or as `lockAs` would have them: it is given each lock and its text, and gives
 * the text to look at, or undefined for the lock as it is.
 */
export const examine = async (
  options: CheckOptions,
  lockAs: LockAs = () => undefined,
): Promise<Result<{ readonly root: string; readonly report: CheckReport }>> => {
  const project = await openProject(options);
  if (!project.ok) return project;
  const { root, repository, without } = project.value;
  const paths = [...(options.manifests ?? []), ...(options.lock === undefined ? [] : [options.lock])];
  // Who names what to compare with is not told `ok` where nothing can be compared.
  if ((options.staged === true || options.against !== undefined) && repository === undefined)
    return failed(without ?? problem('contract/no-repository'));
  const own = options.lock === undefined ? [] : [(repository?.prefix ?? '') + options.lock];
  const looking = pastOf(options, project.value, own);
  const state =
    options.staged === true && repository !== undefined
      ? await stagedState(repository, subjectNames, paths)
      : await workingState(root, repository, subjectNames, paths);
  if (!state.ok) return state;
  // The trees of named commits are read at once, before this process has grown and each git it forks costs more; a
  // whole history is looked into by git while the manifests are read.
  if (options.against !== undefined || options.staged === true) await looking;
  const [present, past] = await Promise.all([
    presentSubjects(state.value, options, repository, lockAs),
    looking,
  ]);
  state.value.close();
  if (!present.ok) return present;
  if (!past.ok) return past;
  const report = reportOf(options, present.value, past.value);
  const unnamed = report.findings.some(({ releases }) => releases.some(({ at }) => at === null));
  if (!unnamed || repository === undefined) return ok({ root, report });
  const known = await attributed(repository, past.value, own);
  return known.ok ? ok({ root, report: reportOf(options, present.value, known.value) }) : known;
};

const blind: Past = { bases: [], limits: [] };

const pastOf = async (
  options: CheckOptions,
  project: Project,
  own: readonly string[],
): Promise<Result<Past>> => {
  const { repository, without } = project;
  if (repository === undefined) return ok({ ...blind, limits: without === undefined ? [] : [without] });
  const bases: Base[] = [];
  const limits: Problem[] = [];
  for (const ref of options.against ?? []) {
    const base = await refBase(repository, ref, own);
    if (!base.ok) return base;
    bases.push(base.value);
  }
  const seen = (): Past => ({ bases, limits: [...limits, ...bases.flatMap((base) => base.limits)] });
  if (bases.length > 0) return ok(seen());
  const tips = await parents(repository);
  if (!tips.ok) return tips;
  if (options.staged === true) {
    for (const tip of tips.value) {
      const base = await refBase(repository, tip, own);
      if (!base.ok) return base;
      bases.push(base.value);
    }
    return ok(seen());
  }
  if (repository.shallow) limits.push(problem('contract/history-shallow'));
  if (tips.value.length === 0) return ok(seen());
  const base = await historyBase(repository, tips.value, own);
  if (!base.ok) return base;
  bases.push(base.value);
  return ok(seen());
};

const reportOf = (options: CheckOptions, present: Present, past: Past): CheckReport => {
  const findings: Finding[] = [];
  const notes: Problem[] = [];
  const limit = (found: Problem, file: string): void => {
    if (options.ci === true) findings.push({ ...found, file, line: 1, differences: [], releases: [] });
    else notes.push(found);
  };
  for (const subject of present.subjects) findings.push(...subjectFindings(subject, present, past, limit));
  findings.push(...present.findings);
  for (const found of past.limits) limit(found, present.subjects[0]?.file ?? '.');
  const order = (a: Finding, b: Finding): number =>
    a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || (a.code < b.code ? -1 : 1);
  const unique = [...new Map(findings.map((found) => [keyOf(found), found])).values()].sort(order);
  return {
    findings: unique.slice(0, findingLimit),
    more: Math.max(0, unique.length - findingLimit),
    notes,
    seen: {
      manifests: present.manifests,
      topics: present.subjects.find(({ kind }) => kind === 'topics')?.declared.length ?? 0,
      interfaces: present.subjects.find(({ kind }) => kind === 'wit')?.declared.length ?? 0,
      versions: past.bases.reduce((sum, base) => sum + base.versions, 0),
      commits: past.bases.reduce((sum, base) => sum + base.commits, 0),
    },
  };
};

// Two bases may tell the same: one release is told once.
const keyOf = (found: Finding): string =>
  [found.code, found.file, found.line, found.subject, found.evidence, JSON.stringify(found.differences)].join(
    '\n',
  );

const subjectFindings = (
  subject: Subject,
  present: Present,
  past: Past,
  limit: (found: Problem, file: string) => void,
): readonly Finding[] => {
  const released = releases(past, present, subject);
  const { lock, file, declared } = subject;
  if (lock === undefined) {
    if (subject.fault !== undefined)
      return [finding(subject.fault.code, { file, line: 1 }, subject.fault.detail)];
    if (declared.length === 0 && released.size === 0) return [];
    const last = [...released.values()].at(-1)?.release;
    return [
      finding(
        'contract/lock-missing',
        { file, line: 1 },
        {
          evidence: `${declared.length} declared, ${released.size} released`,
          ...(last === undefined ? {} : { releases: [last] }),
        },
      ),
    ];
  }
  const at = { lock, file };
  // A lock that could not be read to its end says nothing about what it lacks.
  const partial = lock.faults.some(
    ({ code }) => code === 'contract/lock-malformed' || code === 'contract/lock-empty',
  );
  if (subject.tracked === false) limit(problem('contract/lock-untracked', { subject: file }), file);
  if (subject.kind === 'topics' && declared.length === 0 && lock.entries.size > 0)
    limit(problem('contract/manifest-missing', { subject: file }), file);
  return [
    ...lockFindings(at, declared),
    ...declaredFindings(declared, at, partial, released),
    ...releasedFindings(released, at, partial),
  ];
};
