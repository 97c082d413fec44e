// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of a skill look like those of a template
/**
 * Skills: expanding a body of 100 KB, and the first listing of 1,000 skills of 10 files with all digests beside
 * `sha256sum` of the tree, later ones from memory.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSkillLibrary, renderSkill } from '../../host/skills/index.ts';
import { type Measured, median } from './report.ts';

const rounds = 5;
/** Longest expansion, ms. */
const expandMs = 2;

const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const expansion = async (): Promise<Measured> => {
  const line =
    'Deploy $target with $ARGUMENTS from ${JUPITER_SKILL_DIR}, costs $HOME $10 and some plain words.\n';
  const body = line.repeat(Math.ceil(100_000 / line.length));
  const skill = { document: { body, arguments: ['target'] }, dir: '/home/somebody/.jupiter/skills/deploy' };
  const first = await timed(() => renderSkill(skill, 'staging now'));
  const warm: number[] = [];
  for (let round = 0; round < 50; round += 1) warm.push(await timed(() => renderSkill(skill, 'staging now')));
  return {
    what: 'expanding a body of 100 KB with 3,000 placeholders',
    ours: median(warm),
    reference: expandMs,
    unit: 'ms',
    referenceIs: 'the goal itself',
    goal: { atMost: 1 },
    note: `the first one in a process: ${first.toFixed(2)} ms.`,
  };
};

const listing = async (): Promise<Measured> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-'));
  try {
    const root = join(dir, '.jupiter', 'skills');
    for (let index = 0; index < 1_000; index += 1) {
      const skill = join(root, `skill-${index}`);
      mkdirSync(join(skill, 'references'), { recursive: true });
      const front = `---\nname: skill-${index}\ndescription: Does thing ${index}. Use it when asked.\n---\n`;
      writeFileSync(join(skill, 'SKILL.md'), front + 'Some words of instruction.\n'.repeat(60));
      for (let file = 1; file < 10; file += 1) {
        const path = join(skill, file < 6 ? 'references' : '.', `file-${file}.md`);
        writeFileSync(path, `File ${file} of ${index}.\n`.repeat(80));
      }
    }
    const sums = () =>
      execFileSync('sh', ['-c', 'find "$1" -type f -print0 | xargs -0 sha256sum', 'sh', root], {
        maxBuffer: 64 * 1024 * 1024,
      });
    sums();
    const reference: number[] = [];
    const first: number[] = [];
    const later: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      reference.push(await timed(sums));
      const library = openSkillLibrary({});
      const list = async () => {
        const look = await library.look({ cwd: dir, whole: true });
        for (const skill of look.skills) if (!skill.files().ok) throw new Error(skill.name);
        if (look.skills.length !== 1_000) throw new Error(`${look.skills.length} skills`);
      };
      first.push(await timed(list));
      later.push(await timed(list));
    }
    return {
      what: 'library, first listing with every digest, 1,000 skills of 10 files',
      ours: median(first),
      reference: median(reference),
      unit: 'ms',
      referenceIs: '`sha256sum` of the tree',
      goal: { atMost: 2 },
      note: `later ones, from memory: ${median(later).toFixed(0)} ms.`,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

export const bench = async (): Promise<readonly Measured[]> => [await expansion(), await listing()];
