/**
 * What the station publishes over MCP, behind whatever HTTP is in front of it: a request that has been let in and read
 * becomes an answer.
 */
import { type Catalog, openCatalog, type Sources } from './catalog.ts';
import { type FastPath, type Headers, openFastPath, type Reply } from './fast.ts';
import { listenMs } from './limits.ts';
import { changeStream, isListening, type Listener } from './listen.ts';
import type { LeftOut } from './publish.ts';
import type { SdkPath } from './sdk.ts';

export interface ChannelRequest {
  readonly headers: Headers;
  /** Parsed; an object. */
  readonly body: unknown;
  /** Aborts when the client is gone; asked for only where an answer can take long. */
  readonly gone: () => AbortSignal;
}
export interface Channel {
  readonly answer: (request: ChannelRequest) => Promise<Reply | Response>;
  /**
   * The stream a client of an older revision opens with GET, which hears of changes; undefined where the request asks for
   * no such stream.
   */
  readonly listen: (request: Pick<ChannelRequest, 'headers' | 'gone'>) => Promise<Response | undefined>;
  readonly close: () => Promise<void>;
}
export interface ChannelOptions {
  readonly server: { readonly name: string; readonly version: string };
  readonly sources: () => Sources;
  /** Each reason why a skill is not published, once while it lasts. */
  readonly report: (left: LeftOut) => void;
  /** For the test that compares both ways: leave everything to the SDK. */
  readonly onlySdk?: boolean;
}

const webHeaders = (headers: Headers): globalThis.Headers => {
  const found = new globalThis.Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) found.append(name, one);
  }
  return found;
};

export const openChannel = (options: ChannelOptions): Channel => {
  const streams = new Set<Listener>();
  let timer: NodeJS.Timeout | undefined;
  const catalog: Catalog = openCatalog({
    sources: options.sources,
    report: options.report,
    changed: () => {
      for (const tell of [...streams]) tell({ kind: 'resources_list_changed' });
    },
  });

  /** While somebody listens, somebody must look. */
  const watch = (): void => {
    if (streams.size > 0 && timer === undefined) {
      // A bug in looking is told by the next request, which meets it too.
      timer = setInterval(() => catalog.look().catch(() => {}), listenMs);
      timer.unref();
    } else if (streams.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  let opened: Promise<{ sdk: SdkPath; fast: FastPath }> | undefined;
  let ready: { sdk: SdkPath; fast: FastPath } | undefined;
  const open = async () => {
    const [{ openSdkPath }, { classifyInboundRequest }] = await Promise.all([
      import('./sdk.ts'),
      import('@modelcontextprotocol/server'),
    ]);
    const sdk = await openSdkPath({
      server: options.server,
      published: catalog.look,
      failedRead: catalog.expire,
      bus: {
        publish: () => {},
        subscribe: (listener) => {
          streams.add(listener);
          watch();
          return () => {
            streams.delete(listener);
            watch();
          };
        },
      },
    });
    const fast = openFastPath({
      server: options.server,
      failedRead: catalog.expire,
      isEnvelope: (body) => classifyInboundRequest({ httpMethod: 'POST', body }).kind === 'modern',
    });
    ready = { sdk, fast };
    return ready;
  };

  return {
    answer: async ({ headers, body, gone }) => {
      opened ??= open();
      const { sdk, fast } = ready ?? (await opened);
      if (options.onlySdk !== true) {
        const published = catalog.fresh() ?? (await catalog.look());
        const answered = fast.answer(headers, body, published);
        if (answered !== undefined) return answered;
      }
      return sdk.fetch(
        new Request('http://localhost/v1/mcp', {
          method: 'POST',
          headers: webHeaders(headers),
          signal: gone(),
        }),
        body,
      );
    },
    listen: async ({ headers, gone }) => {
      if (!isListening(headers)) return undefined;
      // What is there now is what a change is told against.
      await catalog.look();
      return changeStream(streams, gone(), watch);
    },
    close: async () => {
      clearInterval(timer);
      if (opened !== undefined) await (await opened).sdk.close();
    },
  };
};
