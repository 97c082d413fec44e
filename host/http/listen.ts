/** The loopback interface, the only one anything here listens on. */
import type { Server } from 'node:http';

export const loopback = '127.0.0.1';

/** Listens on this port, 0 for any free one; what kept it from that, or undefined. Later errors of the server are left. */
export const listenHere = (server: Server, port: number): Promise<Error | undefined> =>
  new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, loopback, () => {
      server.off('error', resolve);
      server.on('error', () => {});
      resolve(undefined);
    });
  });
