/** The policy file as the operator's commands read and write it. */
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { provisionFor } from '../context/index.ts';
import { editPolicy, openPolicySource, type Policy, policyText } from '../policy/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import { type Answer, short, table } from './output.ts';

/** Read as the station reads it, bounds and all. */
export const readPolicyFile = (file: string): Policy => openPolicySource(file).current();

/** What `agent` would get under the policy in `file`; a policy with problems grants nothing, and says so. */
export const explainFor = (file: string, agent: string, cwd: string | undefined): Result<Answer> => {
  const policy = readPolicyFile(file);
  const [first] = policy.problems;
  if (first !== undefined) return failed(first);
  const found = provisionFor(policy, agent);
  const sink = found.sink === null || cwd === undefined ? found.sink : join(cwd, found.sink);
  const rows = [
    ...found.offered.map(({ name, rule, transport }) => [
      name,
      'offered',
      rule,
      transport.type === 'http' ? transport.url : [transport.command, ...transport.args].join(' '),
    ]),
    ...found.withheld.map(({ name, rule, reason }) => [name, 'withheld', rule, reason]),
  ];
  const head = table([
    ['agent', agent],
    ['program', found.program ?? 'none: the agent is not in the policy'],
    ['provider', found.provider ?? 'none'],
    ['approve', found.approve],
    ['policy', short(found.policyRevision)],
    ['sink', sink ?? 'none: the program reads skills from no known folder'],
    ['servers', rows.length === 0 ? 'none' : ''],
  ]);
  return ok({
    json: { agent, ...found, ...(cwd === undefined ? {} : { cwd }) },
    plain: rows.length === 0 ? head : `${head}\n${table(rows, '  ')}`,
  });
};

const replaceFile = (file: string, text: string): Result<void> => {
  const beside = `${file}.${process.pid}.new`;
  try {
    const descriptor = openSync(beside, 'wx', statSync(file).mode & 0o777);
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(beside, file);
    return ok(undefined);
  } catch (error) {
    rmSync(beside, { force: true });
    return refuse('cli/file-unwritable', { subject: file, evidence: (error as Error).message });
  }
};

const noText = new Set(['policy/missing', 'policy/unreadable', 'policy/too-large', 'policy/not-text']);

/** Sets (or, with `undefined`, removes) one entry; the file is whole before and after, whatever happens. */
export const changePolicy = async (file: string, path: string, value: unknown): Promise<Result<Answer>> => {
  const before = readPolicyFile(file);
  const unfit = before.problems.find(({ code }) => noText.has(code));
  if (unfit !== undefined) return failed(unfit);
  const target = realpathSync(file);
  const edited = editPolicy(policyText(target) ?? '', path, value, file);
  if (!edited.ok) return edited;
  const written = replaceFile(target, edited.value);
  if (!written.ok) return written;
  const { revision, problems } = readPolicyFile(file);
  return ok({
    json: { file, revision, problems },
    plain: `${path} ${value === undefined ? 'removed' : 'set'}; the policy is now ${short(revision)}`,
  });
};
