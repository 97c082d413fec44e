/**
 * The gateway: on the loopback interface an address for each server of each session. It dials nothing and decides
 * nothing; what it needs of the station is handed to it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenHere, loopback, sendError, serverBounds } from '../../http/index.ts';
import { ok, refuse } from '../../problems/index.ts';
import { openUpstreams } from './changes.ts';
import { openDesk } from './desk.ts';
import type { Gateway, OpenGateway } from './edge.ts';
import { gatewayRoot } from './enter.ts';
import { openJudge } from './envelope.ts';
import { serveHttp } from './http.ts';
import { pulseMs as limitMs } from './limits.ts';
import { serveUpgrade } from './lines.ts';
import { internalError } from './protocol.ts';
import { openRoom } from './room.ts';
import { openRounds } from './rounds.ts';
import { openSockets } from './sockets.ts';
import { openVisits } from './visits.ts';

/** `gateway/port` where nothing can be listened on. `pulseMs`: of tests, which do not wait as long as people do. */
export const openGateway = async ({
  ports,
  server: own,
  shim,
  onBug,
  pulseMs = limitMs,
}: Parameters<OpenGateway>[0] & { readonly pulseMs?: number }): ReturnType<OpenGateway> => {
  const room = openRoom(ports, own, openRounds());
  const upstreams = openUpstreams(room);
  const visits = openVisits(upstreams.leave);
  const sockets = openSockets();
  const desk = openDesk({ room, visits, upstreams, sockets, judge: openJudge(), onBug });

  const server = createServer(
    {
      ...serverBounds,
      noDelay: true,
    },
    (request, response) => {
      serveHttp(desk, request, response).catch((error: unknown) => {
        onBug(error);
        if (response.headersSent) response.destroy();
        else sendError(response, 500, internalError, 'Internal error.', { connection: 'close' });
      });
    },
  );
  server.on('upgrade', (request, socket, head) => serveUpgrade(desk, request, socket, head));
  server.on('connection', sockets.opened);
  const fault = await listenHere(server, 0);
  if (fault !== undefined) return refuse('gateway/port', { evidence: fault.message });
  const { port } = server.address() as AddressInfo;
  const beat = setInterval(desk.pulse, pulseMs).unref();

  const gateway: Gateway = {
    port,
    address: (alias) => {
      const url = `http://${loopback}:${port}${gatewayRoot}${alias}`;
      return { url, command: shim.command, args: [...shim.args, url] };
    },
    admit: visits.admit,
    dismiss: visits.dismiss,
    turn: (id, running) => {
      const places = [...(visits.get(id)?.places.values() ?? [])];
      for (const place of places) {
        if (running) room.freeze(place);
        else upstreams.release(place);
      }
    },
    changed: upstreams.changed,
    close: async () => {
      clearInterval(beat);
      for (const { id } of [...visits.all()]) visits.dismiss(id);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return ok(gateway);
};
