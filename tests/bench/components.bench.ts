/** What a component costs: idle, at its install, when it is started again, and a message through it. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildComponent } from '../../components/guest/build.ts';
import { packBundle } from '../../host/bundles/index.ts';
import { connectStation } from '../../host/cli/client.ts';
import { generatorUrl } from '../../host/sandbox/transpile/tools.ts';
import { firstPartyGrants } from '../e2e/harness.ts';
import { benchHome, residentMb, root, runToEnd } from './bench-home.ts';
import { type Measured, median } from './report.ts';

const idleComponents = 20;
const installs = 5;
const permissions = ['bus:publish', 'store:own'];

const inChild = async <T>(what: string, guest: string, cache: string): Promise<T> =>
  JSON.parse(
    await runToEnd(process.execPath, [
      '--expose-gc',
      join(root, 'tests', 'bench', 'components.child.ts'),
      what,
      guest,
      cache,
    ]),
  ) as T;

export const carrier = (out: string): Promise<Uint8Array> =>
  buildComponent({ entry: join(root, 'tests', 'fixtures', 'guests', 'carrier.ts'), out, permissions });

/** A guest of about 2 MB: code of its own, since a snapshot keeps what the source holds. */
const largeGuest = async (dir: string, mark: number): Promise<Uint8Array> => {
  const filler = Array.from(
    { length: 1_700 },
    (_, index) => `  s${index}: '${`${mark}-${index}-`.padEnd(96, 'x')}',`,
  );
  const entry = join(dir, `large-${mark}.ts`);
  writeFileSync(
    entry,
    `import { defineComponent } from ${JSON.stringify(join(root, 'components', 'guest', 'index.ts'))};
     const table: Record<string, string> = {\n${filler.join('\n')}\n};
     export const component = defineComponent({ subscribes: { 'bearpunch.sessions.changed': (_m, station) => station.log.info(table['s1'] ?? '') } });`,
  );
  return buildComponent({ entry, out: join(dir, `large-${mark}.wasm`), permissions: [] });
};

const bundleOf = async (
  dir: string,
  id: string,
  version: string,
  components: Readonly<Record<string, Uint8Array>>,
  asks: readonly string[],
): Promise<string> => {
  const folder = join(dir, `${id}-${version}`);
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(components)) writeFileSync(join(folder, `${name}.wasm`), bytes);
  writeFileSync(
    join(folder, 'bundle.json'),
    JSON.stringify({
      manifest: 2,
      id,
      version,
      components: Object.keys(components).map((name) => ({
        id: name,
        driver: 'wasm',
        entry: `${name}.wasm`,
        permissions: asks,
        handles: [],
        subscribes: ['bearpunch.sessions.changed'],
        publishes: [],
      })),
    }),
  );
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

/** The generator alone, loaded and run once in a fresh process; its own time, ms. */
const bareTranspile = async (file: string): Promise<number> => {
  const script = `
    import { readFileSync } from 'node:fs';
    const bytes = readFileSync(${JSON.stringify(file)});
    const start = performance.now();
    const { generate, $init } = await import(${JSON.stringify(generatorUrl())});
    await $init;
    const { files } = generate(bytes, { name: 'g', map: [], instantiation: { tag: 'sync' }, noTypescript: true, noNodejsCompat: true, tlaCompat: false, base64Cutoff: 0 });
    for (const [name, content] of files) if (name.endsWith('.wasm')) await WebAssembly.compile(content);
    console.log(performance.now() - start);
    process.exit(0);`;
  return Number(await runToEnd(process.execPath, ['--input-type=module', '-e', script]));
};

const settle = () => new Promise((resolve) => setTimeout(resolve, 2_000));

export const idleMemory = async (dir: string, guest: Uint8Array): Promise<readonly Measured[]> => {
  const bench = benchHome({ grants: { ...firstPartyGrants, 'bench.idle': permissions } });
  const bare = spawn(
    process.execPath,
    [
      '-e',
      `const { Worker } = require('node:worker_threads');
       const rss = () => process.memoryUsage.rss() / 2 ** 20;
       const before = rss();
       const all = Array.from({ length: ${idleComponents} }, () => new Promise((up) => new Worker("require('node:worker_threads').parentPort.on('message', () => 0).postMessage(1)", { eval: true }).once('message', up)));
       Promise.all(all).then(() => setTimeout(() => { console.log((rss() - before) / ${idleComponents}); process.exit(0); }, 1500));`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let out = '';
  bare.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const bareEnded = new Promise((resolve) => bare.on('close', resolve));
  try {
    const idle = async (): Promise<number> => {
      bench.jupiter('down');
      bench.jupiter('up');
      const { pid } = JSON.parse(bench.jupiter('status')) as { pid: number };
      await settle();
      return residentMb(pid);
    };
    // The first start transpiles; what that leaves behind is no idle cost.
    bench.jupiter('up');
    bench.jupiter('status');
    const before = await idle();
    const names = Array.from({ length: idleComponents }, (_, index) => `c${index}`);
    const folder = await bundleOf(
      dir,
      'bench.idle',
      '1.0.0',
      Object.fromEntries(names.map((name) => [name, guest])),
      permissions,
    );
    bench.jupiter('bundle', 'install', folder);
    const all = await idle();
    await bareEnded;
    const bareMb = Number(out);
    const each = (all - before) / idleComponents;
    return [
      {
        what: 'an idle component',
        ours: each,
        reference: bareMb,
        unit: 'MB',
        referenceIs: 'an empty worker thread',
        goal: { atMost: Number((20 / bareMb).toFixed(2)) },
        note: 'the goal is 20 MB: a station with 20 of them, less one without, by 20.',
      },
      {
        what: `a station with ${idleComponents} idle components`,
        ours: all,
        reference: bareMb * idleComponents,
        unit: 'MB',
        referenceIs: `${idleComponents} empty worker threads`,
        goal: { atMost: Number((350 / (bareMb * idleComponents)).toFixed(2)) },
        note: 'the goal is 350 MB in all, the first-party bundles and the station itself included.',
      },
    ];
  } finally {
    bench.end();
  }
};

const installTime = async (dir: string): Promise<readonly Measured[]> => {
  const bench = benchHome({ grants: firstPartyGrants });
  const [first, next, bare]: [number[], number[], number[]] = [[], [], []];
  let size = 0;
  try {
    for (let round = 0; round < installs * 2; round += 1) {
      const fresh = round % 2 === 0;
      if (fresh && round > 0) bench.jupiter('down');
      if (fresh) bench.jupiter('up');
      bench.jupiter('status');
      const bytes = await largeGuest(dir, round);
      size = bytes.length;
      const folder = await bundleOf(dir, 'bench.large', `1.0.${round}`, { large: bytes }, []);
      const station = await connectStation(bench.home);
      if (!station.ok) throw new Error(station.problem.message);
      const start = performance.now();
      const installed = await station.value.call('bundle.install', { source: folder });
      const took = performance.now() - start;
      station.value.close();
      if (!installed.ok) throw new Error(JSON.stringify(installed.problem));
      const alone = await bareTranspile(join(folder, 'large.wasm'));
      (fresh ? first : next).push(took);
      bare.push(alone);
    }
  } finally {
    bench.end();
  }
  const row = (what: string, ours: readonly number[], note: string): Measured => ({
    what,
    ours: median(ours),
    reference: median(bare),
    unit: 'ms',
    referenceIs: 'a bare transpile of it',
    goal: { atMost: 1.5 },
    note,
  });
  const mb = (size / 1e6).toFixed(1);
  return [
    row(
      `install of a component of ${mb} MB, the first of a station`,
      first,
      'verified, staged, admitted, transpiled in its throw-away worker, cached on disk and started.',
    ),
    row(`install of a component of ${mb} MB, soon after another`, next, 'the generator is still compiled.'),
  ];
};

export const bench = async (): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-components-'));
  const [guest, cache] = [join(dir, 'carrier.wasm'), join(dir, 'cache')];
  try {
    const bytes = await carrier(guest);
    const idle = await idleMemory(dir, bytes);
    const install = await installTime(dir);
    const restart = await inChild<{ ours: number; bare: number }>('restart', guest, cache);
    const batched = await inChild<{ ours: number; bare: number; bytes: number }>('batched', guest, cache);
    const steady = await inChild<{ early: number; late: number; afterCalls: number }>('steady', guest, cache);
    return [
      ...idle,
      ...install,
      {
        what: 'restart after a kill, to the next answer',
        ours: restart.ours,
        reference: restart.bare,
        unit: 'ms',
        referenceIs: 'start of an empty worker',
        goal: { atMost: Number((150 / restart.bare).toFixed(2)) },
        note: 'the goal is 150 ms in the median: the guest loops, is stopped, and the next message is answered.',
      },
      {
        what: `a message of ${(batched.bytes / 1_000).toFixed(1)} KB through one component, batched by 32`,
        ours: batched.ours,
        reference: batched.bare,
        unit: 'µs',
        referenceIs: 'the bare batched call of the same guest',
        goal: { atMost: 1.5 },
        note: 'ours is a command from outside to its reply: both shapes checked, policy asked, committed.',
      },
      {
        what: 'memory after 100,000 messages',
        ours: steady.late,
        reference: steady.early,
        unit: 'MB',
        referenceIs: 'after the first 20,000',
        goal: { atMost: 1.1 },
      },
      {
        what: 'memory after a message with 10,000 host calls, and one with 10,000 that block',
        ours: steady.afterCalls,
        reference: steady.late,
        unit: 'MB',
        referenceIs: 'before it',
        goal: { atMost: 1.1 },
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
