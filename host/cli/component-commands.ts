/** `jupiter component`: what an author needs to turn TypeScript into a bundle. Runs without a station. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ok, type Result, refuse } from '../problems/index.ts';
import { installation } from '../station/index.ts';
import { type Answer, type Run, short } from './output.ts';
import { example, group } from './usage.ts';

interface Draft {
  readonly components?: readonly {
    readonly id: string;
    readonly entry: string;
    readonly permissions?: readonly string[];
  }[];
}

/** The source of a component: its entry with `.ts` for `.wasm`. */
const sourceOf = (dir: string, entry: string): string => join(dir, entry.replace(/\.wasm$/, '.ts'));

const readDraft = (dir: string): Result<Draft> => {
  const file = join(dir, 'bundle.json');
  if (!existsSync(file)) return refuse('bundle/manifest-missing', { subject: dir });
  try {
    return ok(JSON.parse(readFileSync(file, 'utf8')) as Draft);
  } catch (error) {
    return refuse('bundle/manifest-unreadable', { subject: file, evidence: String(error) });
  }
};

const noNodeModules =
  'A component has no Node modules: no file, no network, no environment. Use what its handler is given (`station`: log, clock, random, store, bus), or a library that needs none of them.';

/** What to do, where a source imports what only Node has. */
const fixFor = (evidence: string): { readonly fix?: string } =>
  [...evidence.matchAll(/Could not resolve "([^"]+)"/g)].some(([, name = '']) => isBuiltin(name))
    ? { fix: noNodeModules }
    : {};

const buildInto = async (dir: string, out: string, draft: Draft): Promise<Result<void>> => {
  const { buildComponent } = await import('../../components/guest/build.ts');
  for (const { id, entry, permissions = [] } of draft.components ?? []) {
    const source = sourceOf(dir, entry);
    if (!existsSync(source)) return refuse('component/source-missing', { subject: id, evidence: source });
    try {
      await buildComponent({
        entry: source,
        out: join(out, entry),
        permissions,
        wit: join(installation(), 'wit'),
        guest: join(installation(), 'components', 'guest', 'index.ts'),
      });
    } catch (error) {
      const evidence = (error as Error).message;
      return refuse('component/build-failed', { subject: id, evidence, ...fixFor(evidence) });
    }
  }
  return ok(undefined);
};

/** The whole bundle in a new folder, packed. */
const assemble = async (dir: string, folder: string, draft: Draft) => {
  const built = await buildInto(dir, folder, draft);
  if (!built.ok) return built;
  cpSync(join(dir, 'bundle.json'), join(folder, 'bundle.json'));
  if (existsSync(join(dir, 'skills')))
    cpSync(join(dir, 'skills'), join(folder, 'skills'), { recursive: true });
  const { packBundle } = await import('../bundles/index.ts');
  return packBundle(folder);
};

/** What is at `out` changes when all is built, not before. */
const build = async (dir: string, out: string): Promise<Result<Answer>> => {
  const draft = readDraft(dir);
  if (!draft.ok) return draft;
  const { readBundle } = await import('../bundles/index.ts');
  // Only what a build made is replaced: a whole bundle holds no file its manifest does not name.
  if (existsSync(out) && readdirSync(out).length > 0 && !(await readBundle(out)).ok) {
    return refuse('component/out-occupied', { subject: out });
  }
  const place = mkdtempSync(join(tmpdir(), 'jupiter-build-'));
  try {
    const folder = join(place, 'bundle');
    mkdirSync(folder);
    const packed = await assemble(dir, folder, draft.value);
    if (!packed.ok) return packed;
    rmSync(out, { recursive: true, force: true });
    cpSync(folder, out, { recursive: true });
    const { manifest, identity } = packed.value;
    const ids = manifest.components.map(({ id }) => id);
    return ok({
      json: { id: manifest.id, version: manifest.version, revision: identity, components: ids, folder: out },
      plain: `${manifest.id} ${manifest.version}  ${short(identity)}  ${ids.join(', ') || 'no components'}  ${out}`,
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

export const addComponentCommands = (program: Command, run: Run): void => {
  const component = group(program, 'component', 'write components', 'component build ./my-bundle');
  example(
    component
      .command('build')
      .description(
        'build the components of a bundle from the TypeScript beside its bundle.json, and pack the result',
      )
      .argument('[dir]', 'folder of the bundle', '.')
      .option(
        '-o, --out <dir>',
        'where the built bundle goes; what is there is replaced (default: <dir>/dist)',
      ),
    'component build ./my-bundle',
  ).action((dir: string, { out }: { out?: string }) =>
    run(() => build(resolve(dir), resolve(out ?? join(dir, 'dist')))),
  );
};
