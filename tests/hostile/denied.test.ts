/**
 * W4 from a component's side: what is denied to it, tried by a real one, and as a control got at once the defence in
 * its way is taken away. What a worker can reach at all is in tests/sandbox/lockdown.test.ts.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { componentize } from 'componentize-qjs';
import { answerStore, openProcessCapability } from '../../host/capabilities/index.ts';
import { permissions, readPolicy } from '../../host/policy/index.ts';
import type { RunningProcess } from '../../host/processes/index.ts';
import { readComponent } from '../../host/sandbox/admission/component.ts';
import { limitComponent, memoryPlan } from '../../host/sandbox/admission/rewrite.ts';
import { inspectComponent } from '../../host/sandbox/admit.ts';
import { sha256, writeEntry } from '../../host/sandbox/cache.ts';
import { type AdmittedComponent, defaultLimits, startActivation } from '../../host/sandbox/index.ts';
import { generatorUrl, shimFolder } from '../../host/sandbox/transpile/tools.ts';
import { transpile } from '../../host/sandbox/transpile/transpile.ts';
import { openRedactor } from '../../host/state/index.ts';
import { openBusBench } from '../bus/fixture.ts';
import { codeOf, message1, running, temporaryFolder, watGuest } from '../sandbox/guests.ts';

/** The generated files of bytes that admission never saw, as a cache entry. */
const unadmitted = async (
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<AdmittedComponent> => {
  const component = sha256(files.get('g.js') ?? '');
  const surface = { imports: [], wasi: [], wit: '0.1.0' };
  assert.ok((await writeEntry(folder, component, { component, surface, files })).ok);
  return { digest: component, folder: join(folder, component), imports: [], wit: '0.1.0' };
};
/** Loads generated files in this process, with nothing around them: what there would be without a sandbox. */
const unguarded = async (
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
  imports: Readonly<Record<string, unknown>>,
): Promise<{
  component: { handle: (batch: readonly unknown[]) => readonly { tag: string; val: string }[] };
}> => {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const { instantiate } = await import(pathToFileURL(join(folder, 'g.js')).href);
  return instantiate((name: string) => new WebAssembly.Module(Buffer.from(files.get(name) ?? [])), imports);
};
const activationCode = async (component: AdmittedComponent): Promise<string> => {
  const started = await startActivation(component, {
    limits: defaultLimits,
    name: 'a:b',
    onCall: () => ({ ok: true, value: null }),
    onResult: () => undefined,
    onGone: () => undefined,
  });
  if (started.ok) await started.value.stop();
  return codeOf(started);
};

/** WASI as a host gives it that denies nothing, from the shim's in-process build. */
const everythingOfWasi = async (env: Readonly<Record<string, string>>): Promise<Record<string, unknown>> => {
  const part = async (name: string) => import(new URL(`${name}.js`, shimFolder()).href);
  const names = ['cli', 'clocks', 'filesystem', 'io', 'random', 'sockets'];
  const modules = await Promise.all(names.map(async (name) => [name, await part(name)] as const));
  const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const all = Object.fromEntries(
    modules.flatMap(([name, exports]) =>
      Object.entries(exports).map(([key, found]) => [`wasi:${name}/${kebab(key)}`, found] as const),
    ),
  );
  return {
    ...all,
    'wasi:cli/environment': { getEnvironment: () => Object.entries(env), getArguments: () => [] },
  };
};

test('W4: the environment through WASI: refused at admission, absent in the worker, and there without both', async (t) => {
  const folder = temporaryFolder(t);
  const wit = join(folder, 'wit');
  mkdirSync(join(wit, 'deps', 'cli'), { recursive: true });
  writeFileSync(
    join(wit, 'deps', 'cli', 'cli.wit'),
    'package wasi:cli@0.2.12;\ninterface environment { get-environment: func() -> list<tuple<string, string>>; }\n',
  );
  writeFileSync(
    join(wit, 'world.wit'),
    `package bearpunch:station@0.1.0;
     interface types { record problem { code: string, message: string, subject: option<string>, evidence: option<string>, fix: option<string> }
       record message { id: string, topic: string, payload: string, source: string, at: u64 }
       variant outcome { done, replied(string), failed(problem) } }
     interface component { use types.{message, outcome}; handle: func(batch: list<message>) -> list<outcome>; }
     world plugin { import wasi:cli/environment@0.2.12; export component; }`,
  );
  const { component } = await componentize({
    witPath: wit,
    jsSource: `import { getEnvironment } from 'wasi:cli/environment@0.2.12';
      export const component = { handle: (batch) => batch.map(() => ({ tag: 'replied', val: JSON.stringify(getEnvironment()) })) };`,
    world: 'plugin',
    stubWasi: false,
    sync: true,
    optSize: true,
  });
  const judged = inspectComponent(component, permissions);
  assert.equal(codeOf(judged), 'sandbox/wasi-refused');
  assert.match(judged.ok ? '' : (judged.problem.subject ?? ''), /wasi:cli\/environment/);

  const tree = readComponent(component);
  const plan = memoryPlan(tree, defaultLimits);
  assert.ok(plan.ok);
  const files = await transpile(limitComponent(component, tree, plan.value));
  assert.ok(files.ok, JSON.stringify(files));
  assert.equal(
    await activationCode(await unadmitted(join(folder, 'cache'), files.value)),
    'sandbox/start-failed',
  );

  const bare = await unguarded(join(folder, 'bare'), files.value, {
    ...(await everythingOfWasi({ CANARY: 'seen' })),
    'bearpunch:station/types': {},
  });
  assert.equal(bare.component.handle([{ ...message1('m'), at: 0n }])[0]?.val, '[["CANARY","seen"]]');
});

/** What the generator makes of bytes nobody looked at, in a thread of its own since it leaves threads behind. */
const generated = async (bytes: Uint8Array): Promise<readonly (readonly [string, Uint8Array])[]> => {
  const options = {
    name: 'g',
    map: [],
    instantiation: { tag: 'sync' },
    noTypescript: true,
    noNodejsCompat: true,
    tlaCompat: false,
    base64Cutoff: 0,
    noComponentErrorWrapping: true,
  };
  const worker = new Worker(
    `const { parentPort, workerData: { url, bytes, options } } = require('node:worker_threads');
     import(url).then(async ({ generate, $init }) => { await $init; parentPort.postMessage(generate(bytes, options).files); });`,
    { eval: true, workerData: { url: generatorUrl(), bytes, options } },
  );
  const { promise, resolve, reject } = Promise.withResolvers<readonly (readonly [string, Uint8Array])[]>();
  worker.on('message', resolve).on('error', reject);
  return promise.finally(() => worker.terminate());
};

/** Bytes whose generated code does what the name of an export says: the transpiler writes it unescaped. */
const injection = `']; globalThis.injected = (globalThis.injected ?? 0) + 1; exports0['handle`;
const crafted = (): Promise<Uint8Array> =>
  watGuest({
    core: `(func (export "${injection}") (param i32 i32) (result i32) i32.const 8)`,
    extra: `(func $more (param "batch" (list $message)) (result (list $outcome))
      (canon lift (core func $i "${injection}") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
      (export "more" (func $more))`,
  });

test('W1, W4: code in a name: refused at admission, refused after transpilation, harmless in the worker, and run without them', async (t) => {
  const bytes = await crafted();
  assert.equal(codeOf(inspectComponent(bytes, permissions)), 'sandbox/name-refused');
  assert.equal(codeOf(await transpile(bytes)), 'sandbox/output-refused');

  const raw = await generated(bytes);
  const files: ReadonlyMap<string, Uint8Array> = new Map(raw);
  assert.ok(Buffer.from(files.get('g.js') ?? []).includes('globalThis.injected'), 'the code is in the code');
  const folder = temporaryFolder(t);
  const world = globalThis as { injected?: number };
  await activationCode(await unadmitted(join(folder, 'cache'), files));
  assert.equal(world.injected, undefined, 'what ran, ran in the worker');
  try {
    const bare = await unguarded(join(folder, 'bare'), files, { 'bearpunch:station/types': {} });
    bare.component.handle([]);
  } catch {
    // Whether the rest of the code works does not matter.
  }
  assert.ok((world.injected ?? 0) > 0, 'control: without the sandbox it runs here');
  delete world.injected;
});

test('W4: the state of another component: its keys are not there, by name or by scan; the owner the host stamps is why', async (t) => {
  const bench = await openBusBench(t);
  const [one, two] = ['test.bundle:one', 'test.bundle:two'];
  await bench.attach(one);
  await bench.attach(two);
  assert.ok((await bench.ask({ put: { secret: 'of two' } }, two)).ok);
  for (const key of [
    'secret',
    `${two}/secret`,
    `${two}\u0000secret`,
    '../test.bundle:two/secret',
    "' OR 1=1 --",
  ]) {
    const got = await bench.ask({ get: key }, one);
    assert.deepEqual(got.ok && got.value, {}, key);
  }
  assert.ok((await bench.ask({ put: { secret: 'of one' } }, one)).ok);
  assert.ok((await bench.ask({ get: 'secret', act: 'remove' }, one)).ok);
  assert.equal(bench.stored('secret', two), 'of two', 'nor can it be written over or removed');
  const asTwo = answerStore(bench.store, two, { call: 'store.get', key: 'secret' });
  assert.deepEqual(asTwo, { ok: true, value: '"of two"' }, 'control: under the other name it is there');
});

test('W4: the processes of another component are not its own, nor is one that ended or was made up', async (t) => {
  const ended: string[] = [];
  const bytes = Buffer.from(JSON.stringify({ programs: { p: { command: 'true', trust: 'full' } } }));
  const policy = readPolicy(bytes, 'policy.jsonc');
  let count = 0;
  const capability = openProcessCapability({
    processes: {
      start: async ({ alias }: { alias: string }) => ({
        ok: true,
        value: {
          pid: 1,
          end: async () => void ended.push(alias),
          write: () => undefined,
        } as unknown as RunningProcess,
      }),
    } as never,
    policy: () => policy,
    env: {},
    redact: (text) => text,
    pieces: () => openRedactor(() => new Set(), {}).pieces(),
    tell: () => undefined,
    hasRoom: () => true,
    log: () => undefined,
    newId: () => {
      count += 1;
      return `p-${count}`;
    },
  });
  assert.deepEqual(await capability.spawn('test.bundle:two', 'm1', 'p', '/'), { ok: true, value: 'p-1' });
  const bench = await openBusBench(t, { subscribes: () => [], owns: capability.owns });
  await bench.attach('test.bundle:one');
  await bench.attach('test.bundle:two');
  bench.grant([...permissions]);
  for (const id of ['p-1', 'p-2', '1']) {
    const tried = await bench.ask({ get: id, act: 'kill' }, 'test.bundle:one');
    assert.equal(codeOf(tried), 'bus/not-its-process', id);
  }
  assert.equal(
    codeOf(await bench.ask({ get: 'p-1', act: 'kill' }, 'test.bundle:two')),
    'ok',
    'control: its own',
  );
});

test('W4: a guest cannot hold the thread of the host: while it loops another one answers', async (t) => {
  const folder = temporaryFolder(t);
  const source = (body: string) => `export const instantiate = () => ({ component: { handle: ${body} } });`;
  const make = (body: string) => unadmitted(folder, new Map([['g.js', Buffer.from(source(body))]]));
  const loops = await running(await make('() => { for (;;); }'), t, { callDeadlineMs: 400 });
  const answers = await running(await make(`(batch) => batch.map(() => ({ tag: 'done' }))`), t);
  const looped = loops.send([message1('m')]);
  let answered = 0;
  const stop = looped.then(() => true);
  while (!(await Promise.race([stop, answers.send([message1('n')]).then(() => false)]))) answered += 1;
  assert.equal(codeOf(await looped), 'sandbox/deadline');
  assert.ok(answered > 10, `${answered} answers meanwhile`);

  // Control: in this thread the same would hold everything up for as long as it likes.
  const short = source(
    '() => { const end = performance.now() + 50; while (performance.now() < end); return []; }',
  );
  const bare = await unguarded(join(folder, 'bare'), new Map([['g.js', Buffer.from(short)]]), {});
  let others = 0;
  const timer = setInterval(() => (others += 1), 1);
  bare.component.handle([]);
  clearInterval(timer);
  assert.equal(others, 0);
});
