/**
 * A server over HTTP, through the SDK's transport: sessions, event streams and taking them up again, standard headers.
 * Ours are the headers of the entry, read at each request; the bound on what is read; and what a refusal means.
 */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { failed, ok, type Problem, ProblemError, problem, type Result } from '../../problems/index.ts';
import type { Json, ServerEntry } from './edge.ts';
import { causesOf, httpProblem, jsonRpcError, refusalIn } from './http-problem.ts';
import type { Link } from './link.ts';
import { parameterHeaders } from './parameters.ts';
import { patientAgent } from './patient.ts';
import { type Env, headersOf, urlOf } from './variables.ts';
import { forgotten, type Outcome } from './wire.ts';

/** Ours, from a call to the reading of its answer; never sent. */
const callHeader = 'x-jupiter-call';
/** Named by the protocol: no entry may set them. */
const protocolHeaders = /^(accept|content-type|content-length|host|connection|last-event-id|mcp-.*)$/i;
/** Time for saying goodbye to a session, ms. */
const farewellMs = 1_000;
/** An event stream that ends is taken up again for as long as the connection is wanted. */
const reconnections = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10_000,
};
/** Soonest that a stream is taken up again, ms: a server may say `retry: 0` and end each one at once, for ever. */
const leastReconnectMs = 250;

export interface HttpOptions {
  readonly entry: ServerEntry;
  readonly transport: Extract<ServerEntry['transport'], { type: 'http' }>;
  readonly env: Env;
  readonly redact: (text: string) => string;
  /** Of this station itself. */
  readonly isOwn: (url: URL) => boolean;
  readonly messageBytes: number;
  readonly hear: (message: Json) => void;
  readonly tooLarge: (id: number) => void;
  /** The server is not there any more, or lets nobody in. */
  readonly lost: (why: Problem) => void;
  /** The stream for what the server says unasked could not be opened. */
  readonly trouble: () => void;
  /** The input schema of a tool, where it has parameters that are headers as well. */
  readonly schemaOf: (tool: string) => unknown;
}

/** Ends the stream once a message is longer than the bound; of an event stream each event counts for itself. */
const bounded = (
  body: ReadableStream<Uint8Array>,
  events: boolean,
  most: number,
  over: () => Error,
): ReadableStream<Uint8Array> => {
  let since = 0;
  let tail = Buffer.alloc(0);
  const endOfEvent = (bytes: Buffer): number =>
    Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'), bytes.lastIndexOf('\r\r'));
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        since += chunk.length;
        if (events) {
          const bytes = Buffer.concat([tail, chunk]);
          const end = endOfEvent(bytes);
          if (end >= 0) since = bytes.length - end;
          tail = bytes.subarray(-3);
        }
        if (since > most) controller.error(over());
        else controller.enqueue(chunk);
      },
    }),
  );
};

export const openHttp = async (options: HttpOptions): Promise<Result<Link>> => {
  const { entry, transport, env, redact, messageBytes } = options;
  const url = urlOf(entry, transport, env);
  if (!url.ok) return url;
  if (options.isOwn(url.value))
    return failed(problem('connections/own-address', { subject: entry.name, evidence: url.value.origin }));
  const checked = headersOf(entry, transport, env);
  if (!checked.ok) return checked;
  const { StreamableHTTPClientTransport: Streamable } = await import('@modelcontextprotocol/client');
  const dispatcher = await patientAgent();
  const subject = entry.name;

  const guarded = async (target: string | URL, init: RequestInit = {}): Promise<Response> => {
    const own = headersOf(entry, transport, env);
    if (!own.ok) throw new ProblemError(own.problem);
    const headers = new Headers(init.headers);
    const call = headers.get(callHeader);
    headers.delete(callHeader);
    for (const [name, value] of Object.entries(own.value))
      if (!protocolHeaders.test(name)) headers.set(name, value);
    const unasked = init.method === 'GET';
    let response: Response;
    try {
      response = await fetch(target, { ...init, headers, dispatcher } as RequestInit);
    } catch (error) {
      if (unasked && init.signal?.aborted !== true) options.trouble();
      throw error;
    }
    const { status } = response;
    if (status === 401 || (status === 403 && response.headers.has('www-authenticate'))) {
      await response.body?.cancel().catch(() => {});
      throw new ProblemError(
        problem('connections/needs-authentication', { subject, evidence: `HTTP ${status}` }),
      );
    }
    if (unasked && (status === 404 || status >= 500)) options.trouble();
    const { body } = response;
    if (body === null || (status >= 300 && status < 400)) return response;
    const length = response.headers.get('content-length');
    const events = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (length !== null && Number(length) <= messageBytes) return response;
    const over = (): Error => {
      if (call !== null) options.tooLarge(Number(call));
      return new ProblemError(
        problem('connections/too-large', { subject, evidence: `more than ${messageBytes} bytes` }),
      );
    };
    if (length !== null) {
      await body.cancel().catch(() => {});
      throw over();
    }
    return new Response(bounded(body, events, messageBytes, over), {
      status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };

  const real: StreamableHTTPClientTransport = new Streamable(url.value, {
    fetch: guarded,
    reconnectionOptions: reconnections,
    reconnectionScheduler: (reconnect, delay) => {
      const timer = setTimeout(reconnect, Math.max(delay, leastReconnectMs));
      return () => clearTimeout(timer);
    },
  });
  real.onmessage = (message) => options.hear(message as unknown as Json);
  await real.start();

  const outcomeOf = (error: unknown): Outcome => {
    const refusal = refusalIn(causesOf(error));
    if (refusal !== undefined && real.sessionId !== undefined) {
      if (refusal.status === 404 || (refusal.status === 400 && /session/i.test(refusal.text)))
        return forgotten;
    }
    const answered = refusal === undefined ? undefined : jsonRpcError(refusal.text);
    if (answered !== undefined) return { error: answered };
    const found = httpProblem(entry, error, redact);
    if (found.code === 'connections/unreachable' || found.code === 'connections/needs-authentication')
      options.lost(found);
    if (found.code === 'connections/unreachable')
      return {
        problem: problem('connections/lost', {
          subject,
          ...(found.evidence === undefined ? {} : { evidence: found.evidence }),
        }),
      };
    return { problem: found };
  };

  return ok({
    carry: (message, sendOptions) => real.send(message as never, sendOptions as never),
    send: (message, sent, tell) => {
      if (sent === undefined) {
        real.send(message as never).catch((error: unknown) => tell(outcomeOf(error)));
        return;
      }
      const { id, signal } = sent;
      real
        .send(message as never, {
          requestSignal: signal,
          headers: { [callHeader]: String(id), ...parameterHeaders(message, options.schemaOf) },
          onRequestStreamEnd: () =>
            tell({
              problem: problem('connections/lost', {
                subject,
                evidence: 'its stream ended without an answer',
              }),
            }),
        })
        .catch((error: unknown) => {
          if (!signal.aborted) tell(outcomeOf(error));
        });
    },
    ownStreams: true,
    sessionId: () => real.sessionId,
    speak: (version) => real.setProtocolVersion(version),
    close: async () => {
      if (real.sessionId !== undefined)
        await Promise.race([
          real.terminateSession().catch(() => {}),
          new Promise((done) => setTimeout(done, farewellMs).unref()),
        ]);
      await real.close();
    },
  });
};
