/**
 * What a batch asked for is checked against policy as it is now, written in one transaction, and only then done.
 * One message is one unit: all of its effects happen or none.
 */
import { type Policy, permissionFor } from '../policy/index.ts';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import type { Effect, Handled } from '../sandbox/index.ts';
import type { ComponentStore, State } from '../state/index.ts';
import type { BusComponent, EffectPorts } from './edge.ts';
import type { Envelope } from './inbox.ts';
import { type LogRate, type StoreQuota, storeQuota } from './quota.ts';
import type { TopicRegistry } from './registry.ts';

export interface CommitHost {
  readonly state: State;
  readonly store: ComponentStore;
  readonly topics: TopicRegistry;
  readonly policy: () => Policy;
  readonly ports: EffectPorts;
  readonly logRate: LogRate;
  readonly now: () => number;
  /** For one batch: whether every subscriber of an event can take one more, with those asked for before. */
  readonly openRoom: () => (topic: string) => Result<void>;
  readonly publish: (
    component: BusComponent,
    effect: Publish,
    kind: 'command' | 'event',
    flow: string,
  ) => void;
  readonly onFailed: (component: BusComponent, envelope: Envelope, problem: Problem) => void;
  /** Takes secrets out of a value: a component may have read one in text that held it in an escaped form. */
  readonly redact: (text: string) => string;
}

export type Publish = Extract<Effect, { kind: 'publish' }>;

/** What a batch came to: see `LaneHost.commit`. */
export interface Committed {
  readonly stoppedAt?: number;
  readonly problem?: Problem;
}

const needs: Readonly<Record<Effect['kind'], string | undefined>> = {
  log: undefined,
  wake: undefined,
  put: permissionFor.store,
  remove: permissionFor.store,
  publish: permissionFor.bus,
  write: permissionFor.process,
  // To end what it started a component needs no grant: one that was withdrawn must not leave an agent running.
  kill: undefined,
  release: undefined,
};

export const commitBatch = (
  host: CommitHost,
  component: BusComponent,
  envelopes: readonly Envelope[],
  handled: readonly Handled[],
): Committed => {
  const bench: Bench = {
    host,
    component,
    grant: host.policy().grants.get(component.bundle),
    quota: storeQuota(host.store, component),
    roomFor: host.openRoom(),
  };
  let why: Problem | undefined;
  const refused = envelopes.findIndex((envelope, index) => {
    why = judge(bench, envelope, handled[index]);
    return why !== undefined;
  });
  const kept = refused < 0 ? handled : handled.slice(0, refused);
  try {
    writeStore(host, component.name, kept);
  } catch (cause) {
    return {
      stoppedAt: 0,
      problem: problem('state/write-failed', { subject: component.name, evidence: String(cause) }),
    };
  }
  for (const [index, one] of kept.entries()) {
    const envelope = envelopes[index];
    if (envelope !== undefined) carryOut(host, component, envelope, one);
  }
  return why === undefined ? {} : { stoppedAt: refused, problem: why };
};

/** What the messages of one batch are judged with. */
interface Bench {
  readonly host: CommitHost;
  readonly component: BusComponent;
  readonly grant: ReadonlySet<string> | undefined;
  readonly quota: StoreQuota;
  readonly roomFor: (topic: string) => Result<void>;
}

/** Why a message's effects cannot be kept, or undefined. */
const judge = (bench: Bench, envelope: Envelope, handled: Handled | undefined): Problem | undefined => {
  const { host, component, quota } = bench;
  if (handled === undefined) return problem('bus/message-failed', { subject: component.name });
  const { outcome, effects } = handled;
  const lines = effects.filter((effect) => effect.kind === 'log').length;
  if (outcome.tag === 'failed') {
    // Told before it changed anything, a failure is an answer; after that it is a roll back.
    if (lines < effects.length) return outcome.problem;
    return host.logRate.refusalFor(component, lines, host.now());
  }
  for (const effect of effects) {
    const refused = refusalOf(bench, effect);
    if (!refused.ok) return refused.problem;
  }
  if (envelope.command) {
    const topic = host.topics.get(envelope.message.topic);
    const reply = outcome.tag === 'replied' ? outcome.reply : '{}';
    const fits = topic.ok ? topic.value.reply.check(reply, `reply to ${envelope.message.topic}`) : topic;
    if (!fits.ok) return fits.problem;
  }
  return quota.refusalFor(effects) ?? host.logRate.refusalFor(component, lines, host.now());
};

const refusalOf = ({ host, component, grant, roomFor }: Bench, effect: Effect): Result<unknown> => {
  const permission = needs[effect.kind];
  if (permission !== undefined && grant?.has(permission) !== true) {
    return refuse('bus/not-granted', { subject: component.name, evidence: permission });
  }
  if (effect.kind === 'write' || effect.kind === 'kill' || effect.kind === 'release') {
    return host.ports.owns(component.name, effect.process)
      ? ok(undefined)
      : refuse('bus/not-its-process', { subject: component.name, evidence: effect.process });
  }
  if (effect.kind !== 'publish') return ok(undefined);
  if (!component.publishes.has(effect.topic)) {
    return refuse('bus/not-declared', { subject: component.name, evidence: effect.topic });
  }
  const topic = host.topics.get(effect.topic);
  if (!topic.ok) return topic;
  const fits = topic.value.request.check(effect.payload, effect.topic);
  if (!fits.ok || topic.value.kind === 'command') return fits;
  return roomFor(effect.topic);
};

const writeStore = (host: CommitHost, owner: string, kept: readonly Handled[]): void => {
  const writes = kept
    .flatMap(({ effects }) => effects)
    .filter((effect) => effect.kind === 'put' || effect.kind === 'remove');
  if (writes.length === 0) return;
  host.state.transaction(() => {
    for (const write of writes) {
      if (write.kind === 'put') host.store.put(owner, write.key, host.redact(write.value));
      else host.store.remove(owner, write.key);
    }
  });
};

const carryOut = (host: CommitHost, component: BusComponent, envelope: Envelope, handled: Handled): void => {
  const { outcome, effects } = handled;
  for (const effect of effects) carryOutEffect(host, component, effect, envelope.flow);
  if (outcome.tag === 'failed') host.onFailed(component, envelope, outcome.problem);
  else envelope.onFate?.({ ok: true, reply: outcome.tag === 'replied' ? outcome.reply : '{}' });
};

const carryOutEffect = (host: CommitHost, component: BusComponent, effect: Effect, flow: string): void => {
  const { ports } = host;
  if (effect.kind === 'log') ports.log(component.name, effect.level, effect.text);
  else if (effect.kind === 'wake') ports.wake(component.name, effect.token, effect.afterMs);
  else if (effect.kind === 'write') ports.write(component.name, effect.process, effect.text);
  else if (effect.kind === 'kill') ports.kill(component.name, effect.process);
  else if (effect.kind === 'release') ports.release(component.name, effect.process);
  else if (effect.kind === 'publish') {
    const topic = host.topics.get(effect.topic);
    host.publish(component, effect, topic.ok ? topic.value.kind : 'event', flow);
  }
};
