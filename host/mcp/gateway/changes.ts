/**
 * What a server tells unasked, and whom it is passed to. A connection is shared by sessions, so a thing that cannot be
 * said to belong to one of them is told to none: a log message goes to the session whose request runs there, and to
 * nobody where two have one.
 */
import type { Answered, Connection, Json } from '../connections/edge.ts';
import { textOf } from '../json.ts';
import { isSame } from './offer.ts';
import { modern, notification } from './protocol.ts';
import { notConnected, toldAsError } from './refusals.ts';
import type { Room } from './room.ts';
import { marked } from './stations.ts';
import { type Client, connectionOf, lastRunning, type Place } from './visits.ts';

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
export const isLevel = (value: unknown): value is string => levels.includes(textOf(value));
/** Whether a message is at least as severe as asked for; what no level of ours says is. */
const isLoud = (level: unknown, least: string | undefined): boolean =>
  least === undefined || !isLevel(level) || levels.indexOf(level) >= levels.indexOf(least);

export const toolsChanged = 'notifications/tools/list_changed';
const lists: readonly string[] = [
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
];

/** Pure: whose log message it is, of the places that use the connection. */
export const whose = (places: readonly Place[]): Place | undefined => {
  const busy = places.filter(({ exchanges }) => exchanges.size > 0);
  const candidates = busy.length > 0 ? busy : places;
  return candidates.length === 1 ? candidates[0] : undefined;
};

const tellListeners = ({ listeners }: Place, method: string, params: Json): void => {
  for (const { wants, tell } of [...listeners]) if (wants(method, params)) tell(method, params);
};

const tellLog = ({ clients, anyone, exchanges }: Place, params: Json): void => {
  const message = notification('notifications/message', params);
  for (const exchange of exchanges) {
    const { era, logLevel, send } = exchange;
    if (era === 'modern' && logLevel !== undefined && isLoud(params['level'], logLevel)) send(message);
  }
  for (const client of [...clients.values(), anyone]) {
    if (!isLoud(params['level'], client.level)) continue;
    // Beside the answer it was written for, where there is one.
    const running = lastRunning(client);
    if (running?.era === 'older') running.send(message);
    else client.stream?.tell('notifications/message', params);
  }
};

export interface Upstreams {
  /** Follows the server of a place; called when it is visited. */
  readonly visit: (place: Place) => void;
  readonly leave: (place: Place) => void;
  readonly subscribe: (place: Place, uri: string) => Promise<Answered>;
  readonly unsubscribe: (place: Place, uri: string) => Promise<void>;
  /** The least severe level of any client is the server's. */
  readonly leveled: (place: Place) => void;
  /** Status or tools of a connection are others now. */
  readonly changed: (connection: Connection) => void;
  /** A turn ended: what was held is told. */
  readonly release: (place: Place) => void;
}

/** Before a stream of subscriptions that ended is asked for again, ms. */
const listenAgainMs = 5_000;
const updated = 'notifications/resources/updated';

interface Followed {
  readonly places: Set<Place>;
  readonly stop: () => void;
  /** The stream of subscriptions, since 2026-07-28. */
  listening?: AbortController;
  isConnected: boolean;
}

/** URIs somebody wants to hear of. */
const wantedBy = (places: Iterable<Place>): readonly string[] => {
  const uris = new Set<string>();
  for (const { clients, anyone, listeners } of places) {
    for (const { subscribed } of [...clients.values(), anyone]) for (const uri of subscribed) uris.add(uri);
    for (const { uris: own = [] } of listeners) for (const uri of own) uris.add(uri);
  }
  return [...uris];
};

const isModern = (connection: Connection): boolean => (connection.about()?.protocolVersion ?? '') >= modern;

export const openUpstreams = (room: Room): Upstreams => {
  const followed = new Map<Connection, Followed>();
  const at = new Map<Place, Connection>();

  /** Since 2026-07-28 a server is told all URIs at once, and tells for as long as it is asked. */
  const listen = (connection: Connection, found: Followed): void => {
    found.listening?.abort();
    const resourceSubscriptions = wantedBy(found.places);
    if (resourceSubscriptions.length === 0 || connection.status().state !== 'connected') return;
    const mine = new AbortController();
    found.listening = mine;
    const again = (): void => {
      if (mine.signal.aborted || found.listening !== mine) return;
      setTimeout(() => {
        if (found.listening === mine) listen(connection, found);
      }, listenAgainMs).unref();
    };
    const params = marked(connection, { notifications: { resourceSubscriptions } });
    connection.request('subscriptions/listen', params, { signal: mine.signal }).then(again, again);
  };

  /** Told once, and only where the agent was shown something else. */
  const tellTools = (place: Place): void => {
    if (place.shown === undefined) return;
    const offer = room.offerOf(place);
    if (offer === undefined || isSame(offer, place.shown)) return;
    place.shown = offer;
    tellListeners(place, toolsChanged, {});
  };

  const heard = (places: Set<Place>, method: string, params: Json): void => {
    if (method === 'notifications/message') {
      const place = whose([...places]);
      if (place !== undefined) tellLog(place, params);
      return;
    }
    for (const place of places) {
      if (!lists.includes(method)) {
        if (method === updated) tellListeners(place, method, params);
        if (method === 'notifications/elicitation/complete') tellListeners(place, method, params);
      } else if (room.ports.inTurn(place.session.id)) place.held.add(method);
      else tellListeners(place, method, params);
    }
  };

  const leave = (place: Place): void => {
    const connection = at.get(place);
    if (connection === undefined) return;
    at.delete(place);
    const found = followed.get(connection);
    found?.places.delete(place);
    if (found !== undefined && found.places.size === 0) {
      found.stop();
      found.listening?.abort();
      followed.delete(connection);
    }
  };

  const clientsOf = (places: Iterable<Place>): readonly Client[] =>
    [...places].flatMap(({ clients, anyone }) => [...clients.values(), anyone]);

  const pass = async (place: Place, method: string, params: Json): Promise<Answered> => {
    const connection = connectionOf(place.server);
    if (connection === undefined) return { result: {} };
    if (connection.status().state !== 'connected')
      return toldAsError(notConnected(place.server.original, connection));
    return connection.request(method, marked(connection, params));
  };

  return {
    visit: (place) => {
      const connection = connectionOf(place.server);
      if (at.get(place) === connection) return;
      leave(place);
      if (connection === undefined) return;
      at.set(place, connection);
      const known = followed.get(connection);
      if (known !== undefined) {
        known.places.add(place);
        return;
      }
      const places = new Set([place]);
      const stop = connection.listen((method, params) => heard(places, method, params));
      const isConnected = connection.status().state === 'connected';
      followed.set(connection, { places, stop, isConnected });
    },
    leave,
    subscribe: async (place, uri) => {
      const connection = at.get(place);
      const found = connection === undefined ? undefined : followed.get(connection);
      if (connection === undefined || found === undefined || !isModern(connection)) {
        return pass(place, 'resources/subscribe', { uri });
      }
      listen(connection, found);
      return { result: {} };
    },
    unsubscribe: async (place, uri) => {
      const connection = at.get(place);
      const found = connection === undefined ? undefined : followed.get(connection);
      if (connection === undefined || found === undefined || wantedBy(found.places).includes(uri)) return;
      if (isModern(connection)) listen(connection, found);
      else await pass(place, 'resources/unsubscribe', { uri });
    },
    leveled: (place) => {
      const connection = at.get(place);
      const places = connection === undefined ? [] : (followed.get(connection)?.places ?? []);
      const least = clientsOf(places).flatMap(({ level }) =>
        level === undefined ? [] : [levels.indexOf(level)],
      );
      const level = levels[Math.min(...least)];
      // Whether the server can is its own affair; the gateway keeps to the level itself.
      if (level !== undefined) void pass(place, 'logging/setLevel', { level });
    },
    changed: (connection) => {
      const found = followed.get(connection);
      if (found === undefined) return;
      const isConnected = connection.status().state === 'connected';
      if (isConnected && !found.isConnected) {
        // A server that was away knows of no subscription any more.
        if (isModern(connection)) listen(connection, found);
        else {
          for (const uri of wantedBy(found.places))
            void connection.request('resources/subscribe', marked(connection, { uri }));
        }
      }
      found.isConnected = isConnected;
      // A turn that began before the server told anything is joined by it here.
      for (const place of found.places) tellTools(place);
    },
    release: (place) => {
      place.frozen = undefined;
      tellTools(place);
      for (const method of place.held) tellListeners(place, method, {});
      place.held.clear();
    },
  };
};
