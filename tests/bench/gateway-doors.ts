/**
 * The agent's side of a gateway for its benchmark, kept as cheap as can be: it shares the machine with what is measured.
 * Each way in is a connection that is kept, on which one call follows the other.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const args = { text: 'hello' };
export const start = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '0' },
};
const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
export const message = (id: number, method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

export interface Lane {
  /** Rejects where the answer is not the tool's. */
  readonly call: () => Promise<void>;
  readonly close: () => void;
}

let next = 1;
/** Every call has a number of its own: some gateways mix up those that have not. */
const numbered = (body: string): string => {
  next += 1;
  return body.replace('"id":1,', `"id":${next},`);
};
const echo = (tool: string): string => message(1, 'tools/call', { name: tool, arguments: args });
const check = (answer: string): void => {
  if (!answer.includes('hello')) throw new Error(answer.slice(0, 300));
};

const dial = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  await once(socket, 'connect');
  return socket;
};

/** A whole answer in what came so far. */
const isWhole = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length - end - 4 >= Number(length);
};

const isFine = (answer: string): boolean => /^HTTP\/1\.1 20[02] /.test(answer);

interface Poster {
  readonly post: (body: string) => Promise<string>;
  readonly close: () => void;
}
export const openPoster = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Poster> => {
  const { port, pathname, search } = new URL(url);
  const socket = await dial(Number(port));
  let text = '';
  let answered: (text: string) => void = () => {};
  socket.on('data', (part: string) => {
    text += part;
    if (!isWhole(text)) return;
    const whole = text;
    text = '';
    answered(whole);
  });
  const head = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const begin = `POST ${pathname}${search} HTTP/1.1\r\n${head.join('\r\n')}\r\ncontent-length: `;
  return {
    post: (body) =>
      new Promise((resolve) => {
        answered = resolve;
        socket.write(`${begin}${Buffer.byteLength(body)}\r\n\r\n${body}`);
      }),
    close: () => socket.destroy(),
  };
};

/** Says `initialize` at a Streamable HTTP endpoint; the headers of what comes after. */
export const meet = async (
  url: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> => {
  const first = await openPoster(url, more);
  const began = await first.post(message(0, 'initialize', start));
  first.close();
  if (!isFine(began)) throw new Error(`${url}: ${began.slice(0, 300)}`);
  const session = /\r\nmcp-session-id: (\S+)/i.exec(began)?.[1];
  const headers = {
    ...more,
    'mcp-protocol-version': start.protocolVersion,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  const second = await openPoster(url, headers);
  await second.post(initialized);
  second.close();
  return headers;
};

/** Streamable HTTP, and anything else that answers a call in the answer to its request. */
export const overPost = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string = echo('echo'),
): Promise<Lane> => {
  const { post, close } = await openPoster(url, headers);
  return {
    call: async () => {
      const answer = await post(numbered(body));
      if (!isFine(answer)) throw new Error(answer.slice(0, 300));
      check(answer);
    },
    close,
  };
};

/** HTTP with server-sent events, as before 2025-03-26: calls go out by POST, answers come on the stream. */
export const overEvents = async (url: string, tool: string): Promise<Lane> => {
  const { port, pathname } = new URL(url);
  const stream = await dial(Number(port));
  const endpoint = Promise.withResolvers<string>();
  let text = '';
  let told: (data: string) => void = () => {};
  stream.on('error', endpoint.reject).on('data', (part: string) => {
    text += part;
    if (text.startsWith('HTTP/1.1 ') && !isFine(text)) endpoint.reject(new Error(text.slice(0, 300)));
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? '';
      if (event.includes('event: endpoint')) endpoint.resolve(data);
      else told(data);
    }
  });
  stream.write(`GET ${pathname} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`);
  const { post, close } = await openPoster(new URL(await endpoint.promise, url).href);
  const ask = (body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      told = resolve;
      void post(body).then((answer) => {
        if (!isFine(answer)) reject(new Error(answer.slice(0, 300)));
      });
    });
  await ask(message(0, 'initialize', start));
  await post(initialized);
  const body = echo(tool);
  return {
    call: async () => check(await ask(numbered(body))),
    close: () => {
      stream.destroy();
      close();
    },
  };
};
