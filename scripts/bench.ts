/**
 * Runs the benchmarks: `npm run bench`, or `npm run bench -- placement` for one. Every figure is a ratio beside a
 * reference measured in the same run. `--write` puts the table into docs/benchmarks.md.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { type Measured, row } from '../tests/bench/report.ts';

const args = process.argv.slice(2);
const write = args.includes('--write');
const wanted = args.filter((arg) => arg !== '--write');
const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'benchmarks.md');

const files = globSync('tests/bench/*.bench.ts', { cwd: root })
  .sort()
  .filter((file) => wanted.length === 0 || wanted.some((name) => basename(file).startsWith(name)));
if (files.length === 0) {
  console.error(`no benchmark named ${wanted.join(', ')}`);
  process.exit(1);
}

const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${arch()}, Node ${process.versions.node}`;
const head = [
  '| what | ours | reference, same run | ratio | goal | reached |',
  '| --- | --- | --- | --- | --- | --- |',
];
const sections: string[] = [];
console.log(`${machine}\n\n${head.join('\n')}`);
for (const file of files) {
  const { bench } = (await import(join(root, file))) as { bench: () => Promise<readonly Measured[]> };
  const measured = await bench();
  for (const one of measured) console.log(row(one));
  const notes = measured.flatMap(({ what, note }) => (note === undefined ? [] : [`- ${what}: ${note}`]));
  const name = basename(file, '.bench.ts');
  sections.push(
    [`## ${name}`, '', ...head, ...measured.map(row), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n'),
  );
}

if (write) {
  const before = readFileSync(page, 'utf8');
  let text = before.replace(/^Machine: .*$/m, `Machine: ${machine}.`);
  for (const section of sections) {
    const title = section.split('\n', 1)[0] ?? '';
    const start = text.indexOf(`${title}\n`);
    const next = start < 0 ? -1 : text.indexOf('\n## ', start + 1);
    const end = next < 0 ? text.length : next + 1;
    text =
      start < 0
        ? `${text.trimEnd()}\n\n${section}\n`
        : `${text.slice(0, start)}${section}\n${next < 0 ? '' : '\n'}${text.slice(end)}`;
  }
  writeFileSync(page, text);
}
