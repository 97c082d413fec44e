/** The loopback interface, the only one anything here listens on, and the bounds of whoever comes over it. */
import type { Server } from 'node:http';

/**
 * For `createServer`: bytes of a request's headers; ms for the headers, for the whole request, and of a connection that
 * asks nothing.
 */
export const serverBounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
} as const;

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
