/**
 * Whose connections there are. One that has shown a session's token is that session's; until then it is a stranger's, and
 * strangers have a number of their own. So no session, and nobody without one, can take the last connection another
 * session needs: of too many strangers the first goes, a session that has all it may have gets no more, and when all are
 * taken, whoever holds most gives one up.
 */
import type { Socket } from 'node:net';
import { connectionsOfSession, connections as most, strangers as mostStrangers } from './limits.ts';
import type { Session } from './visits.ts';

export interface Sockets {
  /** To be called with every connection, as it comes. */
  readonly opened: (socket: Socket) => void;
  /** It showed this session's token. False: the session has as many as it may have. */
  readonly claim: (socket: Socket, session: Session) => boolean;
}

export const openSockets = (): Sockets => {
  // Sets keep the order of coming.
  const strangers = new Set<Socket>();
  const owned = new Map<Session, Set<Socket>>();
  const all = new Map<Socket, { readonly held: Set<Socket>; readonly owner?: Session }>();

  const take = (socket: Socket): void => {
    const found = all.get(socket);
    all.delete(socket);
    found?.held.delete(socket);
    if (found?.owner !== undefined && found.held.size === 0) owned.delete(found.owner);
  };
  /** It counts no more from now on, though its end is heard of later. */
  const end = (socket: Socket | undefined): void => {
    if (socket === undefined) return;
    take(socket);
    socket.destroy();
  };
  const firstStranger = (): Socket | undefined => strangers.values().next().value;

  const relieve = (): void => {
    let greediest = strangers;
    for (const held of owned.values()) if (held.size > greediest.size) greediest = held;
    // What a session began first it may finish; a stranger that waits has had its time.
    end(greediest === strangers ? firstStranger() : [...greediest].at(-1));
  };

  return {
    opened: (socket) => {
      strangers.add(socket);
      all.set(socket, { held: strangers });
      socket.once('close', () => take(socket));
      if (strangers.size > mostStrangers) end(firstStranger());
      else if (all.size > most) relieve();
    },
    claim: (socket, session) => {
      const found = all.get(socket);
      if (found === undefined || found.owner === session) return found !== undefined;
      const held = owned.get(session) ?? new Set<Socket>();
      if (held.size >= connectionsOfSession) return false;
      take(socket);
      all.set(socket, { held, owner: session });
      owned.set(session, held.add(socket));
      return true;
    },
  };
};
