/**
 * What a component may import and must export. Every import is a released platform interface it asks a permission
 * for, or part of the closed WASI world; all of it has exactly the platform's types. It exports `component` of the
 * same release, and what componentize-qjs adds.
 */
import { permissionFor } from '../../policy/index.ts';
import { ok, type Result, refuse } from '../../problems/index.ts';
import { type Interface, releaseOf, releases } from '../releases/index.ts';
import type { ComponentTree } from './scope.ts';
import type { Exports, Item } from './types.ts';
import { wasi02 } from './wasi-0.2.ts';

/** componentize-qjs leaves its build-time entry on the component; the host never calls it. */
const toolchainExports: Readonly<Record<string, string>> = {
  init: 'func(shim:string,script:string,entry-path:option<string>,disable-gc:bool) -> result<_,string>',
};

export interface Surface {
  /** Platform interfaces, without `types`, sorted. */
  readonly imports: readonly string[];
  readonly wasi: readonly string[];
  readonly wit: string;
}

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** The first thing of an instance that the platform's interface does not have, or has with another type. */
const strayIn = (
  subject: string,
  known: Interface,
  found: Exports,
  code: 'sandbox/import-type' | 'sandbox/export-type',
): Result<undefined> => {
  for (const [name, item] of found) {
    const place = `${subject}#${name}`;
    const wanted =
      item.sort === 'func'
        ? own(known.funcs, name)
        : item.sort === 'type'
          ? own(known.types, name)
          : undefined;
    if (wanted === undefined) {
      return refuse('sandbox/function-unknown', {
        subject: place,
        evidence: `${name} is no part of ${subject}`,
      });
    }
    const text = item.sort === 'func' || item.sort === 'type' ? item.text : '';
    if (text !== wanted) {
      return refuse(code, { subject: place, evidence: `expected ${wanted}\nfound ${text}` });
    }
  }
  return ok(undefined);
};

const split = (name: string): { readonly owner: string; readonly path: string; readonly version: string } => {
  const [whole = '', version = ''] = name.split('@');
  const [owner = '', path = ''] = whole.split(':');
  return { owner, path, version };
};

const stationInterface = (owner: string, path: string): string | undefined =>
  owner === 'bearpunch' && path.startsWith('station/') ? path.slice('station/'.length) : undefined;

const unserved = (name: string): Result<never> =>
  refuse('sandbox/release-unknown', {
    subject: name,
    evidence: `this station serves ${releases.map(({ version }) => version).join(', ')}`,
  });

/** An import, judged against the tables and the permissions asked for. */
const judgeImport = (name: string, item: Item, permissions: ReadonlySet<string>): Result<undefined> => {
  const { owner, path, version } = split(name);
  if (owner === 'wasi') {
    const known = /^0\.2\.[0-9]+$/.test(version) ? own(wasi02, path) : undefined;
    if (known === undefined || item.sort !== 'instance') {
      const first =
        item.sort === 'instance' ? [...item.exports].find(([, { sort }]) => sort === 'func') : undefined;
      return refuse('sandbox/wasi-refused', { subject: first === undefined ? name : `${name}#${first[0]}` });
    }
    return strayIn(name, known, item.exports, 'sandbox/import-type');
  }
  const short = stationInterface(owner, path);
  if (short === undefined) return refuse('sandbox/import-unknown', { subject: name });
  const release = releaseOf(version);
  if (release === undefined) return unserved(name);
  const known = own(release.imports, short);
  const open = Object.hasOwn(permissionFor, short) || short === 'types';
  if (known === undefined || !open || item.sort !== 'instance') {
    return refuse('sandbox/import-unknown', {
      subject: name,
      evidence: `release ${version} offers ${Object.keys(release.imports).join(', ')}`,
    });
  }
  const permission = own<string | undefined>(permissionFor, short);
  if (permission !== undefined && !permissions.has(permission)) {
    return refuse('sandbox/permission-missing', { subject: name, evidence: `it needs ${permission}` });
  }
  return strayIn(name, known, item.exports, 'sandbox/import-type');
};

/** Everything the outside of a component shows, judged; the first fault names what it is about. */
export const judge = (tree: ComponentTree, permissions: readonly string[]): Result<Surface> => {
  const granted = new Set(permissions);
  for (const [name, item] of tree.imports) {
    const verdict = judgeImport(name, item, granted);
    if (!verdict.ok) return verdict;
  }
  let wit: string | undefined;
  for (const [name, item] of tree.exports) {
    const extra = own(toolchainExports, name);
    const { owner, path, version } = split(name);
    if (stationInterface(owner, path) === 'component' && item.sort === 'instance') {
      const release = releaseOf(version);
      if (release === undefined) return unserved(name);
      if (wit !== undefined) {
        return refuse('sandbox/export-unknown', { subject: name, evidence: 'a second component interface' });
      }
      const verdict = strayIn(name, release.component, item.exports, 'sandbox/export-type');
      if (!verdict.ok) return verdict;
      if (!item.exports.has('handle')) {
        return refuse('sandbox/export-missing', { subject: `${name}#handle` });
      }
      wit = release.version;
    } else if (extra === undefined || item.sort !== 'func' || item.text !== extra) {
      return refuse('sandbox/export-unknown', { subject: name });
    }
  }
  if (wit === undefined) return refuse('sandbox/export-missing', { subject: 'bearpunch:station/component' });
  const parts = [...tree.imports.keys()].map(split);
  // Generated code drops versions from import names, so two of one interface would become one.
  const other = parts.find(({ owner, version }) => owner === 'bearpunch' && version !== wit);
  if (other !== undefined) {
    return refuse('sandbox/import-unknown', {
      subject: `${other.owner}:${other.path}@${other.version}`,
      evidence: `the component exports release ${wit}; one component uses one release`,
    });
  }
  const names = (owner: string): readonly string[] =>
    [...new Set(parts.filter((part) => part.owner === owner).map(({ path }) => path))].sort();
  return ok({
    imports: names('bearpunch')
      .map((path) => path.slice('station/'.length))
      .filter((name) => name !== 'types'),
    wasi: names('wasi'),
    wit,
  });
};
