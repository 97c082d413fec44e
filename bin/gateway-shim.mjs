#!/usr/bin/env node
/**
 * One server of the station's gateway over standard input and output, for agents that have no HTTP: newline JSON in both
 * directions, unchanged. `gateway-shim.mjs URL`, with the session's token in JUPITER_GATEWAY_TOKEN. It ends when its
 * standard input ends, or with 1 and a sentence when the station ends the connection. Runs on any Node.js since 20 and
 * imports one module, so that starting it takes little longer than starting Node.js.
 */
import { connect } from 'node:net';

const fail = (sentence) => {
  process.stderr.write(`jupiter gateway: ${sentence}\n`);
  process.exit(1);
};

const [given = ''] = process.argv.slice(2);
const token = process.env.JUPITER_GATEWAY_TOKEN ?? '';
const url = URL.canParse(given) ? new URL(given) : undefined;
if (url?.protocol !== 'http:') fail('the address of a server is missing; it is the first argument.');
if (!/^[\x21-\x7e]+$/.test(token)) fail('JUPITER_GATEWAY_TOKEN holds no token.');

const upgrade = 'jupiter-mcp-lines';
/** Longest head of an answer, bytes. */
const headBytes = 16 * 1024;

const socket = connect({ host: url.hostname, port: Number(url.port || 80), noDelay: true });
socket.write(
  [
    `GET ${url.pathname} HTTP/1.1`,
    `host: ${url.host}`,
    `authorization: Bearer ${token}`,
    'connection: Upgrade',
    `upgrade: ${upgrade}`,
    '\r\n',
  ].join('\r\n'),
);

const refusal = (head, rest) => {
  const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 'something else than HTTP';
  const { message } = /"message":"(?<message>[^"]*)"/.exec(rest)?.groups ?? { message: rest.trim() };
  return `the station refused the connection (${status}${message === '' ? '' : `: ${message}`}).`;
};

let held = Buffer.alloc(0);
const open = (chunk) => {
  held = Buffer.concat([held, chunk]);
  const end = held.indexOf('\r\n\r\n');
  if (end < 0) {
    if (held.length > headBytes) fail('the station answered with something else than HTTP.');
    return;
  }
  const head = held.toString('latin1', 0, end);
  const rest = held.subarray(end + 4);
  if (!head.startsWith('HTTP/1.1 101')) fail(refusal(head, rest.toString('utf8')));
  socket.off('data', open);
  if (rest.length > 0) process.stdout.write(rest);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout, { end: false });
};

let isDone = false;
socket.on('data', open);
socket.on('error', (error) => fail(`the station cannot be reached (${error.code ?? error.message}).`));
process.stdin.on('end', () => {
  isDone = true;
});
process.stdout.on('error', () => process.exit(0));
socket.on('end', () => {
  if (!isDone) fail('the station ended the connection.');
});
socket.on('close', () => process.exit(isDone ? 0 : 1));
