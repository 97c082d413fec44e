import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectStation, type StationClient } from '../../host/cli/client.ts';
import { controlAddress, controlLineBytes } from '../../host/station/index.ts';

const script = fileURLToPath(new URL('fixtures/server.ts', import.meta.url));

const temporary = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'socket-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const homeIn = (folder: string, name = 'home'): string => {
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700, recursive: true });
  return home;
};

interface Told {
  readonly ready?: string;
  readonly problem?: { readonly code: string; readonly evidence?: string };
  readonly [key: string]: unknown;
}
interface Served {
  readonly child: ChildProcess;
  readonly told: () => Promise<Told>;
}
const serve = (t: TestContext, home: string, mode = '', env: Record<string, string> = {}): Served => {
  const child = spawn(process.execPath, [script, home, mode], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, told: async () => JSON.parse(String((await lines.next()).value)) as Told };
};
const client = async (t: TestContext, home: string): Promise<StationClient> => {
  const connected = await connectStation(home);
  assert.ok(connected.ok, JSON.stringify(connected));
  t.after(connected.value.close);
  return connected.value;
};
const running = async (t: TestContext): Promise<{ home: string; server: Served }> => {
  const home = homeIn(temporary(t));
  const server = serve(t, home);
  assert.ok((await server.told()).ready);
  return { home, server };
};
/** A connection without our client; lines out, lines in. */
const raw = (t: TestContext, home: string): { socket: Socket; next: () => Promise<Told> } => {
  const socket = connect(controlAddress(home) ?? '');
  t.after(() => socket.destroy());
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return { socket, next: async () => JSON.parse(String((await lines.next()).value)) as Told };
};
const codeOf = (result: { ok: boolean; problem?: { code: string } }): string | undefined =>
  result.ok ? undefined : result.problem?.code;

test('a request is answered, a problem comes as a problem, events come before the result', async (t) => {
  const { home, server } = await running(t);
  const station = await client(t, home);
  const status = await station.call('status', {});
  assert.equal(status.ok && status.value.pid, server.child.pid);
  const shown = await station.call('session.show', { id: 'nobody' });
  assert.equal(!shown.ok && shown.problem.subject, 'nobody');
  const texts: string[] = [];
  const said = await station.call('session.say', { id: 'a', text: 'hi', wait: true }, (e) =>
    texts.push(e.text),
  );
  assert.deepEqual(texts, ['of a', 'of a', 'last']);
  assert.equal(said.ok && said.value.turn, 't');
});

const badLines: readonly (readonly [name: string, line: string, id: number | null, evidence: RegExp])[] = [
  ['no JSON', '{', null, /no request/],
  ['JSON that is no object', '[1]', null, /no request/],
  ['no id', '{"method":"status"}', null, /no request/],
  ['a key that is not of the protocol', '{"id":1,"method":"status","extra":1}', null, /no request/],
  ['an unknown method', '{"id":1,"method":"stop"}', 1, /"stop"/],
  ['a method of every object', '{"id":1,"method":"constructor"}', 1, /"constructor"/],
  ['a missing parameter', '{"id":1,"method":"session.show","params":{}}', 1, /^id: /],
  ['a parameter of another type', '{"id":1,"method":"session.show","params":{"id":7}}', 1, /^id: /],
  ['an unknown parameter', '{"id":1,"method":"status","params":{"x":1}}', 1, /x/],
  [
    'an unknown parameter of a topic',
    '{"id":1,"method":"session.cancel","params":{"id":"a","force":true}}',
    1,
    /force/,
  ],
];
test('a line that cannot be read is station/bad-request, and the next one is answered', async (t) => {
  const { home } = await running(t);
  const { socket, next } = raw(t, home);
  for (const [name, line, id, evidence] of badLines) {
    socket.write(`${line}\n\n`);
    const answer = await next();
    assert.equal(answer.id, id, name);
    assert.equal(answer.problem?.code, 'station/bad-request', name);
    assert.match(answer.problem?.evidence ?? '', evidence, name);
  }
  socket.write('{"id":2,"method":"status"}\n');
  assert.equal((await next()).id, 2);
});

test('a line over the limit ends that client, and no other', async (t) => {
  const { home } = await running(t);
  const { socket, next } = raw(t, home);
  socket.write('x'.repeat(controlLineBytes + 1));
  assert.equal((await next()).problem?.code, 'station/bad-request');
  await once(socket, 'close');
  assert.ok((await (await client(t, home)).call('status', {})).ok);
});

test('an answer over the limit is station/answer-too-large', async (t) => {
  const { home } = await running(t);
  const answer = await (await client(t, home)).call('bundle.list', {});
  assert.equal(codeOf(answer), 'station/answer-too-large');
});

test('a handler that throws is station/internal, told to the log and not to the client', async (t) => {
  const { home, server } = await running(t);
  const answer = await (await client(t, home)).call('session.list', {});
  assert.equal(codeOf(answer), 'station/internal');
  assert.doesNotMatch(JSON.stringify(answer), /a bug that/);
  assert.deepEqual(await server.told(), { bug: 'session.list', said: 'Error: a bug that must not be told' });
});

test('a client that leaves aborts what it followed and changes nothing else', async (t) => {
  const { home, server } = await running(t);
  const stays = await client(t, home);
  const leaves = await client(t, home);
  const events = Promise.withResolvers<void>();
  void leaves.call('session.say', { id: 'waits', text: 'hi' }, () => events.resolve());
  await events.promise;
  leaves.close();
  assert.deepEqual(await server.told(), { aborted: 'waits' });
  assert.ok((await stays.call('status', {})).ok);
});

test('a client that follows and does not read is left behind', async (t) => {
  const { home, server } = await running(t);
  const socket = connect(controlAddress(home) ?? '');
  t.after(() => socket.destroy());
  socket.write('{"id":1,"method":"session.transcript","params":{"id":"a","follow":true}}\n');
  assert.deepEqual(await server.told(), { flooded: false });
  socket.on('data', () => {});
  await once(socket, 'close');
  assert.ok(socket.bytesRead < 200 << 20);
});

test('what waits for the client to read reaches it whole, however long it is', async (t) => {
  const { home, server } = await running(t);
  const station = await client(t, home);
  let entries = 0;
  const answer = await station.call('session.transcript', { id: 'patient' }, () => {
    entries += 1;
  });
  assert.deepEqual([answer.ok, entries], [true, 200]);
  assert.deepEqual(await server.told(), { flooded: false });
  // One that never reads keeps nothing but its own answer waiting.
  const idle = connect(controlAddress(home) ?? '');
  t.after(() => idle.destroy());
  idle.write('{"id":1,"method":"session.transcript","params":{"id":"patient"}}\n');
  await once(idle, 'readable');
  assert.ok((await station.call('status', {})).ok);
  idle.destroy();
  assert.deepEqual(await server.told(), { flooded: true });
});

test('more open requests than one client may have are station/busy', async (t) => {
  const { home } = await running(t);
  const station = await client(t, home);
  for (let count = 0; count < 64; count += 1) void station.call('session.say', { id: 'waits', text: 'x' });
  assert.equal(codeOf(await station.call('status', {})), 'station/busy');
});

test('down is answered, what is open is told that the station stops, then the socket is gone', async (t) => {
  const { home, server } = await running(t);
  const follows = await client(t, home);
  const open = follows.call('session.say', { id: 'waits', text: 'hi' });
  const down = await (await client(t, home)).call('down', {});
  assert.ok(down.ok && down.value.stopped);
  assert.equal(codeOf(await open), 'station/stopping');
  const [first, second] = [await server.told(), await server.told()];
  assert.deepEqual([first, second].map((line) => Object.keys(line)[0]).sort(), ['aborted', 'closed']);
  assert.equal(existsSync(join(home, 'run', 'station.sock')), false);
  assert.equal(codeOf(await connectStation(home)), 'station/not-running');
  assert.equal(codeOf(await follows.call('status', {})), 'station/connection-lost');
});

test('a station that is killed breaks the connection: station/connection-lost', async (t) => {
  const { home, server } = await running(t);
  const station = await client(t, home);
  const open = station.call('session.say', { id: 'waits', text: 'hi' });
  await station.call('status', {});
  server.child.kill('SIGKILL');
  assert.equal(codeOf(await open), 'station/connection-lost');
  assert.equal(codeOf(await station.call('status', {})), 'station/connection-lost');
});

test('requests wait for a station that is still opening its home', async (t) => {
  const home = homeIn(temporary(t));
  const server = serve(t, home, 'later');
  await server.told();
  const status = (await client(t, home)).call('status', {});
  server.child.stdin?.write('go\n');
  assert.ok((await status).ok);
});

test('a second station is refused while the first lives, and takes the place of a killed one', async (t) => {
  const { home, server } = await running(t);
  assert.equal((await serve(t, home).told()).problem?.code, 'station/already-running');
  assert.ok((await (await client(t, home)).call('status', {})).ok, 'the first goes on');
  server.child.kill('SIGKILL');
  await once(server.child, 'exit');
  assert.ok(existsSync(join(home, 'run', 'station.sock')), 'the dead one left its socket');
  const rivals = [serve(t, home), serve(t, home), serve(t, home)];
  const told = await Promise.all(rivals.map(({ told }) => told()));
  assert.equal(told.filter(({ ready }) => ready !== undefined).length, 1, JSON.stringify(told));
  assert.equal(told.filter(({ problem }) => problem?.code === 'station/already-running').length, 2);
  assert.ok((await (await client(t, home)).call('status', {})).ok);
});

test('the socket and its folder are closed to others, and an open home is refused', async (t) => {
  const { home } = await running(t);
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  assert.equal(modeOf(join(home, 'run')), 0o700);
  assert.equal(modeOf(join(home, 'run', 'station.sock')), 0o600);
  const other = homeIn(temporary(t));
  for (const mode of [0o750, 0o705, 0o701]) {
    chmodSync(other, mode);
    assert.equal((await serve(t, other).told()).problem?.code, 'station/home-unsafe', mode.toString(8));
  }
  chmodSync(other, 0o700);
  mkdirSync(join(other, 'run'), { mode: 0o700 });
  chmodSync(join(other, 'run'), 0o755);
  assert.equal((await serve(t, other).told()).problem?.code, 'station/home-unsafe');
});

test('a home whose path is too long for a socket has it in a private folder of the temporary one', async (t) => {
  const folder = temporary(t);
  const home = homeIn(folder, 'x'.repeat(120));
  const TMPDIR = join(folder, 'tmp');
  mkdirSync(TMPDIR);
  const server = serve(t, home, '', { TMPDIR });
  const address = (await server.told()).ready ?? '';
  assert.ok(address.startsWith(join(TMPDIR, 'jupiter-')) && Buffer.byteLength(address) <= 100, address);
  assert.equal(statSync(join(address, '..')).mode & 0o777, 0o700);
  assert.equal(readFileSync(join(home, 'run', 'station.address'), 'utf8'), address);
  const station = await client(t, home);
  assert.ok((await station.call('down', {})).ok);
  await once(server.child, 'exit');
  assert.equal(existsSync(address) || existsSync(join(home, 'run', 'station.address')), false);
  chmodSync(join(address, '..'), 0o777);
  assert.equal((await serve(t, home, '', { TMPDIR }).told()).problem?.code, 'station/home-unsafe');
});
