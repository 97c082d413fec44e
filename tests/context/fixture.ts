/** Bundles' skills and workspaces for the tests of placing. */
import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type PlacedMemory,
  type Placement,
  placeSkills,
  type Remembered,
  type SkillSource,
} from '../../host/context/index.ts';

export const sink = '.claude/skills';
export const record = '.bearpunch-placed.json';

export const temporary = (t: TestContext): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'context-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

export const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** A skill as an installed bundle has it. */
export const skill = (
  packages: string,
  name: string,
  files: Readonly<Record<string, string>>,
  { bundle = 'example.tools', revision = 'r1' } = {},
): SkillSource => {
  const folder = join(packages, bundle, revision, 'skills', name);
  const listed = Object.entries({ 'SKILL.md': `# ${name} ${revision}`, ...files }).map(([path, text]) => {
    write(join(folder, path), text);
    return { path, sha256: hash('sha256', text), size: Buffer.byteLength(text) };
  });
  return { bundle, revision, name, folder, files: listed };
};

/** Everything below a folder: path → text, link target, or `folder`. */
export const tree = (root: string, below = ''): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) found[path] = `→ ${readlinkSync(join(root, path))}`;
    else if (stat.isDirectory()) Object.assign(found, { [path]: 'folder' }, tree(root, path));
    else found[path] = readFileSync(join(root, path), 'utf8');
  }
  return found;
};

/** A home's memory, in files beside the workspace, so that it outlives the process and can be copied with it. */
export const memoryOf = (cwd: string): PlacedMemory => {
  const file = (name: string): string => join(`${cwd}.memory`, hash('sha256', name));
  return {
    of: (name) =>
      existsSync(file(name)) ? (JSON.parse(readFileSync(file(name), 'utf8')) as Remembered) : undefined,
    set: (name, what) => {
      if (what === undefined) return rmSync(file(name), { force: true });
      mkdirSync(dirname(file(name)), { recursive: true });
      // Whole at once: several processes share it.
      const own = `${file(name)}-${process.pid}`;
      writeFileSync(own, JSON.stringify(what));
      renameSync(own, file(name));
    },
  };
};

export const place = async (
  cwd: string,
  ...skills: readonly SkillSource[]
): Promise<readonly Placement[]> => {
  const result = await placeSkills({ cwd, sink, skills, memory: memoryOf(cwd) });
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.value;
};
/** `name: decision` and the code of a refusal. */
export const verdicts = (placements: readonly Placement[]): readonly string[] =>
  placements.map(({ name, decision, reason }) =>
    decision === 'refused'
      ? `${name}: refused ${/\(([a-z-]+\/[a-z-]+)/.exec(reason ?? '')?.[1]}`
      : `${name}: ${decision}`,
  );
