/**
 * One command from an author's TypeScript to a component: esbuild bundles it, componentize-qjs snapshots it.
 *
 * componentize imports every interface of its world whether the code uses it or not, and admission refuses an
 * import whose permission the manifest does not ask for. So each component gets a world of its own: the platform's,
 * less the interfaces it has no permission for. Runs on Node, never in a guest.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { componentize } from 'componentize-qjs';
import { build, type Plugin } from 'esbuild';

/** Releases of the platform, oldest first. A component is built against the first that has all it may use. */
const witReleases = ['0.1.0', '0.2.0', '0.3.0'] as const;
const newest = '0.3.0';
const world = 'plugin';

/** Which permission an interface needs, and what it offers, in the names a guest calls. */
const interfaces: Readonly<
  Record<
    string,
    {
      readonly permission?: string;
      /** The release that has all of these names. */
      readonly since?: (typeof witReleases)[number];
      readonly names: readonly string[];
    }
  >
> = {
  log: { names: ['write'] },
  clock: { names: ['now', 'wake'] },
  random: { names: ['bytes'] },
  store: { permission: 'store:own', names: ['get', 'scan', 'put', 'remove'] },
  bus: { permission: 'bus:publish', names: ['begin', 'publish'] },
  process: { permission: 'process:spawn', names: ['spawn', 'write', 'kill'] },
  workspace: {
    permission: 'process:spawn',
    since: '0.2.0',
    names: ['offered', 'readTextFile', 'writeTextFile'],
  },
  terminals: {
    permission: 'process:spawn',
    since: '0.2.0',
    names: ['create', 'output', 'kill', 'release'],
  },
  'session-context': {
    permission: 'session-context:provision',
    since: '0.3.0',
    names: ['servers', 'serversFor', 'placeSkills', 'outside'],
  },
};

export interface BuildOptions {
  /** The module that exports `component`. */
  readonly entry: string;
  /** Where the component goes; its folder is made. */
  readonly out: string;
  /** As in the manifest; all of them where not given. */
  readonly permissions?: readonly string[];
  /** Folder of the WIT releases; the one beside this SDK where not given. */
  readonly wit?: string;
  /** What `jupiter-station/guest` stands for, wherever the source lies; this SDK where not given. */
  readonly guest?: string;
}

const everyPermission: readonly string[] = Object.values(interfaces).flatMap(
  ({ permission }) => permission ?? [],
);
const ownWit = resolve(import.meta.dirname, '../../wit');
const ownGuest = join(import.meta.dirname, 'index.ts');

/** A station serves every release it ever had: the older one a component needs, the more stations run it. */
export const releaseFor = (permissions: readonly string[]): string =>
  witReleases.findLast((release) =>
    Object.values(interfaces).some(
      ({ permission, since }) =>
        since === release && permission !== undefined && permissions.includes(permission),
    ),
  ) ?? witReleases[0];

/** The WIT text with a world that imports only what these permissions allow. */
export const narrowedWorld = (wit: string, permissions: readonly string[]): string => {
  const start = wit.indexOf(`world ${world} {`);
  const end = wit.indexOf('}', start);
  if (start < 0 || end < 0) throw new Error(`the WIT has no world "${world}"`);
  const lines = wit
    .slice(start, end)
    .split('\n')
    .filter((line) => {
      const name = /^\s*import ([a-z-]+);\s*$/.exec(line)?.[1];
      const needed = name === undefined ? undefined : interfaces[name]?.permission;
      return needed === undefined || permissions.includes(needed);
    });
  return wit.slice(0, start) + lines.join('\n') + wit.slice(end);
};

/** Stands in for an interface the component may not import: each call is a problem that says what to ask for. */
const absentModule = (name: string): string => {
  const { permission = '', names = [] } = interfaces[name] ?? {};
  const payload = {
    code: 'component/permission-missing',
    message: `The component does not ask for the permission ${permission}.`,
    subject: name,
    fix: `Add "${permission}" to the permissions in bundle.json and build again.`,
  };
  const exported = names.map((each) =>
    // Without the bus the host sends batches of one, and there is nothing to say.
    each === 'begin'
      ? 'export const begin = () => {};'
      : `export const ${each} = () => { throw Object.assign(new Error('absent'), { payload: ${JSON.stringify(payload)} }); };`,
  );
  return exported.join('\n');
};

const platform = (permissions: readonly string[]): Plugin => ({
  name: 'platform',
  setup: (bundle) => {
    const prefix = 'bearpunch:station/';
    bundle.onResolve({ filter: /^bearpunch:station\// }, ({ path }) => {
      const name = path.slice(prefix.length).split('@')[0] ?? '';
      const known = interfaces[name];
      if (known === undefined || path !== `${prefix}${name}@${newest}`) {
        return { errors: [{ text: `the platform has no interface ${path}` }] };
      }
      return known.permission === undefined || permissions.includes(known.permission)
        ? { path: `${prefix}${name}@${releaseFor(permissions)}`, external: true, sideEffects: false }
        : { path: name, namespace: 'absent', sideEffects: false };
    });
    bundle.onLoad({ filter: /.*/, namespace: 'absent' }, ({ path }) => ({
      contents: absentModule(path),
      loader: 'js',
    }));
  },
});

/** The guest's JavaScript, one module that imports nothing but the platform. Throws esbuild's findings. */
export const bundleGuest = async (
  entry: string,
  permissions: readonly string[],
  guest: string = ownGuest,
): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [resolve(entry)],
    // Names in the output are relative to the entry: the same source gives the same bytes in any checkout.
    absWorkingDir: dirname(resolve(entry)),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    mainFields: ['module', 'main'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    // An author's folder need not lie in a project that has this package installed.
    alias: { 'jupiter-station/guest': guest },
    plugins: [platform(permissions)],
  });
  const text = outputFiles[0]?.text;
  if (text === undefined) throw new Error(`nothing was built from ${entry}`);
  return text;
};

/** Builds one component. Throws where the source does not build: this is a tool for authors. */
export const buildComponent = async (options: BuildOptions): Promise<Uint8Array> => {
  const { permissions = everyPermission } = options;
  const jsSource = await bundleGuest(options.entry, permissions, options.guest);
  const wit = await readFile(join(options.wit ?? ownWit, releaseFor(permissions), 'station.wit'), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'jupiter-wit-'));
  try {
    await writeFile(join(folder, 'station.wit'), narrowedWorld(wit, permissions));
    const { component } = await componentize({
      witPath: folder,
      jsSource,
      world,
      stubWasi: true,
      sync: true,
      optSize: true,
    });
    await mkdir(dirname(options.out), { recursive: true });
    await writeFile(options.out, component);
    return component;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
