/**
 * One live connection, from the handshake to its end. Everything of an attempt, the first list of tools included, has
 * one time.
 */
import type { Client } from '@modelcontextprotocol/client';
import { failed, ok, type Problem, type ProblemCode, problem, type Result } from '../../problems/index.ts';
import type { Processes } from '../../processes/index.ts';
import { leadsBack, stationsOf } from '../own.ts';
import { type Calls, openCalls } from './calls.ts';
import type { Connection, Json, ServerEntry, ServerTool } from './edge.ts';
import { modernRevision, shakeHands } from './handshake.ts';
import { openHttp } from './http.ts';
import type { ConnectionLimits } from './limits.ts';
import { type Link, share } from './link.ts';
import type { ServerLog } from './log.ts';
import { openStdio } from './stdio.ts';
import { markedSchemas, readTools } from './tools.ts';
import { type Env, launchOf } from './variables.ts';
import { forgotten } from './wire.ts';

export interface LivePorts {
  readonly processes: Processes;
  readonly env: Env;
  readonly redact: (text: string) => string;
  readonly cwd: string;
  readonly limits: ConnectionLimits;
  readonly now: () => number;
  readonly client: { readonly name: string; readonly version: string };
  readonly capabilities: Json;
  readonly isOwn: (url: URL) => boolean;
}

export type About = NonNullable<ReturnType<Connection['about']>>;
export interface Live {
  readonly calls: Calls;
  readonly about: About;
  /** As first listed. */
  readonly tools: readonly ServerTool[];
  readonly readTools: () => Promise<Result<readonly ServerTool[]>>;
  /** Why it ended, by itself. */
  readonly lost: Promise<Problem | typeof forgotten>;
  /** A call found that the server has no session of this name any more. */
  readonly forget: () => void;
  readonly end: (why: Problem) => Promise<void>;
}

const isModern = (version: string): boolean => version >= modernRevision;
/** Wait before a subscription that ended is opened again, ms. */
const listenAgainMs = [1_000, 5_000, 30_000] as const;

interface Dialling {
  readonly entry: ServerEntry;
  readonly log: ServerLog;
  readonly attemptMs: number;
  /** The attempt is not wanted any more. */
  readonly signal: AbortSignal;
  readonly heard: (method: string, params: Json) => void;
}

export const dial = async (
  ports: LivePorts,
  { entry, log, attemptMs, signal, heard }: Dialling,
): Promise<Result<Live>> => {
  const { limits, env, redact } = ports;
  const { transport } = entry;
  const named = (code: ProblemCode, evidence?: string): Problem =>
    problem(code, { subject: entry.name, ...(evidence === undefined ? {} : { evidence }) });
  if (transport === undefined) return failed(entry.fault ?? named('connections/no-transport'));

  const sdk = await import('@modelcontextprotocol/client');
  const over = Promise.withResolvers<Problem | typeof forgotten>();
  let calls: Calls | undefined;
  let schemas: ReadonlyMap<string, unknown> = new Map();
  let troubled = false;

  const hear = (message: Json): void => shared.hear(message);
  const openLink = (): Promise<Result<Link>> => {
    if (transport.type === 'stdio') {
      const launch = launchOf(entry, transport, env);
      if (!launch.ok) return Promise.resolve(launch);
      return openStdio({
        processes: ports.processes,
        entry,
        launch: launch.value,
        cwd: ports.cwd,
        lineBytes: limits.messageBytes,
        log,
        hear,
        tooLarge: (id) => {
          if (calls === undefined)
            over.resolve(named('connections/too-large', `${limits.messageBytes} bytes`));
          else calls.tooLarge(id);
        },
        broken: (id) => {
          // Before the handshake is over, whatever is broken is what is waited for.
          if (calls === undefined) over.resolve(named('connections/broken-frame', log.last()));
          else calls.broken(id);
        },
        lost: over.resolve,
      });
    }
    return openHttp({
      entry,
      transport,
      env,
      redact,
      isOwn: ports.isOwn,
      messageBytes: limits.messageBytes,
      hear,
      tooLarge: (id) => calls?.tooLarge(id),
      lost: over.resolve,
      trouble: () => void look(),
      schemaOf: (tool) => schemas.get(tool),
    });
  };
  /** Whether the server is still there, and still knows us; what is not shows in the answer. */
  const look = async (): Promise<void> => {
    if (calls === undefined || troubled) return;
    troubled = true;
    const modern = isModern(version);
    if ((await calls.request(modern ? 'server/discover' : 'ping', {})) === forgotten) over.resolve(forgotten);
    troubled = false;
  };

  const shared = share(
    () => link,
    (message) => calls?.heard(message) ?? false,
  );
  const opened = await openLink();
  if (!opened.ok) return opened;
  const link = opened.value;
  let version = '';
  let client: Client | undefined;

  const timer = AbortSignal.timeout(attemptMs);
  const stop = AbortSignal.any([timer, signal]);
  const stopped = new Promise<Problem>((resolve) => {
    const told = (): void =>
      resolve(named(signal.aborted ? 'connections/cancelled' : 'connections/slow', `${attemptMs} ms`));
    if (stop.aborted) told();
    else stop.addEventListener('abort', told, { once: true });
  });

  const end = async (why: Problem): Promise<void> => {
    over.resolve(why);
    calls?.end(why);
    await client?.close().catch(() => {});
    await link.close();
  };

  const attempt = async (): Promise<Result<Live>> => {
    const refused = await shakeHands(sdk, shared, {
      entry,
      transport: transport.type,
      client: ports.client,
      capabilities: ports.capabilities,
      attemptMs,
      signal: stop,
      redact,
      using: (made) => {
        client = made;
      },
    });
    if (refused !== undefined) return failed(refused);
    version = client?.getNegotiatedProtocolVersion() ?? '';
    const modern = isModern(version);
    const told = shared.told() ?? {};
    const stations = stationsOf(told);
    if (leadsBack(stations))
      return failed(
        named(
          'connections/own-address',
          stations.length === 1 ? 'it answers as this station' : 'it leads back here through other stations',
        ),
      );
    const meta = told['_meta'] as Json | undefined;
    const about: About = {
      serverInfo: (told['serverInfo'] ?? meta?.[sdk.SERVER_INFO_META_KEY] ?? {}) as Json,
      capabilities: (told['capabilities'] ?? {}) as Json,
      ...(typeof told['instructions'] === 'string' ? { instructions: told['instructions'] } : {}),
      protocolVersion: version,
      ...(stations.length === 0 ? {} : { stations }),
    };
    const envelope = (asks: boolean, what = ports.capabilities): Json => ({
      [sdk.PROTOCOL_VERSION_META_KEY]: version,
      [sdk.CLIENT_INFO_META_KEY]: ports.client,
      [sdk.CLIENT_CAPABILITIES_META_KEY]: asks ? what : {},
    });
    const made = openCalls(
      {
        send: link.send,
        modern,
        ownStreams: link.ownStreams,
        name: entry.name,
        ...(modern ? { envelope } : {}),
      },
      limits,
      ports.now,
      heard,
    );
    calls = made;
    const hasTools = about.capabilities['tools'] !== undefined;
    const list = async (): Promise<Result<readonly ServerTool[]>> => {
      const read = await readTools(made, entry.name, limits);
      if (!read.ok || !modern || !link.ownStreams) return read;
      const marked = markedSchemas(read.value);
      schemas = marked.schemas;
      return ok(marked.offered);
    };
    const tools = hasTools ? await list() : ok<readonly ServerTool[]>([]);
    if (!tools.ok) return tools;
    if (modern) void listen(about.capabilities);
    return ok({
      calls: made,
      about,
      tools: tools.value,
      readTools: list,
      lost: over.promise,
      forget: () => over.resolve(forgotten),
      end,
    });
  };

  /** What the server says unasked comes by subscription since 2026-07-28. */
  const listen = async (capabilities: Json): Promise<void> => {
    const changes = (kind: string): boolean =>
      (capabilities[kind] as { listChanged?: unknown } | undefined)?.listChanged === true;
    const filter = {
      ...(changes('tools') ? { toolsListChanged: true } : {}),
      ...(changes('prompts') ? { promptsListChanged: true } : {}),
      ...(changes('resources') ? { resourcesListChanged: true } : {}),
    };
    if (Object.keys(filter).length === 0) return;
    let ended = false;
    void over.promise.then(() => {
      ended = true;
    });
    for (let tried = 0; !ended; tried += 1) {
      try {
        const subscription = await client?.listen(filter);
        // What changed while nobody listened was not told.
        if (tried > 0) heard('notifications/tools/list_changed', {});
        tried = 0;
        await subscription?.closed;
      } catch {
        // Not to be had now, or not at all; asked again later.
      }
      if (ended) return;
      await look();
      const wait = listenAgainMs[Math.min(tried, listenAgainMs.length - 1)];
      await Promise.race([over.promise, new Promise((done) => setTimeout(done, wait).unref())]);
    }
  };

  const lostFirst = over.promise.then((why) =>
    failed(why === forgotten ? named('connections/session-forgotten') : why),
  );
  const result = await Promise.race([attempt(), lostFirst, stopped.then(failed)]);
  if (!result.ok) await end(result.problem);
  return result;
};
