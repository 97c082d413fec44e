/**
 * `contracts check` on 5,000 topics and 2,000 commits of which 200 touched the lock, beside the least that a look at
 * all of history costs: `git log` over the lock, and one parse of every version of it. Whole processes are timed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalShape } from '../../host/contracts/index.ts';
import { lockText } from '../../host/contracts/lock.ts';
import { root } from './bench-home.ts';
import { type Measured, median } from './report.ts';

const topics = 5_000;
const commits = 2_000;
const lockCommits = 200;
const rounds = 5;
const lockFile = 'contracts/topics.lock.json';

interface Topic {
  readonly id: string;
  readonly kind: 'command';
  readonly shape: Readonly<Record<string, unknown>>;
}

const topicAt = (number: number): Topic => ({
  // Scattered over the alphabet, so that additions land all over the lock.
  id: `probe.${((number * 7_919) % 100_003).toString(36)}.t${number}`,
  kind: 'command',
  shape: {
    request: {
      type: 'object',
      properties: {
        session: { type: 'string', minLength: 1, maxLength: 64 },
        text: { type: 'string', maxLength: 1_000 + number },
        kind: { enum: ['a', 'b', 'c'] },
        items: { type: 'array', maxItems: 50, items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      },
      required: ['session', 'text'],
      additionalProperties: false,
    },
    reply: { type: 'object', properties: {}, additionalProperties: false },
  },
});

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

/** The history through `git fast-import`: each commit changes a file, each tenth the lock as well. */
const build = (dir: string, env: NodeJS.ProcessEnv): void => {
  const all = Array.from({ length: topics }, (_, number) => topicAt(number));
  const entries = all.map((topic) => {
    const found = canonicalShape(topic);
    if (!found.ok) throw new Error(found.problem.message);
    return { id: topic.id, kind: topic.kind, ...found.value };
  });
  const manifest = JSON.stringify({ manifest: 2, id: 'probe', version: '1.0.0', topics: all }, null, 2);
  execFileSync('git', ['init', '-q', '-b', 'main', dir], { env });
  const parts: string[] = [];
  let held = topics - lockCommits;
  for (let number = 0; number < commits; number += 1) {
    parts.push(
      `commit refs/heads/main\ncommitter A <a@example.org> ${1_767_225_600 + number} +0000\n${data('c')}`,
    );
    parts.push(`M 100644 inline src/f${number % 50}\n${data(String(number))}`);
    if (number % (commits / lockCommits) === 0) {
      held += 1;
      parts.push(`M 100644 inline ${lockFile}\n${data(lockText(entries.slice(0, held)))}`);
    }
    if (number === commits - 1) parts.push(`M 100644 inline bundle.json\n${data(manifest)}`);
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: dir, env, input: parts.join('') });
  execFileSync('git', ['repack', '-adq'], { cwd: dir, env });
  execFileSync('git', ['checkout', '-qf', 'main'], { cwd: dir, env });
};

const referenceScript = `
import { spawn, execFileSync } from 'node:child_process';
const path = ${JSON.stringify(lockFile)};
const commits = execFileSync('git', ['log', '--format=%H', '--', path]).toString().trim().split('\\n');
const git = spawn('git', ['cat-file', '--batch']);
git.stdin.end(commits.map((commit) => commit + ':' + path).join('\\n') + '\\n');
let rest = Buffer.alloc(0), parsed = 0, chunks = [], have = 0, need = -1;
for await (const chunk of git.stdout) {
  chunks.push(chunk);
  have += chunk.length;
  if (have < need) continue;
  rest = Buffer.concat(chunks);
  for (;;) {
    const feed = rest.indexOf(10);
    if (feed < 0) break;
    const size = Number(rest.toString('latin1', 0, feed).split(' ')[2]);
    need = feed + 1 + size + 1;
    if (rest.length < need) break;
    parsed += JSON.parse(rest.toString('utf8', feed + 1, feed + 1 + size)).length > 0 ? 1 : 0;
    rest = rest.subarray(need);
    need = -1;
  }
  chunks = [rest];
  have = rest.length;
}
console.log(parsed);
`;

const timed = (run: () => void): number => {
  const before = performance.now();
  run();
  return performance.now() - before;
};

/** \`buf breaking\` on as many messages, where the registry can be reached; it is installed for this and removed. */
const buf = (base: string, env: NodeJS.ProcessEnv): number | undefined => {
  const dir = join(base, 'buf');
  mkdirSync(join(dir, 'proto'), { recursive: true });
  const npm = spawnSync(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--prefix', dir, '@bufbuild/buf@1.75.0'],
    {
      env: process.env,
      timeout: 120_000,
    },
  );
  if (npm.status !== 0) return undefined;
  const messages = Array.from(
    { length: topics },
    (_, number) =>
      `message M${number} {\n  string session = 1;\n  string text = 2;\n  repeated string items = 3;\n}\n`,
  );
  writeFileSync(join(dir, 'buf.yaml'), 'version: v2\nmodules:\n  - path: proto\n');
  writeFileSync(join(dir, 'proto/a.proto'), `syntax = "proto3";\npackage probe;\n${messages.join('')}`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env });
  git('init', '-q', '-b', 'main');
  git('add', 'proto', 'buf.yaml');
  git('commit', '-qm', 'first');
  const program = join(dir, 'node_modules/.bin/buf');
  const once = () => execFileSync(program, ['breaking', '--against', '.git#branch=main'], { cwd: dir, env });
  once();
  return median([timed(once), timed(once), timed(once)]);
};

export const bench = async (): Promise<readonly Measured[]> => {
  const base = mkdtempSync(join(tmpdir(), 'contracts-bench-'));
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
    HOME: base,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  try {
    const dir = join(base, 'repo');
    mkdirSync(dir);
    build(dir, env);
    const peak = join(base, 'peak');
    writeFileSync(
      join(base, 'peak.mjs'),
      // Linux counts what the parent held at the fork into maxRSS; VmHWM is this process alone.
      `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
       const status = '/proc/self/status';
       process.on('exit', () => {
         const own = existsSync(status) ? /VmHWM:\\s*(\\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
         writeFileSync(${JSON.stringify(peak)}, own ?? String(process.resourceUsage().maxRSS));
       });`,
    );
    writeFileSync(join(base, 'reference.mjs'), referenceScript);
    const node = (...args: string[]): string =>
      execFileSync(process.execPath, ['--import', join(base, 'peak.mjs'), ...args], {
        cwd: dir,
        env,
        encoding: 'utf8',
      });
    const jupiter = (...args: string[]): string => {
      const output = node(join(root, 'bin', 'jupiter.mjs'), 'contracts', 'check', ...args);
      if (!output.startsWith(`ok: ${topics} topics`)) throw new Error(output);
      return output;
    };
    const figures = { history: [] as number[], reference: [] as number[], ref: [] as number[] };
    let memory = 0;
    jupiter();
    for (let round = 0; round < rounds; round += 1) {
      figures.history.push(timed(() => jupiter('--ci')));
      memory = Math.max(memory, Number(readFileSync(peak, 'utf8')) / 1024);
      figures.reference.push(timed(() => node(join(base, 'reference.mjs'))));
      figures.ref.push(timed(() => jupiter('--against', 'HEAD~1000')));
    }
    const measured: Measured[] = [
      {
        what: `contracts check, ${topics} topics, ${commits} commits, ${lockCommits} of the lock`,
        ours: median(figures.history),
        reference: median(figures.reference),
        unit: 'ms',
        referenceIs: 'git log and a parse of every version',
        goal: { atMost: 1.5 },
      },
      {
        what: 'contracts check --against one ref',
        ours: median(figures.ref),
        reference: 300,
        unit: 'ms',
        referenceIs: 'the goal',
        goal: { atMost: 1 },
      },
      {
        what: 'most memory of the whole-history check',
        ours: memory,
        reference: 200,
        unit: 'MB',
        referenceIs: 'the goal',
        goal: { atMost: 1 },
      },
    ];
    const other = buf(base, env);
    if (other !== undefined)
      measured.push({
        what: 'contracts check --against one ref, beside buf',
        ours: median(figures.ref),
        reference: other,
        unit: 'ms',
        referenceIs: `buf breaking on ${topics} messages against a branch`,
        goal: { atMost: 1 },
      });
    return measured;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
};
