/**
 * The bus: commands to one handler, events to their subscribers, each checked against its topic's shape before it is
 * delivered, each handled as one transaction. Components never call each other; they cannot wait for each other.
 */
import type { PolicySource } from '../policy/index.ts';
import { failed, ok, type Problem, type Result, refuse } from '../problems/index.ts';
import { type EventLog, openComponentStore, type State } from '../state/index.ts';
import { commitBatch, type Publish } from './commit.ts';
import type { Bus, BusComponent, EffectPorts } from './edge.ts';
import { busyMessages, type Envelope, type Fate, fairMessages } from './inbox.ts';
import { type Lane, openLane } from './lane.ts';
import { openLogRate } from './quota.ts';
import { openTopicRegistry } from './registry.ts';

export interface BusOptions {
  readonly state: State;
  readonly events: EventLog;
  readonly policy: PolicySource;
  readonly ports: EffectPorts;
  readonly now: () => number;
  /** Takes secrets out of what a command from outside carries, and out of what a component stores. */
  readonly redact: (text: string) => string;
}

/** Problems after which the worker was ended by the station, not by itself. */
const endedByForce = new Set<string>(['sandbox/deadline', 'sandbox/start-deadline']);

/** Whether one sends what the other handles. */
const commands = (one: BusComponent, other: BusComponent): boolean =>
  [...one.publishes].some((topic) => other.handles.has(topic));

export const openBus = (options: BusOptions): Bus => {
  const { state, events, policy, now } = options;
  // What a component asks another for is done at once: both are in one log, and what a power cut takes of it, it takes
  // from the end. What leaves the station waits until all before it is on disk.
  const ports: EffectPorts = {
    ...options.ports,
    write: (...told) => state.durable(() => options.ports.write(...told)),
    kill: (...told) => state.durable(() => options.ports.kill(...told)),
    release: (...told) => state.durable(() => options.ports.release(...told)),
  };
  const topics = openTopicRegistry();
  const store = openComponentStore(state.db);
  const lanes = new Map<string, Lane>();
  const logRate = openLogRate();
  const listeners = new Map<string, Set<(event: unknown, source: string) => void>>();
  let easedListeners: (() => void)[] = [];
  let parkedListeners: ((name: string) => void)[] = [];
  const run = now().toString(36);
  let count = 0;
  const nextId = () => {
    count += 1;
    return `m-${run}-${count}`;
  };

  const lanesWhere = (wanted: (component: BusComponent) => boolean): readonly Lane[] =>
    [...lanes.values()].filter((lane) => wanted(lane.component()));
  const isBusy = (lane: Lane) => lane.waiting() >= Math.min(busyMessages, lane.component().limits.inbox / 2);
  const subscribersOf = (topic: string) => lanesWhere((component) => component.subscribes.has(topic));

  const onFailed = (component: BusComponent, envelope: Envelope, why: Problem) => {
    if (envelope.onFate !== undefined) return envelope.onFate({ ok: false, problem: why });
    // That it stopped or is parked is told once, not for every line of a process it still owns.
    const idle = why.code === 'bus/component-stopped' || why.code === 'bus/component-parked';
    if (!idle || envelope.message.source !== 'station')
      events.add('fail', `${component.name} ${envelope.message.topic}`, why);
  };

  /** The one component a command goes to. */
  const handlerOf = (topic: string, to: string | undefined): Result<Lane> => {
    const candidates = lanesWhere((component) => component.handles.has(topic));
    const chosen = to === undefined ? candidates : candidates.filter((lane) => lane.component().name === to);
    const [only, another] = chosen;
    const subject = to === undefined ? topic : `${topic} for ${to}`;
    if (only === undefined)
      return refuse('bus/no-handler', { subject, message: `No running component handles ${subject}.` });
    if (another !== undefined) {
      const names = chosen.map((lane) => lane.component().name).sort();
      return refuse('bus/ambiguous', { subject, evidence: names.join(', ') });
    }
    const full = only.fullness();
    return full === undefined ? ok(only) : failed(full);
  };

  const send = (
    topic: string,
    payload: string,
    source: string,
    to: string | undefined,
    flow: string | undefined,
    onFate: (fate: Fate) => void,
  ): void => {
    const handler = handlerOf(topic, to);
    if (!handler.ok) onFate({ ok: false, problem: handler.problem });
    else {
      const message = { id: nextId(), topic, payload, source, at: now() };
      handler.value.offer({ message, flow: flow ?? message.id, command: true, onFate });
    }
  };

  const tell = (component: string, topic: string, payload: unknown, flow?: string) => {
    const message = { id: nextId(), topic, payload: JSON.stringify(payload), source: 'station', at: now() };
    lanes.get(component)?.offer({ message, flow: flow ?? message.id, command: false });
  };

  const publish = (component: BusComponent, effect: Publish, kind: 'command' | 'event', flow: string) => {
    if (kind === 'command') {
      send(effect.topic, effect.payload, component.name, effect.to ?? undefined, flow, (fate) => {
        if (effect.token === null) {
          if (!fate.ok) events.add('fail', `${component.name} ${effect.topic}`, fate.problem);
          return;
        }
        const answer = fate.ok ? { reply: JSON.parse(fate.reply) } : { problem: fate.problem };
        tell(component.name, 'station.reply', { to: effect.token, topic: effect.topic, ...answer }, flow);
      });
      return;
    }
    const message = {
      id: nextId(),
      topic: effect.topic,
      payload: effect.payload,
      source: component.name,
      at: now(),
    };
    for (const lane of subscribersOf(effect.topic)) lane.offer({ message, flow, command: false });
    const heard = listeners.get(effect.topic);
    if (heard === undefined || heard.size === 0) return;
    const event: unknown = JSON.parse(effect.payload);
    const hears = [...heard];
    state.durable(() => {
      for (const listener of hears) if (heard.has(listener)) listener(event, component.name);
    });
  };

  /** Who exchanged commands with it waits for nothing more from it. */
  const tellLeft = (gone: BusComponent, parked?: Problem) => {
    for (const other of lanesWhere((one) => one !== gone && (commands(one, gone) || commands(gone, one))))
      tell(other.component().name, 'station.left', {
        component: gone.name,
        ...(parked === undefined ? {} : { parked: parked.code }),
      });
  };

  const commitHost = {
    state,
    store,
    topics,
    policy: policy.current,
    ports,
    publish,
    onFailed,
    redact: options.redact,
    logRate,
    now,
    openRoom: () => {
      const coming = new Map<Lane, number>();
      return (topic: string): Result<void> => {
        for (const lane of subscribersOf(topic)) {
          const before = coming.get(lane) ?? 0;
          const full = lane.fullness(before);
          if (full !== undefined) return failed(full);
          coming.set(lane, before + 1);
        }
        return ok(undefined);
      };
    },
  };

  const laneHost = {
    ports,
    now,
    commit: (...[component, envelopes, handled]: Parameters<Parameters<typeof openLane>[1]['commit']>) =>
      commitBatch(commitHost, component, envelopes, handled),
    onFailed,
    onState: (component: BusComponent, kind: 'start' | 'fail' | 'park' | 'limit', why?: Problem) => {
      // That it is parked is a fact of its own, whatever came before it.
      events.add(kind !== 'park' && endedByForce.has(why?.code ?? '') ? 'kill' : kind, component.name, why);
      if (kind !== 'park') return;
      tellLeft(component, why);
      for (const listener of parkedListeners) listener(component.name);
    },
    onEased: () => {
      for (const listener of easedListeners) listener();
    },
  };

  return {
    topics,
    prepare: async (component) => {
      const lane = lanes.get(component.name) ?? openLane(component, laneHost);
      const prepared = await lane.prepare(component);
      if (!prepared.ok) return prepared;
      return ok({
        serve: async () => {
          await prepared.value.serve();
          lanes.set(component.name, lane);
        },
        discard: prepared.value.discard,
      });
    },
    detach: async (name) => {
      const lane = lanes.get(name);
      await lane?.stop();
      if (lane === undefined || lanes.get(name) !== lane) return;
      lanes.delete(name);
      logRate.forget(name);
      tellLeft(lane.component());
    },
    retry: async (name) => {
      const lane = lanes.get(name);
      return lane === undefined ? refuse('bus/no-handler', { subject: name }) : lane.retry();
    },
    command: async (topic, payload, { source, to }) => {
      const known = topics.get(topic);
      if (!known.ok) return known;
      if (known.value.kind !== 'command') return refuse('bus/topic-kind', { subject: topic });
      const text = options.redact(JSON.stringify(payload));
      const fits = known.value.request.check(text, topic);
      if (!fits.ok) return fits;
      const fate = await new Promise<Fate>((resolve) =>
        send(topic, text, source, to, undefined, (outcome) => state.durable(() => resolve(outcome))),
      );
      return fate.ok ? ok(JSON.parse(fate.reply)) : failed(fate.problem);
    },
    tell,
    hasRoom: (name, flow) => {
      const lane = lanes.get(name);
      if (lane === undefined) return true;
      const takes = (one: Lane) => !isBusy(one) || one.waitingOf(flow) < fairMessages;
      if (!takes(lane)) return false;
      const { publishes } = lane.component();
      return [...lanes.values()].every(
        (other) =>
          other === lane ||
          takes(other) ||
          ![...other.component().subscribes].some((topic) => publishes.has(topic)),
      );
    },
    onEased: (listener) => {
      easedListeners = [...easedListeners, listener];
    },
    onParked: (listener) => {
      parkedListeners = [...parkedListeners, listener];
    },
    listen: (topic, listener) => {
      const heard = listeners.get(topic) ?? new Set();
      listeners.set(topic, heard.add(listener));
      return () => void heard.delete(listener);
    },
    status: () => [...lanes.values()].map((lane) => lane.status()),
    close: async () => {
      await Promise.all([...lanes.values()].map((lane) => lane.stop()));
      await state.flushed();
      lanes.clear();
    },
  };
};
