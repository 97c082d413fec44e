/**
 * One server for as long as it is configured: dialled, lost, dialled again. One loop does it, so that a program is
 * started only when the one before is gone with its group, however often somebody asks for a reconnection.
 */
import { failed, ok, type Problem, type ProblemCode, problem, type Result } from '../../problems/index.ts';
import type {
  Answered,
  Connection,
  ConnectionStatus,
  Json,
  RequestOptions,
  ServerEntry,
  ServerTool,
} from './edge.ts';
import { dial, type Live, type LivePorts } from './live.ts';
import { openServerLog } from './log.ts';
import { type Refreshing, refreshing, sameTools } from './tools.ts';
import type { Turns } from './turns.ts';
import { forgotten } from './wire.ts';

export interface ConnectionPorts extends LivePorts {
  readonly logs: string;
  readonly random: () => number;
  readonly turns: { readonly stdio: Turns; readonly http: Turns };
  readonly changed: (what: 'status' | 'tools') => void;
}

export interface Dialled {
  readonly connection: Connection;
  /** `connections/not-dialled` where its entry is disabled or wrong. */
  readonly reconnect: () => Result<void>;
  /** Resolves when nothing of it is left. */
  readonly close: () => Promise<void>;
}

/** Time an old session has for the calls it still answers, ms. */
const leaveMs = 2_000;
const noTools: readonly ServerTool[] = [];

const sameStatus = (a: ConnectionStatus, b: ConnectionStatus): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const statusWords = (status: ConnectionStatus): string => {
  if (status.state === 'failed') {
    const { code, message, evidence } = status.problem;
    return `failed: ${code}: ${message}${evidence === undefined ? '' : ` (${evidence})`}`;
  }
  return status.state === 'disabled' ? `disabled: ${status.reason}` : status.state;
};

/** What helps where dialling again does not. */
const wayBack = (status: ConnectionStatus): string | undefined => {
  if (status.state === 'disabled') return 'Where policy disabled it, `jupiter mcp enable NAME` turns it on.';
  if (status.state === 'needs authentication') return problem('connections/needs-authentication').fix;
  return status.state === 'failed' ? status.problem.fix : undefined;
};

/** `before` ends first: the connection this one takes the place of. */
export const openConnection = (
  ports: ConnectionPorts,
  entry: ServerEntry,
  before: Promise<void> = Promise.resolve(),
): Dialled => {
  const { limits } = ports;
  const fixed: ConnectionStatus | undefined =
    entry.disabled !== undefined
      ? { state: 'disabled', reason: entry.disabled }
      : entry.fault !== undefined
        ? { state: 'failed', problem: entry.fault }
        : undefined;
  let status: ConnectionStatus = fixed ?? { state: 'connecting' };
  let live: Live | undefined;
  let tools = noTools;
  let closed = false;
  /** Ends the attempt, the connection or the wait that is under way. */
  let phase = new AbortController();
  let failures = 0;
  let slow = 0;
  let renewedAt: number | undefined;
  const { promise: closing, resolve: nowClosing } = Promise.withResolvers<void>();
  /** Set while a server that forgot its session is greeted anew: calls wait for it. */
  let renewing: PromiseWithResolvers<void> | undefined;
  const listeners = new Set<(method: string, params: Json) => void>();

  const settleRenewal = (): void => {
    renewing?.resolve();
    renewing = undefined;
  };
  const lost = (evidence: string): Problem => problem('connections/lost', { subject: entry.name, evidence });
  const become = (now: ConnectionStatus): void => {
    if (sameStatus(status, now)) return;
    status = now;
    ports.changed('status');
  };
  const takeTools = (now: readonly ServerTool[]): void => {
    if (sameTools(tools, now)) return;
    tools = now;
    ports.changed('tools');
  };
  const failure = (found: Problem): ConnectionStatus =>
    found.code === 'connections/needs-authentication'
      ? { state: 'needs authentication' }
      : { state: 'failed', problem: found };
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
      if (signal.aborted) resolve();
    });
  const aborted = (signal: AbortSignal): Promise<'stopped'> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve('stopped');
      else signal.addEventListener('abort', () => resolve('stopped'), { once: true });
    });

  /** Old sessions whose last calls are still answered. */
  const leaving = new Set<Promise<void>>();
  const leave = (made: Live): void => {
    const stop = new AbortController();
    const last = Promise.race([made.calls.idle(), pause(leaveMs, stop.signal), closing]).then(async () => {
      stop.abort();
      await made.end(lost('the server forgot its session'));
      leaving.delete(last);
    });
    leaving.add(last);
  };

  /** From connected to whatever ends it. True: dial again at once. */
  const hold = async (made: Live, signal: AbortSignal, refresh: Refreshing): Promise<boolean> => {
    const since = performance.now();
    live = made;
    takeTools(made.tools);
    become({ state: 'connected' });
    settleRenewal();
    const why = await Promise.race([made.lost, aborted(signal)]);
    refresh.stop();
    live = undefined;
    if (why === 'stopped') {
      await made.end(lost('it was reconnected or let go'));
      return true;
    }
    const steady = performance.now() - since >= limits.steadyMs;
    if (why === forgotten) {
      const before = renewedAt;
      renewedAt = performance.now();
      if (before === undefined || renewedAt - before > limits.steadyMs) {
        // One new session at once; calls that were not done are sent again on it.
        renewing ??= Promise.withResolvers();
        leave(made);
        return true;
      }
    }
    const found = why === forgotten ? problem('connections/session-forgotten', { subject: entry.name }) : why;
    const again = steady && found.code !== 'connections/needs-authentication' && why !== forgotten;
    if (again) failures = 0;
    become(again ? { state: 'connecting' } : failure(found));
    settleRenewal();
    await made.end(
      found.code === 'connections/too-large'
        ? found
        : lost(`${found.code}: ${found.evidence ?? found.message}`),
    );
    return again;
  };

  const run = async (): Promise<void> => {
    await before;
    const log = openServerLog(ports.logs, entry, ports.redact, limits.logBytes);
    const turns = entry.transport?.type === 'http' ? ports.turns.http : ports.turns.stdio;
    while (!closed) {
      const { signal } = phase;
      let refresh: Refreshing | undefined;
      const heard = (method: string, params: Json): void => {
        if (method === 'notifications/tools/list_changed') refresh?.asked();
        if (!method.startsWith('notifications/subscriptions/'))
          for (const listener of listeners) listener(method, params);
      };
      const give = await turns.take(signal, failures + slow > 0);
      if (signal.aborted) continue;
      const attemptMs = Math.min(limits.mostAttemptMs, limits.attemptMs * 2 ** Math.min(slow, 10));
      const dialled = await dial(ports, { entry, log, attemptMs, signal, heard });
      give();
      if (dialled.ok && signal.aborted) await dialled.value.end(lost('it was reconnected or let go'));
      else if (dialled.ok) {
        const made = dialled.value;
        slow = 0;
        refresh = refreshing(async () => {
          const read = await made.readTools();
          if (!read.ok) log.note(`its tools could not be read again: ${read.problem.code}`);
          else if (live === made) takeTools(read.value);
        }, limits);
        if (await hold(made, signal, refresh)) continue;
      } else if (!signal.aborted) {
        const found = dialled.problem;
        if (found.code === 'connections/slow') slow += 1;
        // Nobody lets it in by waiting: asked seldom.
        else failures += found.code === 'connections/needs-authentication' ? 8 : 0;
        become(found.code === 'connections/slow' ? { state: 'connecting' } : failure(found));
        settleRenewal();
        log.note(`not connected: ${found.code}: ${found.evidence ?? found.message}`);
      }
      if (signal.aborted) continue;
      failures += 1;
      const wait = Math.min(limits.mostBackoffMs, limits.backoffMs * 2 ** Math.min(failures - 1, 20));
      await pause(wait * (0.9 + 0.2 * ports.random()), signal);
    }
    settleRenewal();
    await Promise.all(leaving);
    log.close();
  };

  const restart = (): void => {
    const old = phase;
    phase = new AbortController();
    old.abort();
  };
  const running = fixed === undefined ? run() : before;

  const asItIs = (code: ProblemCode): Problem => {
    const fix = wayBack(status);
    return problem(code, {
      subject: entry.name,
      evidence: statusWords(status),
      ...(fix === undefined ? {} : { fix }),
    });
  };
  const unreachable = (): Answered => ({ problem: asItIs('connections/not-connected') });

  const connection: Connection = {
    entry,
    status: () => status,
    tools: () => tools,
    about: () => live?.about,
    request: async (method: string, params: Json, options?: RequestOptions) => {
      if (live === undefined) await renewing?.promise;
      const used = live;
      if (used === undefined) return unreachable();
      const first = await used.calls.request(method, params, options);
      if (first !== forgotten) return first;
      if (live === used) {
        live = undefined;
        renewing ??= Promise.withResolvers();
        used.forget();
      }
      await renewing?.promise;
      const second = await (live as Live | undefined)?.calls.request(method, params, options);
      if (second === undefined) return unreachable();
      if (second !== forgotten) return second;
      (live as Live | undefined)?.forget();
      return { problem: problem('connections/session-forgotten', { subject: entry.name }) };
    },
    notify: (method, params) => live?.calls.notify(method, params),
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    connection,
    reconnect: () => {
      if (fixed !== undefined) return failed(asItIs('connections/not-dialled'));
      become({ state: 'connecting' });
      restart();
      return ok(undefined);
    },
    close: async () => {
      closed = true;
      nowClosing();
      restart();
      await running;
    },
  };
};
