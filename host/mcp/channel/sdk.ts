/**
 * The official SDK, in front of the same catalog: every revision it speaks, `server/discover`, `initialize`,
 * subscriptions, and every request that is in any way unusual. Its skills extension declares the capability and serves
 * entries and folders. Reading and listing resources are ours: the SDK normalises URIs before it looks, has one page,
 * and takes 18 ms for the base64 of 512 KiB. Loaded when first needed.
 */
import type { ServerEventBus } from '@modelcontextprotocol/server';
import {
  type Answered,
  getSkill,
  internalError,
  listResources,
  listSkills,
  type RpcError,
  readFolder,
  readResource,
} from './answers.ts';
import { bodyBytes, listeners } from './limits.ts';
import type { Published } from './publish.ts';

export interface SdkOptions {
  readonly server: { readonly name: string; readonly version: string };
  readonly published: () => Promise<Published>;
  /** A file was not as listed. */
  readonly failedRead: () => void;
  readonly bus: ServerEventBus;
}

export interface SdkPath {
  readonly fetch: (request: Request, body: unknown) => Promise<Response>;
  readonly close: () => Promise<void>;
}

export const openSdkPath = async (options: SdkOptions): Promise<SdkPath> => {
  const [{ createMcpHandler, McpServer, ProtocolError }, { SkillsExtension }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/ext/skills'),
  ]);
  const thrown = ({ code, message, data }: RpcError): Error => new ProtocolError(code, message, data);
  const orThrow = <T>(answered: Answered<T>): T => {
    if ('error' in answered) throw thrown(answered.error);
    return answered.result;
  };
  /** The extension says itself what a URI that is not served means. */
  const orNone = <T>(answered: Answered<T>): T | undefined =>
    'error' in answered && answered.error.message !== 'Invalid cursor' ? undefined : orThrow(answered);
  // The extension's types are mutable; it changes nothing of what it is given.
  const loose = <T>(value: unknown): T => value as T;

  const skills = new SkillsExtension({
    source: {
      list: async ({ cursor }) => loose(orThrow(listSkills(await options.published(), cursor))),
      get: async (uri) => loose(orNone(getSkill(await options.published(), uri))?.skill),
      read: async () => undefined,
      readDirectory: async (uri, { cursor }) =>
        loose(orNone(readFolder(await options.published(), uri, cursor))),
    },
    onWarning: () => {},
  });

  const handler = createMcpHandler(
    () => {
      const mcp = new McpServer(options.server, {
        // Clients of older revisions hear of it on the stream they open with GET.
        capabilities: { resources: { listChanged: true } },
      });
      skills.attach(mcp);
      mcp.server.setRequestHandler('resources/list', async ({ params }) =>
        loose(orThrow(listResources(await options.published(), params?.cursor))),
      );
      mcp.server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
        const answered = readResource(await options.published(), uri);
        if ('error' in answered && answered.error.code === internalError) options.failedRead();
        return loose(orThrow(answered));
      });
      return mcp;
    },
    { bus: options.bus, maxRequestBodySize: bodyBytes, maxSubscriptions: listeners },
  );
  return {
    fetch: (request, body) => handler.fetch(request, { parsedBody: body }),
    close: () => handler.close(),
  };
};
