/**
 * What a bundle says of topics: each its manifest declares, and each in the lock it carries as `topics.lock.json`. A
 * locked topic stands for its shape for ever even where the manifest no longer declares it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLock } from '../contracts/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { BundleStoreOptions, Manifest } from './edge.ts';
import type { TopicClaim } from './records.ts';

export const lockPath = 'topics.lock.json';

/** The claims of a verified bundle in `folder` (`bundle/lock-invalid`). */
export const topicClaims = (
  manifest: Manifest,
  folder: string,
  shapeOf: BundleStoreOptions['shapeOf'],
): Result<readonly TopicClaim[]> => {
  const declared = manifest.topics.map((entry) => ({ id: entry.id, kind: entry.kind, ...shapeOf(entry) }));
  if (!manifest.content.some(({ path }) => path === lockPath)) return ok(declared);
  const lock = readLock(readFileSync(join(folder, lockPath), 'utf8'));
  const [fault] = lock.faults;
  if (fault !== undefined) {
    return refuse('bundle/lock-invalid', {
      subject: `${manifest.id} ${lockPath}:${fault.line}`,
      evidence: fault.code,
    });
  }
  const locked = lock.all.filter(({ kind }) => kind === 'command' || kind === 'event');
  const shapes = new Map(locked.map((entry) => [entry.id, entry.shape]));
  const differs = declared.find(({ id, shape }) => shapes.has(id) && shapes.get(id) !== shape);
  if (differs !== undefined) {
    return refuse('bundle/lock-invalid', {
      subject: `${manifest.id} ${differs.id}`,
      evidence: 'declared with another shape',
    });
  }
  const known = new Set(declared.map(({ id }) => id));
  return ok([...declared, ...locked.filter(({ id }) => !known.has(id))]);
};
