/**
 * Who hears of changes. In 2026-07-28 a request says which ones and its answer is the stream; before, a client opens a
 * stream for whatever concerns it.
 */
import { isRecord, type Json, textOf } from '../json.ts';
import { toolsChanged } from './changes.ts';
import type { Desk } from './desk.ts';
import { streams, subscriptions } from './limits.ts';
import type { Settled } from './methods.ts';
import { type Id, invalidParams, metaKey, metaOf, notification, refusedError } from './protocol.ts';
import { wentRound } from './stations.ts';
import type { Client, Listener, Place } from './visits.ts';

const updated = 'notifications/resources/updated';

const flags: readonly (readonly [string, string, string])[] = [
  ['toolsListChanged', toolsChanged, 'tools'],
  ['promptsListChanged', 'notifications/prompts/list_changed', 'prompts'],
  ['resourcesListChanged', 'notifications/resources/list_changed', 'resources'],
];

/** Pure: of what a client wants to hear, what there is to hear. */
const honored = (wanted: Json, capabilities: Json): Json => {
  const uris = wanted['resourceSubscriptions'];
  const can = (name: string, key: string): boolean => {
    const capability = capabilities[name];
    return isRecord(capability) && capability[key] === true;
  };
  return {
    ...Object.fromEntries(
      flags.flatMap(([flag, , name]) =>
        wanted[flag] === true && can(name, 'listChanged') ? [[flag, true]] : [],
      ),
    ),
    ...(Array.isArray(uris) && uris.length > 0 && can('resources', 'subscribe')
      ? { resourceSubscriptions: uris.filter((uri) => typeof uri === 'string').slice(0, subscriptions) }
      : {}),
  };
};

const isFilter = (value: unknown): value is Json =>
  isRecord(value) &&
  flags.every(([flag]) => value[flag] === undefined || typeof value[flag] === 'boolean') &&
  (value['resourceSubscriptions'] === undefined ||
    (Array.isArray(value['resourceSubscriptions']) &&
      value['resourceSubscriptions'].every((uri) => typeof uri === 'string')));

const listenersOf = (place: Place): number =>
  [...place.session.places.values()].reduce((sum, { listeners }) => sum + listeners.size, 0);

const tooMany: Settled = {
  error: { code: refusedError, message: `At most ${streams} streams of a session` },
};

/** `subscriptions/listen`. `write` and `close` are of the stream, which this owns once it answers nothing. */
export const listenModern = async (
  { room, upstreams }: Desk,
  place: Place,
  id: Id,
  params: Json,
  write: (message: Json) => void,
  close: () => void,
): Promise<Settled | Listener | undefined> => {
  const wanted = params['notifications'];
  if (!isFilter(wanted)) {
    return {
      error: { code: invalidParams, message: "Invalid params: 'notifications' says what is listened for" },
    };
  }
  const round = wentRound(place, params);
  if (round !== undefined) return round;
  const { capabilities, serverInfo } = await room.about(place);
  if (listenersOf(place) >= streams) return tooMany;
  const heard = honored(wanted, capabilities);
  const uris = (heard['resourceSubscriptions'] ?? []) as readonly string[];
  const methods = new Set(flags.flatMap(([flag, method]) => (heard[flag] === true ? [method] : [])));
  const stamped = (method: string, more: Json): Json =>
    notification(method, { ...more, _meta: { ...metaOf(more), [metaKey.subscription]: id } });
  write(stamped('notifications/subscriptions/acknowledged', { notifications: heard }));
  let isOpen = true;
  const listener: Listener = {
    uris,
    wants: (method, more) =>
      methods.has(method) || (method === updated && uris.includes(textOf(more['uri']))),
    tell: (method, more) => write(stamped(method, more)),
    end: () => {
      if (!isOpen) return;
      isOpen = false;
      place.listeners.delete(listener);
      for (const uri of uris) void upstreams.unsubscribe(place, uri);
      const _meta = { [metaKey.subscription]: id, [metaKey.server]: serverInfo };
      write({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
      close();
    },
  };
  if (Object.keys(heard).length === 0 || place.session.ended) {
    listener.end();
    return undefined;
  }
  place.listeners.add(listener);
  place.shown ??= room.offerOf(place);
  for (const uri of uris) void upstreams.subscribe(place, uri);
  return listener;
};

/** The stream a client of the older revisions has for itself; undefined where there are too many. */
export const listenOlder = (
  place: Place,
  client: Client,
  write: (message: Json) => void,
  close: () => void,
): Listener | undefined => {
  if (listenersOf(place) >= streams) return undefined;
  const listener: Listener = {
    wants: (method, params) => method !== updated || client.subscribed.has(textOf(params['uri'])),
    tell: (method, params) => write(notification(method, params)),
    end: () => {
      if (!place.listeners.delete(listener)) return;
      if (client.stream === listener) client.stream = undefined;
      close();
    },
  };
  // One message goes to one stream of a client: the newest has them.
  if (client.id !== '') client.stream?.end();
  client.stream = listener;
  place.listeners.add(listener);
  return listener;
};
