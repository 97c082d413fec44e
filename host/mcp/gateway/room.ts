/**
 * What one server is to one session at this moment: which tools it is shown, and what the gateway says of it. While a
 * turn runs the list of tools is the one it began with; a server that had told nothing yet when it began joins the turn
 * when it does.
 */
import { isRecord, type Json } from '../json.ts';
import { markThrough } from '../own.ts';
import type { GatewayPorts } from './edge.ts';
import { type Offer, rememberOffers } from './offer.ts';
import { metaKey } from './protocol.ts';
import type { Rounds } from './rounds.ts';
import { connectionOf, type Place } from './visits.ts';

export interface Own {
  readonly name: string;
  readonly version: string;
}

export interface Room {
  readonly ports: GatewayPorts;
  readonly rounds: Rounds;
  /** What may be called; undefined where it must be looked for. */
  readonly offerOf: (place: Place) => Offer | undefined;
  readonly offerSoon: (place: Place) => Promise<Offer>;
  /** By policy as it is now, a tool that was called before. */
  readonly isOffered: (place: Place, name: string) => boolean;
  readonly freeze: (place: Place) => void;
  readonly observe: (place: Place, stage: 'connected' | 'used') => void;
  readonly about: (place: Place) => Promise<About>;
}

export interface About {
  readonly serverInfo: Json;
  readonly capabilities: Json;
  readonly instructions?: string;
  readonly _meta: Json;
}

/** What is said before the server said anything: lists that are empty now and tell when they change. */
const unknown: Json = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
};

/** Pure: of a server's capabilities those that pass. A list of tools changes with policy too. */
export const passing = (capabilities: Json): Json => {
  const { tools, resources, prompts, completions, logging } = capabilities;
  const lists = (value: unknown, keys: readonly string[]): Json =>
    isRecord(value)
      ? Object.fromEntries(keys.flatMap((key) => (value[key] === true ? [[key, true]] : [])))
      : {};
  return {
    ...(tools === undefined ? {} : { tools: { listChanged: true } }),
    ...(resources === undefined ? {} : { resources: lists(resources, ['subscribe', 'listChanged']) }),
    ...(prompts === undefined ? {} : { prompts: lists(prompts, ['listChanged']) }),
    ...(completions === undefined ? {} : { completions: {} }),
    ...(logging === undefined ? {} : { logging: {} }),
  };
};

export const openRoom = (ports: GatewayPorts, own: Own, rounds: Rounds): Room => {
  const made = rememberOffers();
  const currentOf = ({ server, alias }: Place): Offer | undefined => {
    const connection = connectionOf(server);
    return connection === undefined ? undefined : made(alias, connection.tools(), server.tools);
  };
  const isKnown = ({ server }: Place): boolean => connectionOf(server)?.about() !== undefined;
  const isAllowed = ({ server }: Place, original: string): boolean =>
    server.tools === undefined || server.tools.includes(original);

  /** What a turn began with, without what policy took back since. */
  const narrowed = (place: Place, offer: Offer): Offer => {
    if ([...offer.byName.values()].every(({ original }) => isAllowed(place, original))) return offer;
    const byName = new Map([...offer.byName].filter(([, { original }]) => isAllowed(place, original)));
    return { byName, tools: [...byName.values()].map(({ tool }) => tool) };
  };

  const offerOf = (place: Place): Offer | undefined => {
    const current = currentOf(place);
    if (current === undefined) return undefined;
    if (!ports.inTurn(place.session.id)) {
      place.frozen = undefined;
      return current;
    }
    if (place.frozen === undefined && isKnown(place)) place.frozen = current;
    return place.frozen === undefined ? current : narrowed(place, place.frozen);
  };

  return {
    ports,
    rounds,
    offerOf,
    offerSoon: async (place) => {
      const found = offerOf(place);
      if (found !== undefined) return found;
      const { tools } = await ports.skills(place.session.id);
      return made(place.alias, tools, place.server.tools);
    },
    isOffered: (place, name) => {
      const server = ports.servers(place.session.id).find(({ alias }) => alias === place.alias);
      if (server === undefined || place.session.ended) return false;
      place.server = server;
      return server.upstream === 'station' || offerOf(place)?.byName.has(name) === true;
    },
    freeze: (place) => {
      if (isKnown(place)) place.frozen = currentOf(place);
    },
    observe: (place, stage) => {
      if (place.stages.has(stage)) return;
      place.stages.add(stage);
      ports.observed(place.session.id, place.server.original, stage);
    },
    about: async ({ server, session }) => {
      const connection = connectionOf(server);
      const _meta = { [metaKey.gateway]: { ...own, ...markThrough(connection?.about()?.stations ?? []) } };
      if (connection === undefined) {
        const { instructions } = await ports.skills(session.id);
        return {
          serverInfo: { ...own },
          capabilities: { tools: { listChanged: true } },
          ...(instructions === undefined ? {} : { instructions }),
          _meta,
        };
      }
      const about = connection.about();
      if (about === undefined) {
        return { serverInfo: { name: server.original, version: '0' }, capabilities: unknown, _meta };
      }
      const { serverInfo, capabilities, instructions } = about;
      return {
        serverInfo,
        capabilities: passing(capabilities),
        ...(instructions === undefined ? {} : { instructions }),
        _meta,
      };
    },
  };
};
