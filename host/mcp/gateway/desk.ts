/**
 * The one desk behind both doors, HTTP and lines: a request becomes an exchange, runs, and is counted; whoever does not
 * answer in time is shown to be alive.
 */
import { problem } from '../../problems/index.ts';
import type { Json } from '../connections/edge.ts';
import { stationsOf } from '../own.ts';
import type { Upstreams } from './changes.ts';
import type { GatewayServer } from './edge.ts';
import type { Judge } from './envelope.ts';
import { running as mostRunning } from './limits.ts';
import { answerRequest, type Settled } from './methods.ts';
import {
  type Era,
  failure,
  type Id,
  internalError,
  invalidRequest,
  notification,
  progressTokenOf,
} from './protocol.ts';
import { toldAsError } from './refusals.ts';
import type { Room } from './room.ts';
import type { Sockets } from './sockets.ts';
import { wentRound } from './stations.ts';
import type { Client, Exchange, Place, Session, Visits } from './visits.ts';

export interface Desk {
  readonly room: Room;
  readonly visits: Visits;
  readonly upstreams: Upstreams;
  readonly sockets: Sockets;
  readonly judge: Judge;
  readonly onBug: (error: unknown) => void;
  /** The session's server of this alias, as policy stands now. */
  readonly placeOf: (session: Session, alias: string) => Place | undefined;
  readonly run: (exchange: Exchange, method: string, params: Json) => Promise<Settled>;
  /** One beat: everybody who waited since the last one is told something. */
  readonly pulse: () => void;
}

export const newExchange = (
  place: Place,
  client: Client,
  asked: { readonly era: Era; readonly id: Id; readonly params: Json },
  told: { readonly capabilities: Json; readonly logLevel?: string | undefined },
  way: Pick<Exchange, 'send' | 'pulse' | 'ask'>,
): Exchange => ({
  ...way,
  era: asked.era,
  id: asked.id,
  place,
  client,
  capabilities: asked.era === 'modern' ? told.capabilities : client.capabilities,
  logLevel: told.logLevel,
  progressToken: progressTokenOf(asked.params),
  stations: stationsOf(asked.params),
  stop: new AbortController(),
  left: new AbortController(),
  waiting: undefined,
});

/** Of a request whose ID another one of the same client has, which waits. */
export const takenId = failure(
  invalidRequest,
  'Invalid Request: another request of this ID waits for its answer',
);

/**
 * Under what a client's request is known while it waits. Requests that stand alone come from nobody in particular, so that
 * two of one ID may be two clients': they are known by no ID.
 */
const keyOf = ({ client, id }: Exchange): Id | symbol => (client.id === '' ? Symbol() : id);

export const openDesk = (
  options: Pick<Desk, 'room' | 'visits' | 'upstreams' | 'sockets' | 'judge' | 'onBug'>,
): Desk => {
  const { room, visits, upstreams, onBug } = options;
  const open = new Map<Exchange, number>();

  // Progress has to grow, and what the server tells afterwards begins at nought or one.
  const tellWaiting = ({ progressToken, send, waiting }: Exchange, beats: number): void =>
    send(
      notification('notifications/progress', {
        progressToken: progressToken ?? '',
        progress: beats / 1e6,
        message: waiting,
      }),
    );

  const beat = (exchange: Exchange, beats: number): void => {
    if (exchange.waiting !== undefined && exchange.progressToken !== undefined) tellWaiting(exchange, beats);
    else exchange.pulse();
  };

  return {
    ...options,
    placeOf: (session, alias) => {
      const server: GatewayServer | undefined = room.ports
        .servers(session.id)
        .find((one) => one.alias === alias);
      if (server === undefined) return undefined;
      const place = visits.place(session, server);
      upstreams.visit(place);
      room.observe(place, 'connected');
      return place;
    },
    run: async (exchange, method, params) => {
      const { place, client } = exchange;
      const { session } = place;
      const key = keyOf(exchange);
      if (client.running.has(key)) return takenId;
      const round = wentRound(place, params);
      if (round !== undefined) return round;
      if (session.running >= mostRunning) {
        return toldAsError(problem('gateway/busy', { evidence: `${mostRunning} are waiting` }));
      }
      session.running += 1;
      place.exchanges.add(exchange);
      client.running.set(key, exchange);
      open.set(exchange, 0);
      try {
        return await answerRequest(room, upstreams, exchange, method, params);
      } catch (error) {
        onBug(error);
        return { error: { code: internalError, message: 'Internal error' } };
      } finally {
        session.running -= 1;
        place.exchanges.delete(exchange);
        client.running.delete(key);
        open.delete(exchange);
      }
    },
    pulse: () => {
      for (const [exchange, beats] of [...open]) {
        open.set(exchange, beats + 1);
        // What began since the last beat has not waited yet.
        if (beats > 0) beat(exchange, beats);
      }
    },
  };
};
