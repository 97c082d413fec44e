/**
 * A topic's identity: its kind and the canonical text of its shape. A topic ID stands for one of these for ever.
 */
import { hash } from 'node:crypto';
import { ok, type Result, refuse } from '../problems/index.ts';
import { canonicalSchema } from './canonical.ts';
import { faultPlace } from './graph.ts';
import { isObject, type Json, sortNames } from './json.ts';

export interface Topic {
  readonly id: string;
  readonly kind: 'command' | 'event';
  /** `{request, reply}` of a command, `{event}` of an event, each a JSON Schema 2020-12. */
  readonly shape: Readonly<Record<string, unknown>>;
}

export interface CanonicalShape {
  /** Canonical JSON; each of its schemas is again a schema, and the canonical text of itself. */
  readonly shape: string;
  /** SHA-256 over `shape` as UTF-8, hex. */
  readonly digest: string;
}

// In the order of their canonical text.
const slotsOf = { command: ['reply', 'request'], event: ['event'] } as const;
const rules = {
  invalid: 'contract/shape-invalid',
  unsupported: 'contract/shape-unsupported',
  reference: 'contract/shape-reference',
  'too-large': 'contract/shape-too-large',
} as const;

/**
 * The canonical shape of a topic. `contract/shape-…` names what is wrong with a shape that has none, and where
 * (`/request/properties/a`).
 */
export const canonicalShape = (topic: Topic): Result<CanonicalShape> => {
  const slots: readonly string[] | undefined = Object.hasOwn(slotsOf, topic.kind)
    ? slotsOf[topic.kind]
    : undefined;
  const keys = isObject(topic.shape) ? sortNames(Object.keys(topic.shape)) : [];
  if (slots === undefined || keys.join() !== slots.join())
    return refuse('contract/shape-invalid', {
      subject: topic.id,
      message: 'A command has the shape {request, reply}, an event {event}.',
      evidence: `kind ${JSON.stringify(topic.kind)}, shape with ${keys.map((key) => JSON.stringify(key)).join(', ') || 'nothing'}`,
    });
  const texts: string[] = [];
  for (const slot of slots) {
    const found = canonicalSchema(topic.shape[slot] as Json);
    if ('fault' in found)
      return refuse(rules[found.fault.rule], {
        subject: topic.id,
        evidence: `/${slot}${faultPlace(found.fault)} ${found.fault.wrong}`,
      });
    texts.push(`"${slot}":${found.text}`);
  }
  const shape = `{${texts.join(',')}}`;
  return ok({ shape, digest: hash('sha256', shape) });
};
