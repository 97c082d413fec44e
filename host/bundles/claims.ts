/**
 * What a bundle says of topics: each its manifest declares, and each in the lock it carries as `topics.lock.json`. A
 * locked topic stands for its shape for ever even where the manifest no longer declares it.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalShape, readLock } from '../contracts/index.ts';
import { ok, type Problem, ProblemError, problem, type Result, refuse } from '../problems/index.ts';
import type { Manifest, TopicClaim, TopicEntry, TopicSaid, TopicShape } from './edge.ts';

export const lockPath = 'topics.lock.json';

/** The canonical shape of a topic whose manifest was read: one without a canonical form is a bug here. */
export const shapeOfTopic = (topic: TopicEntry): TopicShape => {
  const canonical = canonicalShape(topic);
  if (!canonical.ok) throw new ProblemError(canonical.problem);
  return canonical.value;
};

/** A claim against what is known of the same topic since some bundle: `bundle/topic-conflict`, or undefined. */
export const topicConflict = (
  claim: TopicSaid,
  known: TopicSaid & { readonly bundle: string; readonly identity: string },
  standing: string,
): Problem | undefined =>
  known.digest === claim.digest
    ? undefined
    : problem('bundle/topic-conflict', {
        subject: claim.id,
        message:
          `The topic "${claim.id}" stands for another shape here since bundle "${known.bundle}", ` +
          `revision ${known.identity} (${standing}).`,
        evidence: `expected ${known.kind} with shape ${known.digest}, observed ${claim.kind} with shape ${claim.digest}`,
      });

/** The claims of a verified bundle in `folder` (`bundle/lock-invalid`). */
export const topicClaims = (
  manifest: Manifest,
  folder: string,
  shapeOf: (topic: TopicEntry) => TopicShape = shapeOfTopic,
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
  // Reading a lock looks into no shape, and topics are compared by these digests.
  const forged = locked.find(({ shape, digest }) => hash('sha256', shape) !== digest);
  if (forged !== undefined) {
    return refuse('bundle/lock-invalid', {
      subject: `${manifest.id} ${lockPath}:${forged.line}`,
      evidence: `${forged.id} has another digest than its shape`,
    });
  }
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
