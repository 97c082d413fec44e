/**
 * Published skills, requests a second over 16 connections: ours beside eve 0.80.1, the official SDK's handler and a bare
 * server that sends the same bytes, on the same skills in the same run.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalog } from '../../host/mcp/channel/catalog.ts';
import { modernRequest, type Sent, skill, writeFiles } from '../mcp/published.ts';
import { buildEve, startEve } from './eve.ts';
import { type Measured, median } from './report.ts';

const connections = 16;
const warmMs = 700;
const measureMs = 1_500;
const rounds = 3;

const rawRequest = ({ body, headers }: Sent): Buffer => {
  const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n');
  return Buffer.concat([Buffer.from(`POST /v1/mcp HTTP/1.1\r\n${head}\r\n\r\n`), Buffer.from(body)]);
};

const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/** Sends one request after the other on a connection; `answered` hears of every whole answer. */
const drive = (socket: Socket, request: Buffer, answered: (status: string) => void): void => {
  let need = 0;
  let head = '';
  let tail: Buffer | undefined;
  const done = (): void => {
    const status = head.slice(9, 12);
    head = '';
    need = 0;
    tail = undefined;
    answered(status);
    socket.write(request);
  };
  socket.on('data', (part: Buffer) => {
    let at = 0;
    if (head === '' || (need === 0 && tail === undefined)) {
      const before = head.length;
      head += part.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      at = end + 4 - before;
      head = head.slice(0, end);
      if (/transfer-encoding: chunked/i.test(head)) tail = Buffer.alloc(0);
      else need = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    }
    const rest = part.subarray(at);
    if (tail === undefined) {
      need -= rest.length;
      if (need <= 0) done();
      return;
    }
    // JSON holds no bare line ends, so this is the last chunk and nothing else; one answer is on its way at a time.
    tail = Buffer.concat([tail, rest.subarray(-lastChunk.length)]).subarray(-lastChunk.length);
    if (tail.equals(lastChunk)) done();
  });
  socket.write(request);
};

const throughput = async (port: number, sent: Sent): Promise<number> => {
  const request = rawRequest(sent);
  let count = 0;
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket.setNoDelay(true);
    }),
  );
  for (const socket of sockets) {
    drive(socket, request, (status) => {
      if (status !== '200') throw new Error(`answered ${status}`);
      count += 1;
    });
  }
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(warmMs);
  count = 0;
  const began = performance.now();
  await wait(measureMs);
  const rate = (count * 1_000) / (performance.now() - began);
  for (const socket of sockets) socket.destroy();
  return rate;
};

const start = async (mode: string, place: string): Promise<{ port: number; child: ChildProcess }> => {
  const file = join(import.meta.dirname, 'channel.child.ts');
  const child = spawn(process.execPath, [file, mode, place], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { port: Number(line.toString()), child };
};

const oneAnswer = async (port: number, { body, headers }: Sent): Promise<Buffer> => {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/mcp`, {
    method: 'POST',
    body: String(body),
    headers,
  });
  return Buffer.from(await answer.arrayBuffer());
};

interface Work {
  readonly what: string;
  readonly sent: Sent;
  readonly many: boolean;
  /** Times eve. */
  readonly atLeast: number;
}
const read = (name: string): Sent => modernRequest('resources/read', { uri: `skill://one/${name}` });
const works: readonly Work[] = [
  {
    what: '`skills/list`, 1 skill',
    sent: modernRequest('skills/list'),
    many: false,
    atLeast: 10,
  },
  {
    what: '`skills/list`, 100 skills of 10 files',
    sent: modernRequest('skills/list'),
    many: true,
    atLeast: 10,
  },
  { what: '`resources/read`, 70 B', sent: read('small.md'), many: false, atLeast: 10 },
  { what: '`resources/read`, 64 KiB', sent: read('middle.md'), many: false, atLeast: 8 },
  { what: '`resources/read`, 512 KiB binary', sent: read('large.bin'), many: false, atLeast: 4 },
];

const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** Everything read and hashed for the first time, and looked at again. */
const firstListing = async (dir: string): Promise<readonly Measured[]> => {
  const files: Record<string, string> = {};
  for (let n = 0; n < 1_000; n += 1) {
    files[`skill-${n}/SKILL.md`] = skill(`skill-${n}`, 'Some words of instruction.\n'.repeat(60));
    for (let file = 1; file < 10; file += 1)
      files[`skill-${n}/f/${file}.md`] = `File ${file} of ${n}.\n`.repeat(80);
  }
  writeFiles(dir, files);
  const sums = () =>
    execFileSync('sh', ['-c', 'find "$1" -type f -print0 | xargs -0 sha256sum', 'sh', dir], {
      maxBuffer: 64 * 1024 * 1024,
    });
  const times = { sums: [] as number[], first: [] as number[], later: [] as number[] };
  sums();
  for (let round = 0; round < 5; round += 1) {
    times.sums.push(await timed(sums));
    let later = 0;
    const open = () => {
      const catalog = openCatalog({
        sources: () => ({ bundles: [], folders: [dir], frontmatter: 'complete' }),
        report: ({ where }) => console.error(where),
        clock: () => performance.now() + later,
      });
      return async () => {
        const { entries } = await catalog.look();
        if (entries.length !== 1_000) throw new Error(`${entries.length} entries`);
      };
    };
    const look = open();
    times.first.push(await timed(look));
    later = 1e9;
    times.later.push(await timed(look));
  }
  const later = median(times.later);
  return [
    {
      what: 'first listing, 1,000 skills of 10 files',
      ours: median(times.first),
      reference: median(times.sums),
      unit: 'ms',
      referenceIs: '`sha256sum` of the tree',
      goal: { atMost: 2 },
      note: `looking again while nothing changed: ${later.toFixed(0)} ms, at most every ten times as long.`,
    },
  ];
};

/** What a process holds once every file of every skill was read, with files of half a KiB and of half a MiB. */
const memory = async (dir: string): Promise<Measured> => {
  const held = async (name: string, bytes: number): Promise<number> => {
    const files: Record<string, string | Uint8Array> = {};
    for (let n = 0; n < 20; n += 1) {
      files[`skill-${n}/SKILL.md`] = skill(`skill-${n}`);
      for (let file = 1; file < 10; file += 1)
        files[`skill-${n}/${file}.bin`] = Buffer.alloc(bytes, n + file);
    }
    writeFiles(join(dir, name), files);
    const child = join(import.meta.dirname, 'channel.child.ts');
    const args = ['--expose-gc', child, 'memory', join(dir, name)];
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8' })) / 2 ** 20;
  };
  const small = await held('small', 512);
  return {
    what: 'memory held after every file was read, files 1,024 times as large',
    ours: await held('big', 512 * 1024),
    reference: small,
    unit: 'MB',
    referenceIs: 'the small files',
    goal: { atMost: 1.1 },
    note: '20 skills of 10 files, 90 KB and 90 MB in all; heap, buffers and what they stand for after a collection.',
  };
};

export const bench = async (): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-channel-'));
  const children: ChildProcess[] = [];
  const others: ChildProcess[] = [];
  const open = async (mode: string, place: string): Promise<number> => {
    const { port, child } = await start(mode, place);
    children.push(child);
    return port;
  };
  try {
    writeFiles(join(dir, 'one'), {
      'one/SKILL.md': skill('one'),
      'one/small.md': 'x'.repeat(70),
      'one/middle.md': 'A line of text, "quoted".\n'.repeat(2_521),
      'one/large.bin': Buffer.alloc(
        512 * 1024,
        Uint8Array.from({ length: 251 }, (_, n) => n),
      ),
    });
    const many: Record<string, string> = {};
    for (let n = 0; n < 100; n += 1) {
      many[`skill-${n}/SKILL.md`] = skill(`skill-${n}`);
      for (let file = 1; file < 10; file += 1)
        many[`skill-${n}/references/file-${file}.md`] = `${file} of ${n}\n`;
    }
    writeFiles(join(dir, 'many'), many);
    const measured: Measured[] = [];
    for (const name of ['one', 'many']) await buildEve(join(dir, `eve-${name}`), join(dir, name));
    for (const { what, sent, many: isMany, atLeast } of works) {
      const place = join(dir, isMany ? 'many' : 'one');
      const ours = await open('ours', place);
      const sdk = await open('sdk', place);
      const answer = join(dir, 'answer');
      writeFileSync(answer, await oneAnswer(ours, sent));
      const floor = await open('floor', answer);
      const eve = await startEve(join(dir, isMany ? 'eve-many' : 'eve-one'));
      others.push(eve.child);
      const rates: Record<'ours' | 'eve' | 'sdk' | 'floor', number[]> = {
        ours: [],
        eve: [],
        sdk: [],
        floor: [],
      };
      for (let round = 0; round < rounds; round += 1) {
        rates.ours.push(await throughput(ours, sent));
        rates.eve.push(await throughput(eve.port, sent));
        rates.sdk.push(await throughput(sdk, sent));
        rates.floor.push(await throughput(floor, sent));
      }
      for (const child of children.splice(0)) child.stdin?.end();
      for (const child of others.splice(0)) child.kill();
      const whole = (rate: number): string => Math.round(rate).toLocaleString('en');
      const bare = median(rates.floor);
      measured.push({
        what,
        ours: median(rates.ours),
        reference: median(rates.eve),
        unit: '/s',
        referenceIs: 'eve 0.80.1',
        goal: { atLeast },
        note: `SDK v2 handler ${whole(median(rates.sdk))}/s; bare node:http that sends the same bytes ${whole(bare)}/s, ours ${(median(rates.ours) / bare).toFixed(2)} of it.`,
      });
    }
    return [...measured, ...(await firstListing(join(dir, 'thousand'))), await memory(dir)];
  } finally {
    for (const child of children) child.stdin?.end();
    for (const child of others) child.kill();
    rmSync(dir, { recursive: true, force: true });
  }
};
