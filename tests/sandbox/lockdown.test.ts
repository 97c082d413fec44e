/**
 * W4: what code inside a worker can reach. The probe stands in the place of the generated glue, so it has more than any
 * guest: whatever a component breaks out into, it is no more than this.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { sha256, writeEntry } from '../../host/sandbox/cache.ts';
import type { AdmittedComponent } from '../../host/sandbox/index.ts';
import { admitted, message1, quickJs, running, temporaryFolder } from './guests.ts';

/** Each attempt resolves to something true where it got through. `place` is a folder with a file `secret`. */
const attempts = {
  'reads a file': `(await import('node:fs')).readFileSync(place + '/secret', 'utf8') === 'canary'`,
  'reads a file by getBuiltinModule': `process.getBuiltinModule('node:fs').readFileSync(place + '/secret', 'utf8') === 'canary'`,
  'lists a folder': `(await import('node:fs')).readdirSync(place).length > 0`,
  'writes a file': `(await import('node:fs')).writeFileSync(place + '/written', 'x') === undefined`,
  'creates a file through SQLite': `new (await import('node:sqlite')).DatabaseSync(place + '/made.db').exec('create table t (x)') === undefined`,
  'reads the environment': `Object.keys(process.env).length > 0`,
  'reads the process list': `(await import('node:fs')).readdirSync('/proc').length > 0`,
  'reads arguments': `process.argv.length > 0`,
  'signals a process': `process.kill(process.pid, 0)`,
  'starts a process': `(await import('node:child_process')).spawnSync('true').status === 0`,
  'connects a socket': `await import('node:net').then(({ connect }) => new Promise((ok, no) => connect(port, '127.0.0.1').on('connect', () => ok(true)).on('error', no)))`,
  fetches: `(await fetch('http://127.0.0.1:' + port).catch((e) => { if (e.cause?.code === 'HPE_INVALID_CONSTANT' || e.cause?.code === 'UND_ERR_SOCKET') return true; throw e; })) !== undefined`,
  'starts a worker': `new (await import('node:worker_threads')).Worker('', { eval: true }) !== undefined`,
  'finds the port to the host': `(await import('node:worker_threads')).parentPort !== null`,
  'talks to other threads': `new BroadcastChannel('x').postMessage('y') === undefined`,
  'sets V8 flags': `(await import('node:v8')).setFlagsFromString('--no-opt') === undefined`,
  'imports by data URL': `(await import('data:text/javascript,import fs from "node:fs"; export const read = fs.readFileSync')).read(place + '/secret', 'utf8') === 'canary'`,
  'imports by file URL': `(await import(file)).found === 'canary'`,
  'imports in a new function': `(await new Function('return import("node:fs")')()).existsSync(place)`,
  'imports by a bare name': `typeof (await import('fs')).readFileSync === 'function'`,
  'makes a require': `(await import('node:module')).createRequire(file)('fs').existsSync(place)`,
  'uses internal bindings': `process.binding('fs') !== undefined`,
  'loads an addon': `(() => { try { process.dlopen({ exports: {} }, place + '/secret'); } catch (e) { return /invalid ELF|file too short|not a mach-o|not valid/i.test(e.message); } })()`,
  'finds process by eval': `typeof (0, eval)('process').pid === 'number'`,
  'finds process by Function': `typeof new Function('return process')().pid === 'number'`,
  'finds process in the stack': `(() => { Error.prepareStackTrace = (_, sites) => sites; const sites = new Error().stack; return sites.some((s) => s.getThis()?.process?.pid) ; })() || typeof process.pid === 'number'`,
  'writes to the terminal': `process.stdout.write('') === true`,
  'sets a timer': `await new Promise((ok) => setTimeout(() => ok(true), 0))`,
  'ends the process': `typeof process.exit === 'function'`,
  'starts the inspector': `typeof (await import('node:inspector')).open === 'function'`,
  'puts a global back': `(() => { Object.defineProperty(globalThis, 'process', { value: { pid: 1 } }); return process.pid === 1; })()`,
} as const;
type Attempt = keyof typeof attempts;

/** Which defences stop an attempt, each without the others. */
const stoppedBy: Readonly<Record<Attempt, readonly Layer[]>> = {
  'reads a file': ['flags', 'imports'],
  'reads a file by getBuiltinModule': ['flags', 'globals'],
  'lists a folder': ['flags', 'imports'],
  'writes a file': ['flags', 'imports'],
  'creates a file through SQLite': ['imports'],
  'reads the environment': ['globals', 'env'],
  'reads the process list': ['flags', 'imports'],
  'reads arguments': ['globals'],
  'signals a process': ['globals'],
  'starts a process': ['flags', 'imports'],
  'connects a socket': ['flags', 'imports'],
  fetches: ['flags', 'globals'],
  'starts a worker': ['flags', 'imports'],
  'finds the port to the host': ['imports'],
  'talks to other threads': ['globals'],
  'sets V8 flags': ['imports'],
  'imports by data URL': ['flags', 'imports'],
  'imports by file URL': ['flags', 'imports'],
  'imports in a new function': ['flags', 'imports'],
  'imports by a bare name': ['imports'],
  'makes a require': ['flags', 'imports'],
  'uses internal bindings': ['flags', 'globals'],
  'loads an addon': ['flags', 'globals'],
  'finds process by eval': ['globals'],
  'finds process by Function': ['globals'],
  'finds process in the stack': ['globals'],
  'writes to the terminal': ['globals'],
  'sets a timer': ['globals'],
  'ends the process': ['globals'],
  'starts the inspector': ['imports'],
  'puts a global back': ['globals'],
};

const probe = (place: string, file: string, port: number): string => `
const place = ${JSON.stringify(place)}, file = ${JSON.stringify(file)}, port = ${port};
const results = {};
${Object.entries(attempts)
  .map(
    ([name, code]) =>
      `try { results[${JSON.stringify(name)}] = (${code}) ? 'through' : 'nothing'; } catch (e) { results[${JSON.stringify(name)}] = 'refused'; }`,
  )
  .join('\n')}
export const found = JSON.stringify(results);
export const instantiate = () => ({
  component: { handle: (batch) => batch.map(() => ({ tag: 'replied', val: found })) },
});
`;

/** A cache entry whose glue is `source`, as if a component had been admitted and transpiled to it. */
const asGlue = async (folder: string, source: string): Promise<AdmittedComponent> => {
  const component = sha256(source);
  const surface = { imports: [], wasi: [], wit: '0.1.0' };
  const files = new Map([['g.js', Buffer.from(source)]]);
  assert.ok((await writeEntry(folder, component, { component, surface, files })).ok);
  return { digest: component, folder: join(folder, component), imports: [], wit: '0.1.0' };
};

const setting = async (t: { after: (end: () => unknown) => void }) => {
  const folder = realpathSync(temporaryFolder(t));
  const place = join(folder, 'place');
  mkdirSync(place);
  writeFileSync(join(place, 'secret'), 'canary');
  writeFileSync(join(place, 'module.mjs'), `export const found = 'canary';`);
  const server = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 204 No\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const source = probe(place, pathToFileURL(join(place, 'module.mjs')).href, port);
  return { folder, place, source };
};

type Found = Readonly<Record<Attempt, string>>;

/** The defences of a worker, each of which can be taken away. */
const layers = ['flags', 'imports', 'globals', 'env'] as const;
type Layer = (typeof layers)[number];

const lockdownUrl = new URL('../../host/sandbox/worker/lockdown.ts', import.meta.url);

/** The same probe in a worker that has only these of the defences. */
const under = async (folder: string, source: string, active: ReadonlySet<Layer>): Promise<Found> => {
  const name = [...active].join('-') || 'none';
  const [file, main] = [join(folder, `probe-${name}.mjs`), join(folder, `main-${name}.mjs`)];
  writeFileSync(file, source);
  const own = pathToFileURL(file).href;
  writeFileSync(
    main,
    `import { parentPort } from 'node:worker_threads';
    import { closeGlobals, closeImports } from ${JSON.stringify(lockdownUrl.href)};
    const post = parentPort.postMessage.bind(parentPort);
    await import('data:text/javascript,');
    ${active.has('imports') ? `closeImports(${JSON.stringify(source)}); await import('jupiter:empty');` : ''}
    ${active.has('globals') ? 'closeGlobals();' : ''}
    post((await import(${active.has('imports') ? "'jupiter:glue'" : JSON.stringify(own)})).found);`,
  );
  const readable = [file, main, fileURLToPath(lockdownUrl)].map((path) => `--allow-fs-read=${path}`);
  const worker = new Worker(pathToFileURL(main), {
    execArgv: active.has('flags') ? ['--permission', ...readable] : [],
    stdout: true,
    stderr: true,
    env: active.has('env') ? {} : { SOME: 'x' },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  worker.on('message', (found: string) => resolve(JSON.parse(found))).on('error', reject);
  return promise.finally(() => worker.terminate());
};

const throughOf = (found: Found): readonly string[] =>
  Object.entries(found)
    .filter(([, how]) => how === 'through')
    .map(([name]) => name)
    .sort();

/** Attempts that a set of defences lets through, by the table. */
const letThrough = (active: ReadonlySet<Layer>): readonly string[] =>
  Object.entries(stoppedBy)
    .filter(([, by]) => !by.some((layer) => active.has(layer)))
    .map(([name]) => name)
    .sort();

const settings: readonly (readonly [name: string, active: readonly Layer[]])[] = [
  ['none of the defences', []],
  ...layers.map((layer) => [`${layer} alone`, [layer]] as const),
  ...layers.map((layer) => [`all but ${layer}`, layers.filter((one) => one !== layer)] as const),
  ['all of them', layers],
];
for (const [name, active] of settings) {
  test(`W4: ${name}: what is stopped is what these defences stop, each for itself`, async (t) => {
    const { folder, source } = await setting(t);
    const found = await under(folder, source, new Set(active));
    assert.deepEqual(throughOf(found), letThrough(new Set(active)));
  });
}

test('W4: in an activation every attempt fails', async (t) => {
  const { folder, place, source } = await setting(t);
  const { send } = await running(await asGlue(folder, source), t);
  const result = await send([message1('m1')]);
  assert.ok(result.ok, JSON.stringify(result));
  const [handled] = result.handled;
  assert.ok(handled?.outcome.tag === 'replied');
  const found: Found = JSON.parse(handled.outcome.reply);
  const through = Object.entries(found).filter(([, how]) => how !== 'refused' && how !== 'nothing');
  assert.deepEqual(through, []);
  assert.equal(Object.keys(found).length, Object.keys(attempts).length);
  assert.deepEqual(readdirSync(place).sort(), ['module.mjs', 'secret']);
});

test('W4: a rejection nobody takes ends the worker, quietly for the host', async (t) => {
  const folder = temporaryFolder(t);
  const handle = `() => { import('node:fs'); return [{ tag: 'done' }]; }`;
  const source = `export const instantiate = () => ({ component: { handle: ${handle} } });`;
  const { send, gone } = await running(await asGlue(folder, source), t);
  // The worker may end before its answer is out.
  const result = await send([message1('m1')]);
  assert.ok(result.ok || result.problem.code === 'sandbox/gone', JSON.stringify(result));
  assert.equal((await gone).code, 'sandbox/gone');
});

test('W4: a QuickJS guest finds nothing of the outside', async (t) => {
  const cache = temporaryFolder(t);
  const body = `
    const seen = {};
    for (const name of ['process', 'require', 'fetch', 'std', 'os', 'Deno', 'Bun', 'Worker', 'XMLHttpRequest', 'print', 'scriptArgs']) {
      seen[name] = typeof globalThis[name];
    }
    return batch.map(() => ({ tag: 'replied', val: JSON.stringify(seen) }));`;
  const { send } = await running(await admitted(await quickJs(body), cache), t);
  const result = await send([message1('m1')]);
  assert.ok(result.ok);
  const outcome = result.handled[0]?.outcome;
  assert.ok(outcome?.tag === 'replied');
  assert.deepEqual(new Set(Object.values(JSON.parse(outcome.reply))), new Set(['undefined']));
});
