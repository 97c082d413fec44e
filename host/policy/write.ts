/**
 * Changes the policy file, comments kept: whole before and after, whatever happens meanwhile. Several entries change
 * together or not at all.
 */
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
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import type { Policy } from './edge.ts';
import { editPolicy } from './edit.ts';
import { openPolicySource, policyText } from './source.ts';

/** What leaves no text that an edit could begin with. */
const noText = new Set(['policy/missing', 'policy/unreadable', 'policy/too-large', 'policy/not-text']);

/** An entry and its new value; `undefined` removes it. */
export interface PolicyChange {
  readonly path: string;
  readonly value: unknown;
}

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
    return refuse('policy/unwritable', {
      subject: file,
      evidence: (error as NodeJS.ErrnoException).code ?? '',
    });
  }
};

/** The policy after the change (`policy/missing`, `policy/unreadable`, `policy/unwritable`, and what `editPolicy` refuses). */
export const changePolicyFile = (file: string, changes: readonly PolicyChange[]): Result<Policy> => {
  const before = openPolicySource(file).current();
  const unfit = before.problems.find(({ code }) => noText.has(code));
  if (unfit !== undefined) return failed(unfit);
  const target = realpathSync(file);
  let text = policyText(target) ?? '';
  for (const { path, value } of changes) {
    const edited = editPolicy(text, path, value, file);
    if (!edited.ok) return edited;
    text = edited.value;
  }
  if (changes.length > 0) {
    const written = replaceFile(target, text);
    if (!written.ok) return written;
  }
  return ok(openPolicySource(file).current());
};
