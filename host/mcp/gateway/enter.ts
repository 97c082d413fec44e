/**
 * Who is let in, by either door: Host and Origin, path, token, number of connections, server, in this order. Until then
 * nothing of what is asked for is looked at.
 */
import type { IncomingMessage } from 'node:http';
import { bearerOf, challenge, isLocal, oneOf } from '../../http/index.ts';
import type { Desk } from './desk.ts';
import { connectionsOfSession } from './limits.ts';
import type { Place, Session } from './visits.ts';

export const gatewayRoot = '/v1/gateway/';

type Entered = { readonly session: Session; readonly place: Place };

/** `refuse` has been called where it answers nothing. */
export const enter = (
  desk: Desk,
  request: IncomingMessage,
  refuse: (status: number, message: string, headers?: Readonly<Record<string, string>>) => void,
): Entered | undefined => {
  if (!isLocal(request.headers.host, oneOf(request.headers.origin))) {
    refuse(403, 'This Host or Origin is not served.');
    return undefined;
  }
  const url = request.url ?? '';
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const alias = path.slice(gatewayRoot.length);
  if (!path.startsWith(gatewayRoot) || !/^[A-Za-z0-9_-]{1,64}$/.test(alias)) {
    refuse(404, 'Nothing is here.');
    return undefined;
  }
  const { authorization } = request.headers;
  const token = authorization === undefined ? undefined : bearerOf(authorization);
  const session = token === undefined ? undefined : desk.visits.of(token);
  if (session === undefined) {
    const why = authorization === undefined ? 'no-token' : 'wrong-token';
    refuse(401, 'A token of a session is needed.', { 'www-authenticate': challenge(why) });
    return undefined;
  }
  if (!desk.sockets.claim(request.socket, session)) {
    refuse(429, `The session has ${connectionsOfSession} connections, which are all it may have.`);
    return undefined;
  }
  const place = desk.placeOf(session, alias);
  if (place === undefined) {
    refuse(404, 'The session has no such server.');
    return undefined;
  }
  return { session, place };
};
