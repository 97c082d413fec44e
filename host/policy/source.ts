/**
 * The policy as it is now. Every call looks at the file; bytes are read again only when size, times or inode differ
 * from those of the last reading. A file that is gone or unreadable grants nothing, from the next call on.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { problem } from '../problems/index.ts';
import type { Policy, PolicySource } from './edge.ts';
import { noRevision, nothingGranted, readPolicy } from './read.ts';
import { policyBytes } from './tree.ts';

/**
 * File times move in ticks of some milliseconds: an edit in the same tick as the reading would not show. A reading
 * younger than this is not believed to be the last word.
 */
const settledNs = 100_000_000n;

const stampOf = (stat: BigIntStats): string =>
  `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;

/** Whether times are old enough that a later change must show in them; `now` in milliseconds. */
export const settled = (stat: Pick<BigIntStats, 'ctimeNs' | 'mtimeNs'>, now: number): boolean => {
  const edge = BigInt(now) * 1_000_000n - settledNs;
  return stat.ctimeNs < edge && stat.mtimeNs < edge;
};

// Without O_NONBLOCK a pipe in the policy's place would stop the station.
const openPolicy = (file: string): number => openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));

/** At most one byte more than a policy may have. */
const readBounded = (fd: number): Uint8Array => {
  const buffer = Buffer.alloc(policyBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(fd, buffer, length, buffer.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
};

/** The text of a policy file, whatever it says, no longer than a policy may be; undefined where there is none to read. */
export const policyText = (file: string): string | undefined => {
  try {
    const fd = openPolicy(file);
    try {
      return fstatSync(fd).isFile() ? new TextDecoder().decode(readBounded(fd)) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

const unreadable = (file: string, evidence: string): Policy =>
  nothingGranted(noRevision, [
    evidence === 'ENOENT'
      ? problem('policy/missing', { subject: file })
      : problem('policy/unreadable', { subject: file, evidence }),
  ]);

interface Reading {
  readonly stamp: string;
  readonly final: boolean;
  readonly policy: Policy;
}

const read = (file: string, now: () => number, last: Reading | undefined): Reading => {
  const fd = openPolicy(file);
  try {
    const before = fstatSync(fd, { bigint: true });
    if (!before.isFile()) return { stamp: '', final: false, policy: unreadable(file, 'not a regular file') };
    const policy = readPolicy(readBounded(fd), file);
    const after = fstatSync(fd, { bigint: true });
    const final = stampOf(before) === stampOf(after) && settled(after, now());
    // The same bytes are the same policy, so that callers may compare by identity.
    const same = last !== undefined && last.policy.revision === policy.revision;
    return { stamp: stampOf(after), final, policy: same ? last.policy : policy };
  } finally {
    closeSync(fd);
  }
};

/** `policy/missing` and `policy/unreadable` are problems of the policy it answers with. `now` in milliseconds. */
export const openPolicySource = (file: string, now: () => number = Date.now): PolicySource => {
  let last: Reading | undefined;
  return {
    current: () => {
      try {
        const stamp = stampOf(statSync(file, { bigint: true }));
        if (last === undefined || !last.final || last.stamp !== stamp) last = read(file, now, last);
      } catch (error) {
        last = { stamp: '', final: false, policy: unreadable(file, codeOf(error)) };
      }
      return last.policy;
    },
  };
};
