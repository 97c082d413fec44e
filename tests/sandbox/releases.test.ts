/**
 * Every release is served for ever. The addition is made as a maintainer would make it, in a copy of this repository: a
 * folder below wit/, one adapter file, its line in the list (and a row for the permission of a new interface). The
 * copy's host then runs a component built before it beside one built after it.
 */
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { permissionFor, permissions } from '../../host/policy/index.ts';
import { readComponent } from '../../host/sandbox/admission/component.ts';
import { admitComponent, type BatchResult, defaultLimits } from '../../host/sandbox/index.ts';
import { releases } from '../../host/sandbox/releases/index.ts';
import { at as repositoryAt, told } from '../contracts/throwaway.ts';
import {
  type Against,
  codeOf,
  type Lifetime,
  message1,
  quickJs,
  since010,
  temporaryFolder,
  wat,
} from './guests.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('each folder of wit/ has its adapter, and each adapter says what its WIT says', async (t) => {
  const folders = readdirSync(join(root, 'wit')).filter((name) => /^\d/.test(name));
  assert.deepEqual(releases.map(({ version }) => version).sort(), folders.sort());
  for (const { version, imports, component } of releases)
    await t.test(version, async () => {
      const interfaces = Object.keys(imports).filter((name) => name !== 'types');
      assert.deepEqual(
        interfaces.filter((name) => !Object.hasOwn(permissionFor, name)),
        [],
      );
      const witPath = join(root, 'wit', version);
      const tree = readComponent(await quickJs('return [];', { version, witPath, interfaces }));
      const shown = (exports: Iterable<readonly [string, { sort: string; text?: string }]>, sort: string) =>
        Object.fromEntries(
          [...exports].flatMap(([name, item]) => (item.sort === sort ? [[name, item.text]] : [])),
        );
      for (const [name, item] of [...tree.imports, ...tree.exports]) {
        const short = name.replace('bearpunch:station/', '').replace(`@${version}`, '');
        if (short === 'init') continue;
        const known = short === 'component' ? component : imports[short];
        assert.ok(known !== undefined && item.sort === 'instance', name);
        const exports = [...item.exports].filter(
          (entry): entry is [string, { sort: 'type' | 'func'; text: string }] => entry[1].sort !== 'unknown',
        );
        assert.deepEqual(shown(exports, 'func'), { ...known.funcs }, name);
        assert.deepEqual(shown(exports, 'type'), { ...known.types }, name);
      }
      assert.deepEqual([...tree.imports.keys()].length, Object.keys(imports).length);
    });
});

/** What 0.4.0 adds: a function to an interface, and an interface. */
const nextWit = (text: string): string =>
  text
    .replace('package bearpunch:station@0.3.0;', 'package bearpunch:station@0.4.0;')
    .replace('  put: func(key: string, value: string);', '$&\n  has: func(key: string) -> bool;')
    .replace(
      '/// Permission `bus:publish`.',
      'interface words {\n  count: func(text: string) -> u32;\n}\n\n$&',
    )
    .replace('  import store;', '$&\n  import words;');

const nextAdapter = `
import type { Release } from './release.ts';
import { since030 } from './since-0.3.0.ts';

const { imports, component, serve } = since030;
export const since040: Release = {
  version: '0.4.0',
  component,
  imports: {
    ...imports,
    store: { ...imports.store, funcs: { ...imports.store.funcs, has: 'func(key:string) -> bool' } },
    words: { types: {}, funcs: { count: 'func(text:string) -> u32' } },
  },
  serve: (ledger, ask) => {
    const before = serve(ledger, ask);
    const { get } = before['bearpunch:station/store'];
    return {
      ...before,
      'bearpunch:station/store': { ...before['bearpunch:station/store'], has: (key) => get(key) !== undefined },
      'bearpunch:station/words': { count: (text) => text.split(' ').length },
    };
  },
};
`;

const edit = (file: string, change: (text: string) => string): void => {
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  assert.notEqual(after, before, file);
  writeFileSync(file, after);
};

/** A copy of this repository, as far as the sandbox goes. */
const copied = (t: Lifetime) => {
  const base = realpathSync.native(temporaryFolder(t));
  const dir = join(base, 'repo');
  mkdirSync(dir);
  for (const part of ['host', 'wit', 'package.json'])
    cpSync(join(root, part), join(dir, part), {
      recursive: true,
      filter: (path) => !path.endsWith('.lock.json'),
    });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(dir, 'node_modules'));
  writeFileSync(join(dir, '.gitignore'), 'node_modules\n');
  mkdirSync(join(base, 'home'));
  return { base, dir, repo: repositoryAt(dir, join(base, 'home')) };
};

const addRelease = (dir: string): Against => {
  const witPath = join(dir, 'wit', '0.4.0');
  cpSync(join(dir, 'wit', '0.3.0'), witPath, { recursive: true });
  edit(join(witPath, 'station.wit'), nextWit);
  const adapters = join(dir, 'host', 'sandbox', 'releases');
  writeFileSync(join(adapters, 'since-0.4.0.ts'), nextAdapter);
  edit(join(adapters, 'index.ts'), (text) =>
    text
      .replace('[since010, since020, since030]', '[since010, since020, since030, since040]')
      .replace("from './since-0.3.0.ts';", "$&\nimport { since040 } from './since-0.4.0.ts';"),
  );
  return { version: '0.4.0', witPath, interfaces: [...since010.interfaces, 'words'] };
};

const grantWords = (dir: string): void =>
  edit(join(dir, 'host', 'policy', 'permissions.ts'), (text) =>
    text.replace('  random: undefined,', '$&\n  words: undefined,'),
  );

const sandboxOf = (dir: string): Promise<typeof import('../../host/sandbox/index.ts')> =>
  import(pathToFileURL(join(dir, 'host', 'sandbox', 'index.ts')).href);

const before = `return batch.map((m) => {
  bus.begin(m.id);
  store.put('k', m.payload);
  log.write('info', 'before');
  return { tag: 'replied', val: JSON.stringify([store.get('k'), store.has === undefined]) };
});`;
const after = `return batch.map((m) => {
  bus.begin(m.id);
  store.put('k', m.payload);
  log.write('info', 'after');
  return { tag: 'replied', val: JSON.stringify([store.has('k'), store.has('other'), words.count('one two three')]) };
});`;

test('a component built before an addition and one built after it run side by side in the host that has it', async (t) => {
  const { base, dir } = copied(t);
  const old = await quickJs(before);
  const fresh = await quickJs(after, addRelease(dir));
  grantWords(dir);
  const next = await sandboxOf(dir);
  const cache = join(base, 'cache');
  const run = async (bytes: Uint8Array, wit: string) => {
    const admitted = await next.admitComponent(bytes, { cache, permissions, limits: defaultLimits });
    assert.ok(admitted.ok, JSON.stringify(admitted));
    assert.equal(admitted.value.wit, wit);
    const { promise, resolve } = Promise.withResolvers<BatchResult>();
    const started = await next.startActivation(admitted.value, {
      name: `test:${wit}`,
      limits: defaultLimits,
      onCall: () => ({ ok: true, value: null }),
      onResult: (_, result) => resolve(result),
      onGone: (problem) => resolve({ ok: false, problem }),
    });
    assert.ok(started.ok, JSON.stringify(started));
    t.after(() => started.value.stop());
    return { send: () => started.value.handle([message1('m', '{"a":1}')]), result: promise };
  };
  const both = [await run(old, '0.1.0'), await run(fresh, '0.4.0')];
  for (const { send } of both) send();
  const replies = await Promise.all(
    both.map(async ({ result }) => {
      const found = await result;
      assert.ok(found.ok, JSON.stringify(found));
      const [handled] = found.handled;
      return [handled?.outcome, handled?.effects];
    }),
  );
  const effects = (text: string) => [
    { kind: 'put', key: 'k', value: '{"a":1}' },
    { kind: 'log', level: 'info', text },
  ];
  assert.deepEqual(replies, [
    [{ tag: 'replied', reply: '["{\\"a\\":1}",true]' }, effects('before')],
    [{ tag: 'replied', reply: '[true,false,3]' }, effects('after')],
  ]);

  await t.test('a host that does not know the release refuses the component by its name', async () => {
    const refused = await admitComponent(fresh, { cache, permissions, limits: defaultLimits });
    assert.ok(!refused.ok);
    assert.equal(refused.problem.code, 'sandbox/release-unknown');
    assert.match(refused.problem.subject ?? '', /^bearpunch:station\/[a-z-]+@0\.4\.0$/);
    assert.equal(refused.problem.evidence, 'this station serves 0.1.0, 0.2.0, 0.3.0');
  });
  await t.test('an interface without a row among the permissions cannot be imported', async () => {
    const other = copied(t);
    addRelease(other.dir);
    const { admitComponent: admit } = await sandboxOf(other.dir);
    const refused = await admit(fresh, { cache, permissions, limits: defaultLimits });
    assert.equal(codeOf(refused), 'sandbox/import-unknown');
  });
  await t.test('so it does where only what is exported says the release', async () => {
    const bytes = await wat(
      '(component (instance $c) (export "bearpunch:station/component@0.4.0" (instance $c)))',
    );
    const refused = await admitComponent(bytes, { cache, permissions, limits: defaultLimits });
    assert.equal(codeOf(refused), 'sandbox/release-unknown');
  });
});

test('T15: the addition passes `contracts check`; an edit of what was released does not', async (t) => {
  const { dir, repo } = copied(t);
  repo.git('init', '-q', '-b', 'main');
  assert.deepEqual(told(await repo.update()), []);
  repo.commit('0.1.0');
  addRelease(dir);
  assert.deepEqual(told(await repo.check()), ['unlocked wit/0.4.0']);
  assert.deepEqual(told(await repo.update()), []);
  repo.commit('0.4.0');
  assert.deepEqual(told(await repo.check({ ci: true })), []);
  edit(join(dir, 'wit', '0.1.0', 'station.wit'), (text) => text.replace('count: u32', 'count: u64'));
  assert.deepEqual(told(await repo.check()), ['shape-changed wit/0.1.0']);
});
