/**
 * Installs the bundles this installation ships: those never seen in this home, and newer ones of those still
 * installed. One the operator uninstalled does not come back.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBundle } from '../bundles/index.ts';
import type { Problem } from '../problems/index.ts';
import type { ComponentStore } from '../state/index.ts';
import type { Residents } from './residents.ts';

// The others refer to its topics.
const contractsFirst = (a: string, b: string) =>
  Number(b === 'contracts') - Number(a === 'contracts') || (a < b ? -1 : 1);

/** `refused` is told of each that was not installed; it is tried again at the next start. */
export const installShipped = async (
  folder: string,
  residents: Pick<Residents, 'list' | 'install'>,
  store: ComponentStore,
  refused: (id: string, why: Problem) => void,
): Promise<void> => {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'bundle.json')));
  for (const name of names.sort(contractsFirst)) {
    const manifest = readFileSync(join(folder, name, 'bundle.json'), 'utf8');
    const key = `shipped/${name}`;
    const seen = store.get('station', key);
    if (seen === manifest) continue;
    const bundle = await readBundle(join(folder, name));
    const wanted = (id: string) => seen === undefined || residents.list().some((one) => one.id === id);
    // The operator may have installed a copy of it, signed: it is the same revision.
    const there =
      bundle.ok &&
      residents
        .list()
        .some(({ id, revision }) => id === bundle.value.manifest.id && revision === bundle.value.identity);
    // One that cannot be read is refused as any other would be.
    if (!there && (!bundle.ok || wanted(bundle.value.manifest.id))) {
      const done = await residents.install(join(folder, name));
      if (!done.ok) {
        refused(name, done.problem);
        continue;
      }
    }
    store.put('station', key, manifest);
  }
};
