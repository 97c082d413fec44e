/** What a repository locks, and what it declares now: topics by its manifests, interfaces by its WIT folders. */
import { ok, type ProblemCode, type ProblemDetail, type Result, refuse } from '../problems/index.ts';
import { type Finding, finding } from './findings.ts';
import { type Lock, readLock } from './lock.ts';
import { readManifest } from './manifests.ts';
import type { Repository } from './repository.ts';
import type { Declared } from './rules.ts';
import type { State } from './state.ts';
import { readWit, type WitFile, witVersion } from './wit.ts';

export type SubjectKind = 'topics' | 'wit';

/** A lock with what it is to hold. */
export interface Subject {
  readonly kind: SubjectKind;
  /** Where the lock stands or should stand, from the checked folder. */
  readonly file: string;
  readonly lock?: Lock;
  /** Why the lock could not be read. */
  readonly fault?: { readonly code: ProblemCode; readonly detail: ProblemDetail };
  /** False for a lock that git does not know, undefined where there is no git or no lock. */
  readonly tracked?: boolean;
  readonly declared: readonly Declared[];
}

export interface Present {
  readonly subjects: readonly Subject[];
  readonly findings: readonly Finding[];
  readonly manifests: number;
  /** Every lock there is in the repository, from its top: none of them was moved away. */
  readonly locks: ReadonlySet<string>;
  readonly prefix: string;
}

const lockPlaces = { topics: 'contracts/topics.lock.json', wit: 'wit/wit.lock.json' } as const;
export const lockNames: Readonly<Record<SubjectKind, string>> = {
  topics: 'topics.lock.json',
  wit: 'wit.lock.json',
};

/** Names of the files a check looks at. */
export const subjectNames: readonly string[] = ['bundle.json', ...Object.values(lockNames), '*.wit'];

export interface SubjectOptions {
  readonly manifests?: readonly string[];
  readonly lock?: string;
}

/** Another text for a lock, given the lock and its text; undefined: the lock as it is. */
export type LockAs = (subject: Subject, text: string | undefined) => string | undefined;

const withoutTracking = ({ tracked: _, ...subject }: Subject): Subject => subject;

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Where a lock is: at the place named, at its usual place, or the only one of its name. */
const lockFile = (kind: SubjectKind, state: State, named: string | undefined): Result<string> => {
  if (named !== undefined) return ok(named);
  const usual = lockPlaces[kind];
  const found = state.files.filter((path) => baseName(path) === lockNames[kind]);
  if (found.includes(usual) || found.length === 0) return ok(usual);
  const [only = usual] = found;
  return found.length === 1
    ? ok(only)
    : refuse('contract/lock-ambiguous', { evidence: found.slice(0, 10).join(', ') });
};

/** Reads every manifest, WIT folder and lock of a state. */
export const presentSubjects = async (
  state: State,
  options: SubjectOptions,
  repository: Repository | undefined,
  lockAs: LockAs,
): Promise<Result<Present>> => {
  const prefix = repository?.prefix ?? '';
  const topics = await declaredTopics(state, options.manifests);
  if (!topics.ok) return topics;
  const wit = await declaredWit(state);
  if (!wit.ok) return wit;
  const subjects: Subject[] = [];
  for (const [kind, declared] of [
    ['topics', topics.value.declared] as const,
    ['wit', wit.value.declared] as const,
  ]) {
    const file = lockFile(kind, state, kind === 'topics' ? options.lock : undefined);
    if (!file.ok) return file;
    const { subject, text } = await subjectOf(kind, file.value, state, declared, repository !== undefined);
    const other = lockAs(subject, text);
    subjects.push(other === undefined ? subject : { ...withoutTracking(subject), lock: readLock(other) });
  }
  const locks = [...state.files.map((path) => prefix + path), ...state.elsewhere].filter((path) =>
    Object.values(lockNames).includes(baseName(path)),
  );
  return ok({
    subjects,
    findings: [...topics.value.findings, ...wit.value.findings],
    manifests: topics.value.manifests,
    locks: new Set(locks),
    prefix,
  });
};

const subjectOf = async (
  kind: SubjectKind,
  file: string,
  state: State,
  declared: readonly Declared[],
  git: boolean,
): Promise<{ readonly subject: Subject; readonly text?: string }> => {
  const bytes = await state.read(file);
  if (!bytes.ok) {
    const { code, ...detail } = bytes.problem;
    return { subject: { kind, file, declared, fault: { code: code as ProblemCode, detail } } };
  }
  if (bytes.value === undefined) return { subject: { kind, file, declared } };
  const text = bytes.value.toString('utf8');
  const tracked = git ? { tracked: state.tracked(file) } : {};
  return { subject: { kind, file, declared, lock: readLock(text), ...tracked }, text };
};

interface DeclaredThere {
  readonly declared: readonly Declared[];
  readonly findings: readonly Finding[];
  readonly manifests: number;
}

const unreadable = (code: string, detail: ProblemDetail, file: string): Finding => ({
  ...finding('contract/file-unreadable', { file, line: 1 }, detail),
  code,
});

const declaredTopics = async (
  state: State,
  named: readonly string[] | undefined,
): Promise<Result<DeclaredThere>> => {
  const declared: Declared[] = [];
  const findings: Finding[] = [];
  let manifests = 0;
  for (const file of named ?? state.files.filter((path) => baseName(path) === 'bundle.json')) {
    const bytes = await state.read(file);
    if (!bytes.ok) {
      const { code, ...detail } = bytes.problem;
      findings.push(unreadable(code, detail, file));
    } else if (bytes.value === undefined) {
      findings.push(
        finding(
          'contract/manifest-unreadable',
          { file, line: 1 },
          { subject: file, evidence: 'it is not there' },
        ),
      );
    } else {
      const read = readManifest(file, bytes.value);
      if (read.isManifest) manifests += 1;
      for (const item of read.declared) declared.push(item);
      findings.push(...read.findings);
    }
  }
  return ok({ declared, findings, manifests });
};

const declaredWit = async (state: State): Promise<Result<DeclaredThere>> => {
  const folders = new Map<string, WitFile[]>();
  const findings: Finding[] = [];
  for (const path of state.files) {
    const version = witVersion(path);
    if (version === undefined) continue;
    const bytes = await state.read(path);
    if (!bytes.ok) {
      const { code, ...detail } = bytes.problem;
      findings.push(unreadable(code, detail, path));
    } else if (bytes.value !== undefined)
      folders.set(version, [...(folders.get(version) ?? []), { path, text: bytes.value.toString('utf8') }]);
  }
  const declared: Declared[] = [];
  for (const [version, files] of folders) {
    const read = readWit(version, files);
    if (read.declared !== undefined) declared.push(read.declared);
    findings.push(...read.findings);
  }
  return ok({ declared, findings, manifests: 0 });
};
