// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of a skill look like those of a template
/**
 * Skills: expanding a body of 100 KB (at most 2 ms), and the first listing of 1,000 skills of 10 files with all digests
 * (at most twice `sha256sum` of the tree, in the same run), later ones from memory. Prints one line of JSON a number.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSkillLibrary, renderSkill } from '../../host/skills/index.ts';

const rounds = 5;
const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const say = (name: string, numbers: Record<string, number>): void => {
  const rounded = Object.entries(numbers).map(([key, value]) => [key, Number(value.toFixed(2))]);
  console.log(JSON.stringify({ name, ...Object.fromEntries(rounded) }));
};

const expansion = async (): Promise<void> => {
  const line =
    'Deploy $target with $ARGUMENTS from ${JUPITER_SKILL_DIR}, costs $HOME $10 and some plain words.\n';
  const body = line.repeat(Math.ceil(100_000 / line.length));
  const skill = { document: { body, arguments: ['target'] }, dir: '/home/somebody/.jupiter/skills/deploy' };
  const first = await timed(() => renderSkill(skill, 'staging now'));
  const warm: number[] = [];
  for (let round = 0; round < 50; round += 1) warm.push(await timed(() => renderSkill(skill, 'staging now')));
  say('skills: expand 100 KB', { bytes: body.length, firstMs: first, medianMs: median(warm), reachMs: 2 });
};

const listing = async (): Promise<void> => {
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
    say('skills: list 1,000 of 10 files', {
      sha256sumMs: median(reference),
      coldMs: first[0] ?? Number.NaN,
      firstMs: median(first),
      laterMs: median(later),
      ratio: median(first) / median(reference),
      reach: 2,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

await expansion();
await listing();
