/**
 * What the gateway keeps while a session may call: its token as a hash, and for each server it speaks to the clients
 * that said `initialize`, the requests that wait, and whoever listens for changes. Nothing of it outlives the session.
 */
import { timingSafeEqual } from 'node:crypto';
import { digest, newToken } from '../../http/index.ts';
import type { Answered, Connection, Json, RequestOptions } from '../connections/edge.ts';
import type { GatewayServer } from './edge.ts';
import { clients as mostClients } from './limits.ts';
import type { Offer } from './offer.ts';
import { type Era, type Id, newestOlder } from './protocol.ts';

/** Who hears of changes: a stream of a client, or a line connection. */
export interface Listener {
  readonly wants: (method: string, params: Json) => boolean;
  /** Resources it is told the changes of, beside those its client subscribed. */
  readonly uris?: readonly string[];
  readonly tell: (method: string, params: Json) => void;
  readonly end: () => void;
}

/** One client of the agent at one server. */
export interface Client {
  /** The session ID of the older revisions; empty for requests that stand alone. */
  readonly id: string;
  readonly version: string;
  /** What it declared in `initialize`. */
  readonly capabilities: Json;
  /** Least severe log message it wants, of `logging/setLevel`. */
  level?: string;
  readonly subscribed: Set<string>;
  /** By the ID the client gave it; by none where requests stand alone. */
  readonly running: Map<Id | symbol, Exchange>;
  /** What the client was asked and has not answered, by the ID the gateway gave it. */
  readonly asked: Map<Id, (answered: Answered) => void>;
  /** The newest stream it opened for itself. */
  stream: Listener | undefined;
  /** Answers what servers ask of it, for all its calls. */
  answer?: RequestOptions['onAsk'];
}

/** One request, until its answer. */
export interface Exchange {
  readonly era: Era;
  readonly id: Id;
  readonly place: Place;
  readonly client: Client;
  readonly capabilities: Json;
  /** Of 2026-07-28: log messages are wanted with this request, from this level on. */
  readonly logLevel: string | undefined;
  readonly progressToken: Id | undefined;
  /** Runs of the stations it came by. */
  readonly stations: readonly string[];
  /** Cancelled, dismissed, or (2026-07-28) the client left. */
  readonly stop: AbortController;
  /** Nobody could receive the answer any more. */
  readonly left: AbortController;
  /** Before the answer, on the way to whoever waits for it. */
  readonly send: (message: Json) => void;
  /** Shows that it is alive. */
  readonly pulse: () => void;
  /** Asks the client something meanwhile, as the older revisions do; absent where it could not answer. */
  readonly ask?: (method: string, params: Json, signal: AbortSignal) => Promise<Answered>;
  /** Of a call that was let through: what is called, as the agent knows it. */
  tool?: string;
  /** Set while a person is waited for: the pulse tells it as progress. */
  waiting: string | undefined;
}

/** One session at one server. */
export interface Place {
  readonly session: Session;
  readonly alias: string;
  /** As it was when last looked up. */
  server: GatewayServer;
  readonly clients: Map<string, Client>;
  /** Stands for requests without a session ID. */
  readonly anyone: Client;
  readonly exchanges: Set<Exchange>;
  readonly listeners: Set<Listener>;
  /** The offer of the turn that runs. */
  frozen: Offer | undefined;
  /** The offer the agent was shown last. */
  shown: Offer | undefined;
  /** Changes held until the turn ends. */
  readonly held: Set<string>;
  /** Stages that were told. */
  readonly stages: Set<string>;
  /** Answers what the server asks of a person, for all calls. */
  answer?: RequestOptions['onAsk'];
}

export interface Session {
  readonly id: string;
  readonly digest: Buffer;
  readonly places: Map<string, Place>;
  /** Things that end with it: line connections, calls that wait for a second round. */
  readonly ends: Set<() => void>;
  /** Requests that wait for their answer. */
  running: number;
  ended: boolean;
}

export const newClient = (id: string, version: string, capabilities: Json): Client => ({
  id,
  version,
  capabilities,
  subscribed: new Set(),
  running: new Map(),
  asked: new Map(),
  stream: undefined,
});

/**
 * The request of this ID that waits; of requests that stand alone the only one, since nobody can tell whose is meant where
 * two have one ID.
 */
export const runningAs = ({ id: own, running }: Client, id: Id): Exchange | undefined => {
  if (own !== '') return running.get(id);
  const [found, ...others] = [...running.values()].filter((exchange) => exchange.id === id);
  return others.length === 0 ? found : undefined;
};

/** Its newest request that waits. */
export const lastRunning = ({ running }: Client): Exchange | undefined => [...running.values()].at(-1);

export interface Visits {
  readonly admit: (session: string) => string;
  readonly dismiss: (session: string) => void;
  /** The session of a token, compared by hashes. */
  readonly of: (token: string) => Session | undefined;
  readonly get: (session: string) => Session | undefined;
  readonly all: () => Iterable<Session>;
  readonly place: (session: Session, server: GatewayServer) => Place;
}

/** Why a request is given up where its caller did not do it; it is told. */
export const sessionEnded = 'The session has ended.';

export const endClient = (client: Client): void => {
  for (const exchange of client.running.values()) exchange.stop.abort(sessionEnded);
  for (const answer of [...client.asked.values()]) answer({ error: { code: -32_000, message: 'gone' } });
  client.stream?.end();
};

/** Room for one more: the client that did nothing for longest goes. A map keeps the order of last use. */
export const addClient = (place: Place, client: Client): void => {
  for (const [id, oldest] of place.clients) {
    if (place.clients.size < mostClients) break;
    place.clients.delete(id);
    endClient(oldest);
  }
  place.clients.set(client.id, client);
};

const endPlace = (place: Place): void => {
  for (const client of [...place.clients.values(), place.anyone]) endClient(client);
  for (const exchange of [...place.exchanges]) exchange.stop.abort(sessionEnded);
  for (const listener of [...place.listeners]) listener.end();
};

/** `left`: a place is no longer there, for whoever watches its server. */
export const openVisits = (left: (place: Place) => void): Visits => {
  const byId = new Map<string, Session>();
  // Found by the hash of a token, which tells a guesser nothing about another one.
  const byDigest = new Map<string, Session>();
  const end = (session: Session): void => {
    session.ended = true;
    byId.delete(session.id);
    byDigest.delete(session.digest.toString('hex'));
    for (const place of session.places.values()) {
      endPlace(place);
      left(place);
    }
    for (const one of [...session.ends]) one();
  };
  return {
    admit: (id) => {
      const before = byId.get(id);
      if (before !== undefined) end(before);
      const token = newToken();
      const session: Session = {
        id,
        digest: digest(token),
        places: new Map(),
        ends: new Set(),
        running: 0,
        ended: false,
      };
      byId.set(id, session);
      byDigest.set(session.digest.toString('hex'), session);
      return token;
    },
    dismiss: (id) => {
      const session = byId.get(id);
      if (session !== undefined) end(session);
    },
    of: (token) => {
      const given = digest(token);
      const session = byDigest.get(given.toString('hex'));
      return session !== undefined && timingSafeEqual(session.digest, given) ? session : undefined;
    },
    get: (id) => byId.get(id),
    all: () => byId.values(),
    place: (session, server) => {
      const known = session.places.get(server.alias);
      if (known !== undefined) {
        known.server = server;
        return known;
      }
      const made: Place = {
        session,
        alias: server.alias,
        server,
        clients: new Map(),
        anyone: newClient('', newestOlder, {}),
        exchanges: new Set(),
        listeners: new Set(),
        frozen: undefined,
        shown: undefined,
        held: new Set(),
        stages: new Set(),
      };
      session.places.set(server.alias, made);
      return made;
    },
  };
};

export const connectionOf = ({ upstream }: GatewayServer): Connection | undefined =>
  upstream === 'station' ? undefined : upstream;
