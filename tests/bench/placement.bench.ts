/** Placing 100 skills of 10 files, and a second run that finds nothing to do, beside `cp -r` and `sha256sum`. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlacedMemory, placeSkills, type Remembered } from '../../host/context/index.ts';
import { runToEnd } from './bench-home.ts';
import { type Measured, median } from './report.ts';

const rounds = 7;
const skills = 100;
const filesEach = 10;
const bytesEach = 4_096;

export const bench = async (): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-placement-'));
  try {
    const source = join(dir, 'source');
    const sources = Array.from({ length: skills }, (_, index) => {
      const name = `skill-${index}`;
      const folder = join(source, name);
      mkdirSync(folder, { recursive: true });
      const files = Array.from({ length: filesEach }, (_, number) => {
        const path = number === 0 ? 'SKILL.md' : `file-${number}.txt`;
        const bytes = randomBytes(bytesEach / 2).toString('hex');
        writeFileSync(join(folder, path), bytes);
        return { path, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytesEach };
      });
      return { bundle: 'bench.skills', revision: 'f'.repeat(64), name, folder, files };
    });
    const first: number[] = [];
    const again: number[] = [];
    const reference: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const cwd = join(dir, `workspace-${round}`);
      mkdirSync(cwd);
      const known = new Map<string, Remembered>();
      const memory: PlacedMemory = {
        of: (name) => known.get(name),
        set: (name, what) => void (what === undefined ? known.delete(name) : known.set(name, what)),
      };
      const place = async () => {
        const start = performance.now();
        const done = await placeSkills({ cwd, sink: '.claude/skills', skills: sources, memory });
        const took = performance.now() - start;
        if (!done.ok || done.value.some(({ decision }) => decision === 'refused'))
          throw new Error('not placed');
        return took;
      };
      first.push(await place());
      const written = statSync(join(cwd, '.claude/skills/skill-0/SKILL.md')).mtimeMs;
      again.push(await place());
      if (statSync(join(cwd, '.claude/skills/skill-0/SKILL.md')).mtimeMs !== written)
        throw new Error('written again');
      const copy = join(dir, `copy-${round}`);
      const start = performance.now();
      await runToEnd('sh', [
        '-c',
        'cp -r "$0" "$1" && find "$1" -type f -print0 | xargs -0 sha256sum > "$1.sums"',
        source,
        copy,
      ]);
      reference.push(performance.now() - start);
    }
    const common = { reference: median(reference), unit: 'ms', referenceIs: '`cp -r` and `sha256sum`' };
    return [
      {
        what: `placing ${skills} skills of ${filesEach} files`,
        ours: median(first),
        ...common,
        goal: { atMost: 2 },
      },
      { what: 'the same again, nothing changed', ours: median(again), ...common, goal: { atMost: 1.2 } },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
