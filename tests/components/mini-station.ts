/**
 * Just enough of a station to run real guests against each other and against real agent processes: delivery, command
 * addressing, replies, processes by alias. Every payload is checked against its topic, and every topic against the
 * manifest of the component that publishes it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Schema, Validator } from '@cfworker/json-schema';
import { shapeOf } from '../../contracts/shapes.ts';
import { firstPartyTopics } from '../../contracts/topics/index.ts';
import type { Manifest } from '../../host/bundles/index.ts';
import type { Problem } from '../../host/problems/index.ts';
import { type Asked, type Guest, loadGuest, type Platform, refusal, type Sent } from './guest-host.ts';

const batchSize = 32;
const topics = new Map(firstPartyTopics.map((topic) => [topic.id, topic]));

export interface MiniOptions {
  readonly bundles: string;
  readonly guests: readonly ('sessions' | 'adapter' | 'echo')[];
  /** Alias → command and arguments. */
  readonly programs?: Readonly<Record<string, readonly [string, ...string[]]>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly servers?: Platform['servers'];
  readonly serversFor?: Platform['serversFor'];
  readonly placeSkills?: Platform['placeSkills'];
  readonly outside?: Platform['outside'];
}
interface Running {
  readonly name: string;
  readonly component: Manifest['components'][number];
  readonly guest: Guest;
  readonly inbox: Sent[];
}
interface Seen {
  readonly topic: string;
  readonly payload: Record<string, unknown>;
  readonly source: string;
}
export interface MiniStation {
  /** Runs a command to its end; its reply, or throws its problem. */
  readonly ask: (topic: string, payload: unknown, source?: string) => Record<string, unknown>;
  /** Delivers as if `source` had sent it. */
  readonly inject: (component: string, sent: Sent) => void;
  /** Resolves with the first event, past or to come, that the test is waiting for. */
  readonly until: (what: (seen: Seen) => boolean) => Promise<Seen>;
  readonly seen: readonly Seen[];
  readonly logs: readonly string[];
  readonly faults: readonly string[];
  /** Commands nobody handled, as faults have them. */
  readonly unhandled: readonly string[];
  /** What was written to processes, a line each. */
  readonly written: readonly string[];
  readonly wakes: readonly { readonly component: string; readonly token: string; readonly afterMs: number }[];
  readonly guest: (name: string) => Guest;
  readonly stop: () => Promise<void>;
}

const validators = new Map<string, Validator>();
/** What a station would refuse the payload for, by the topic's JSON Schema. */
const refused = (
  topicId: string,
  part: 'request' | 'reply' | 'event',
  payload: unknown,
): string | undefined => {
  const topic = topics.get(topicId);
  const schema = topic === undefined ? undefined : shapeOf(topic)[part];
  if (schema === undefined) return `no such ${part}: ${topicId}`;
  const key = `${topicId} ${part}`;
  const validator = validators.get(key) ?? new Validator(schema as Schema, '2020-12');
  validators.set(key, validator);
  const result = validator.validate(payload);
  return result.valid ? undefined : `${key}: ${result.errors.map(({ error }) => error).join(' ')}`;
};

export const startMini = async (options: MiniOptions): Promise<MiniStation> => {
  const running: Running[] = [];
  const children = new Map<string, ChildProcess>();
  const seen: Seen[] = [];
  const logs: string[] = [];
  const faults: string[] = [];
  const written: string[] = [];
  const wakes: { component: string; token: string; afterMs: number }[] = [];
  const waiting: { readonly what: (seen: Seen) => boolean; readonly found: (seen: Seen) => void }[] = [];
  const replies = new Map<string, { reply?: unknown; problem?: Problem }>();
  let pumping = false;
  let spawned = 0;

  const byName = (name: string): Running => {
    const found = running.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no component ${name}`);
    return found;
  };

  const spawnProgram = (component: string) => (alias: string, cwd: string) => {
    const command = options.programs?.[alias];
    if (command === undefined)
      return refusal({ code: 'process/not-found', message: `no program ${alias}`, subject: alias });
    spawned += 1;
    const id = `p${spawned}`;
    const [file, ...args] = command;
    const child = spawn(file, args, {
      cwd,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...options.env },
    });
    children.set(id, child);
    const lines = createInterface({ input: child.stdout, crlfDelay: 0 });
    let closed = false;
    const tell = (topic: string, payload: unknown): void => {
      byName(component).inbox.push({ topic, payload: JSON.stringify(payload), source: 'station' });
      pump();
    };
    lines.on('line', (line) => tell('station.process.line', { process: id, line }));
    lines.on('close', () => {
      closed = true;
      // An agent that closed its output can say nothing any more: the real station ends it as well.
      if (child.exitCode === null && child.signalCode === null) end(id);
    });
    child.on('exit', (code, signal) => {
      const gone = (): void => tell('station.process.exited', { process: id, code, signal });
      if (closed) gone();
      else lines.on('close', gone);
    });
    child.stdin.on('error', () => {});
    return id;
  };
  const end = (id: string): void => {
    const pid = children.get(id)?.pid;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
  };

  const deliver = (from: Running, asked: Asked): void => {
    for (const text of asked.written) {
      written.push(text.text.trimEnd());
      children.get(text.process)?.stdin?.write(text.text);
    }
    for (const id of asked.killed) end(id);
    for (const wake of asked.wakes) {
      wakes.push({ component: from.name, ...wake });
      // What is to be next is next; nothing else of the clock runs here.
      if (wake.afterMs === 0)
        from.inbox.push({
          topic: 'station.woke',
          payload: JSON.stringify({ token: wake.token }),
          source: 'station',
        });
    }
    logs.push(...asked.logs);
    for (const { topic, payload, to, token } of asked.published) {
      const parsed = JSON.parse(payload) as Record<string, unknown>;
      if (!from.component.publishes.includes(topic)) faults.push(`${from.name} may not publish ${topic}`);
      const command = topics.get(topic)?.kind === 'command';
      const fault = refused(topic, command ? 'request' : 'event', parsed);
      if (fault !== undefined) faults.push(fault);
      const sent = { topic, payload, source: from.name };
      if (command) {
        const handler = running.filter(
          ({ name, component }) => component.handles.includes(topic) && (to === undefined || to === name),
        );
        const [only] = handler;
        if (handler.length !== 1 || only === undefined)
          faults.push(`${topic} has ${handler.length} handlers`);
        else only.inbox.push({ ...sent, ...(token === undefined ? {} : { token }) } as Sent);
      } else {
        const event = { topic, payload: parsed, source: from.name };
        seen.push(event);
        for (const { what, found } of waiting) if (what(event)) found(event);
        for (const { component, inbox } of running)
          if (component.subscribes.includes(topic)) inbox.push(sent);
      }
    }
  };

  const settle = (to: Running, sent: Sent & { readonly token?: string }, asked: Asked): void => {
    const { outcome } = asked;
    if (outcome.tag === 'done') return;
    const fate =
      outcome.tag === 'replied' ? { reply: JSON.parse(outcome.val) as unknown } : { problem: outcome.val };
    if (outcome.tag === 'failed' && outcome.val.code.startsWith('component/'))
      faults.push(`${to.name} ${sent.topic}: ${outcome.val.message} ${outcome.val.evidence ?? ''}`);
    if (sent.token === undefined) return;
    if (sent.source.startsWith('station:')) replies.set(sent.token, fate);
    else
      byName(sent.source).inbox.push({
        topic: 'station.reply',
        payload: JSON.stringify({ to: sent.token, topic: sent.topic, ...fate }),
        source: 'station',
      });
  };

  const pump = (): void => {
    if (pumping) return;
    pumping = true;
    for (let busy = true; busy; ) {
      busy = false;
      for (const each of running) {
        const batch = each.inbox.splice(0, batchSize);
        if (batch.length === 0) continue;
        busy = true;
        each.guest.handle(batch).forEach((asked, index) => {
          const sent = batch[index];
          deliver(each, asked);
          if (sent !== undefined) settle(each, sent, asked);
        });
      }
    }
    pumping = false;
  };

  for (const name of options.guests) {
    const folder = join(options.bundles, name);
    const manifest = JSON.parse(await readFile(join(folder, 'bundle.json'), 'utf8')) as Manifest;
    for (const component of manifest.components) {
      const id = `${manifest.id}:${component.id}`;
      const guest = await loadGuest(join(folder, component.entry), {
        spawn: spawnProgram(id),
        ...(options.servers === undefined ? {} : { servers: options.servers }),
        ...(options.serversFor === undefined ? {} : { serversFor: options.serversFor }),
        ...(options.placeSkills === undefined ? {} : { placeSkills: options.placeSkills }),
        ...(options.outside === undefined ? {} : { outside: options.outside }),
      });
      running.push({ name: id, component, guest, inbox: [] });
    }
  }

  let asks = 0;
  return {
    ask: (topic, payload, source = 'station:test') => {
      const fault = refused(topic, 'request', payload);
      if (fault !== undefined) throw new Error(fault);
      asks += 1;
      const token = `test-${asks}`;
      const handler = running.find(({ component }) => component.handles.includes(topic));
      handler?.inbox.push({
        topic,
        payload: JSON.stringify(payload),
        source,
        token,
      } as Sent);
      pump();
      const fate = replies.get(token);
      if (fate === undefined) throw new Error(`${topic} was not answered`);
      if (fate.problem !== undefined) throw Object.assign(new Error(fate.problem.message), fate.problem);
      const bad = refused(topic, 'reply', fate.reply);
      if (bad !== undefined) faults.push(bad);
      return fate.reply as Record<string, unknown>;
    },
    inject: (component, sent) => {
      byName(component).inbox.push(sent);
      pump();
    },
    until: (what) => {
      const past = seen.find(what);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((found) => waiting.push({ what, found }));
    },
    seen,
    logs,
    faults,
    get unhandled() {
      return faults.filter((text) => text.endsWith('has 0 handlers'));
    },
    written,
    wakes,
    guest: (name) => byName(name).guest,
    stop: async () => {
      const alive = [...children].filter(
        ([, { exitCode, signalCode }]) => exitCode === null && signalCode === null,
      );
      const gone = alive.map(([, child]) => new Promise((resolve) => child.once('exit', resolve)));
      for (const [id] of alive) end(id);
      await Promise.all(gone);
      for (const { guest } of running) await guest.close();
    },
  };
};
