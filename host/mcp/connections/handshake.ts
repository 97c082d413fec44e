/**
 * In which words a server is greeted. The official client does it: over HTTP it asks for the newest revision first; a
 * program is asked with `initialize` first, since some end at any other question and must not be started twice; one that
 * knows only newer revisions says so and is asked again in its own words.
 */
import type { Client } from '@modelcontextprotocol/client';
import { type Problem, problem } from '../../problems/index.ts';
import type { Json } from '../json.ts';
import type { ServerEntry } from './edge.ts';
import { httpProblem } from './http-problem.ts';
import type { Shared } from './link.ts';

export const modernRevision = '2026-07-28';
/** Of a server's own words in its refusal, UTF-16 units. */
const shownUnits = 300;

type Sdk = typeof import('@modelcontextprotocol/client');
type Mode = 'auto' | 'legacy' | { readonly pin: string };

export interface Greeting {
  readonly entry: ServerEntry;
  readonly transport: 'stdio' | 'http';
  readonly client: { readonly name: string; readonly version: string };
  readonly capabilities: Json;
  readonly attemptMs: number;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  /** The client that greets now; whoever ends the attempt closes it. */
  readonly using: (client: Client) => void;
}

/** Undefined once hands are shaken, with the client named last; otherwise what the server said first. */
export const shakeHands = async (
  sdk: Sdk,
  shared: Shared,
  { entry, transport, client, capabilities, attemptMs, signal, redact, using }: Greeting,
): Promise<Problem | undefined> => {
  // What is declared here holds for the connection, and a server keeps the roots it is told: those of one session would
  // hold for all. Since 2026-07-28 each request declares for itself.
  const { roots: _perRequest, ...declared } = capabilities;
  const greet = async (mode: Mode): Promise<Error | undefined> => {
    const made = new sdk.Client(
      { ...client },
      { capabilities: declared as never, versionNegotiation: { mode } },
    );
    using(made);
    try {
      await made.connect(shared.transport(), { timeout: attemptMs, signal });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const refusedBy = (error: Error): Problem => {
    const { code } = error as { code?: unknown };
    if (!(error instanceof sdk.ProtocolError)) return httpProblem(entry, error, redact);
    const evidence = redact(`error ${String(code)}: ${error.message}`).slice(0, shownUnits);
    return problem('connections/handshake', { subject: entry.name, evidence });
  };

  if (transport === 'stdio') {
    const first = await greet('legacy');
    if (first === undefined) return undefined;
    const again = first instanceof sdk.ProtocolError ? await greet({ pin: modernRevision }) : first;
    return again === undefined ? undefined : refusedBy(first);
  }
  const first = await greet('auto');
  if (first === undefined) return undefined;
  const found = refusedBy(first);
  // Some older servers answer what they do not know with an internal error.
  if (found.code !== 'connections/http' && found.code !== 'connections/handshake') return found;
  const again = await greet('legacy');
  return again === undefined ? undefined : refusedBy(again);
};
