/**
 * Every method an agent may use, and no other: what is not in the table is not there, so that no way around the gate
 * can be asked for. What is no call passes to the server as it is.
 */
import type { Answered, Json } from '../connections/edge.ts';
import { textOf } from '../json.ts';
import { callTool, forward, throughRounds } from './call.ts';
import { isLevel, type Upstreams } from './changes.ts';
import { subscriptions } from './limits.ts';
import {
  completed,
  failure,
  invalidParams,
  methodNotFound,
  modern,
  newestOlder,
  older,
  passedOn,
} from './protocol.ts';
import { notConnected, toldAsError } from './refusals.ts';
import type { Room } from './room.ts';
import { connectionOf, type Exchange } from './visits.ts';

type Method = (
  room: Room,
  exchange: Exchange,
  params: Json,
  upstreams: Upstreams,
) => Promise<Answered> | Answered;

interface Row {
  readonly eras: readonly Exchange['era'][];
  readonly work: Method;
}
const both = ['older', 'modern'] as const;

/** Lists that are empty where the server has none, or has not said yet. */
const emptyLists: Readonly<Record<string, readonly [string, Json]>> = {
  'resources/list': ['resources', { resources: [] }],
  'resources/templates/list': ['resources', { resourceTemplates: [] }],
  'prompts/list': ['prompts', { prompts: [] }],
};

const pass =
  (method: string): Method =>
  (room, exchange, params) => {
    const { place } = exchange;
    const connection = connectionOf(place.server);
    const list = emptyLists[method];
    if (connection === undefined) {
      return list === undefined ? failure(methodNotFound, 'Method not found') : { result: list[1] };
    }
    const isDown = connection.status().state !== 'connected';
    if (list !== undefined && (isDown || connection.about()?.capabilities[list[0]] === undefined)) {
      return { result: list[1] };
    }
    if (isDown) return toldAsError(notConnected(place.server.original, connection));
    const subject = `${method} ${textOf(params['name'] ?? params['uri'])}`;
    return (
      room.rounds.resume(exchange, subject, params) ??
      throughRounds(room, exchange, subject, (round) => forward(room, round, method, passedOn(params)))
    );
  };

const subscribe =
  (method: 'resources/subscribe' | 'resources/unsubscribe'): Method =>
  async (_room, { client, place }, { uri }, upstreams) => {
    if (typeof uri !== 'string') return failure(invalidParams, 'Invalid params: uri');
    if (method === 'resources/unsubscribe') {
      client.subscribed.delete(uri);
      await upstreams.unsubscribe(place, uri);
      return { result: {} };
    }
    if (client.subscribed.size >= subscriptions) {
      return failure(invalidParams, `At most ${subscriptions} subscriptions`);
    }
    client.subscribed.add(uri);
    const answered = await upstreams.subscribe(place, uri);
    if (!('result' in answered)) client.subscribed.delete(uri);
    return answered;
  };

/** The version the client asked for where it is one of ours, the newest with `initialize` otherwise. */
export const negotiated = (params: Json): string =>
  older.find((version) => version === params['protocolVersion']) ?? newestOlder;

const listTools: Method = async (room, { place }, { cursor }) => {
  if (cursor !== undefined) return failure(invalidParams, 'Invalid cursor');
  const offer = await room.offerSoon(place);
  place.shown = offer;
  return { result: { tools: offer.tools } };
};

const table: Readonly<Record<string, Row>> = {
  initialize: {
    eras: ['older'],
    work: async (room, { place }, params) => {
      const { serverInfo, capabilities, ...rest } = await room.about(place);
      return { result: { protocolVersion: negotiated(params), capabilities, serverInfo, ...rest } };
    },
  },
  'server/discover': {
    eras: ['modern'],
    work: async (room, { place }) => {
      const { capabilities, instructions, _meta } = await room.about(place);
      return {
        result: {
          supportedVersions: [modern],
          capabilities,
          ...(instructions === undefined ? {} : { instructions }),
          _meta,
        },
      };
    },
  },
  ping: { eras: ['older'], work: () => ({ result: {} }) },
  'tools/list': { eras: both, work: listTools },
  'tools/call': { eras: both, work: callTool },
  'resources/list': { eras: both, work: pass('resources/list') },
  'resources/templates/list': { eras: both, work: pass('resources/templates/list') },
  'resources/read': { eras: both, work: pass('resources/read') },
  'resources/subscribe': { eras: ['older'], work: subscribe('resources/subscribe') },
  'resources/unsubscribe': { eras: ['older'], work: subscribe('resources/unsubscribe') },
  'prompts/list': { eras: both, work: pass('prompts/list') },
  'prompts/get': { eras: both, work: pass('prompts/get') },
  'completion/complete': { eras: both, work: pass('completion/complete') },
  'logging/setLevel': {
    eras: ['older'],
    work: (_room, { client, place }, { level }, upstreams) => {
      if (!isLevel(level)) return failure(invalidParams, 'Invalid params: level');
      client.level = level;
      upstreams.leveled(place);
      return { result: {} };
    },
  },
};

export type Settled = Exclude<Answered, { readonly problem: unknown }>;

/** Of what the revision does not have; over HTTP it has a status of its own. */
export const noMethod: Settled = { error: { code: methodNotFound, message: 'Method not found' } };
const isSettled = (answered: Answered): answered is Settled => !('problem' in answered);

/** The answer, as the revision of the request has it. */
export const answerRequest = async (
  room: Room,
  upstreams: Upstreams,
  exchange: Exchange,
  method: string,
  params: Json,
): Promise<Settled> => {
  const row = Object.hasOwn(table, method) ? table[method] : undefined;
  if (row === undefined || !row.eras.includes(exchange.era)) return noMethod;
  const answered = await row.work(room, exchange, params, upstreams);
  const settled = isSettled(answered) ? answered : toldAsError(answered.problem);
  if (exchange.era === 'older' || 'error' in settled) return settled;
  const { server } = exchange.place;
  const info = connectionOf(server)?.about()?.serverInfo ?? { name: server.original, version: '0' };
  return { result: completed(method, settled.result, info) };
};
