/** Signatures: made, kept beside the manifest, required by prefix, and refused by name where they do not fit. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  makeKey,
  packBundle,
  readBundle,
  readKey,
  type SignatureRule,
  signatureRefusal,
} from '../../host/bundles/index.ts';
import { parseSignature, rulesFor, signatureBytes, signatureFits } from '../../host/bundles/signature.ts';
import { authored, codeOf, openStore, packedBundle, plainFiles, temporary, value, write } from './fixture.ts';

const keyIn = (root: string, name: string) => {
  const made = value(makeKey(join(root, `${name}.pem`)));
  return { ...made, private: value(readKey(made.file)) };
};
const rule = (prefix: string, key: string | undefined, name = 'acme'): SignatureRule => ({
  prefix,
  name,
  key,
});

test('keygen: the private key goes to a new file of its owner only; anything else is refused and never shown', (t) => {
  const root = temporary(t);
  const key = keyIn(root, 'one');
  assert.match(key.key, /^ed25519:[A-Za-z0-9+/]{43}=$/);
  assert.equal(statSync(key.file).mode & 0o777, 0o600);
  const text = readFileSync(key.file, 'utf8');
  assert.match(text, /PRIVATE KEY/);
  assert.equal(codeOf(makeKey(key.file)), 'bundle/key-exists');
  assert.equal(readFileSync(key.file, 'utf8'), text);
  assert.equal(codeOf(makeKey(join(root, 'no', 'folder'))), 'bundle/write-failed');
  chmodSync(key.file, 0o644);
  assert.equal(codeOf(readKey(key.file)), 'bundle/key-open');
  writeFileSync(join(root, 'junk'), text.slice(0, 60), { mode: 0o600 });
  const junk = readKey(join(root, 'junk'));
  assert.equal(codeOf(junk), 'bundle/key-unreadable');
  assert.ok(!JSON.stringify(junk).includes(text.slice(30, 50)));
  for (const [name, bytes] of [
    ['long', `${text}${'\n'.repeat(20_000)}`],
    ['other', generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' })],
  ] as const) {
    writeFileSync(join(root, name), bytes, { mode: 0o600 });
    assert.equal(codeOf(readKey(join(root, name))), 'bundle/key-unreadable', name);
  }
  const nowhere = readKey(join(root, 'nowhere'));
  assert.equal(codeOf(nowhere), 'bundle/key-unreadable');
  assert.match(nowhere.ok ? '' : nowhere.problem.message, /no private key at this place/);
});

test('a signature changes no identity, and is the same bytes each time, in a folder and in an archive', async (t) => {
  const root = temporary(t);
  const { identity, folder } = await packedBundle(root, 'demo');
  const key = keyIn(root, 'one');
  const signed = value(await packBundle(folder, undefined, key.private));
  assert.equal(signed.identity, identity);
  assert.equal(signed.signature?.key, key.key);
  const bytes = readFileSync(join(folder, 'bundle.sig.json'));
  value(await packBundle(folder, undefined, key.private));
  assert.deepEqual(readFileSync(join(folder, 'bundle.sig.json')), bytes);
  // Packing without the key keeps a signature that fits.
  const archive = value(await packBundle(folder, join(root, 'demo.tgz')));
  assert.equal(archive.signature?.key, key.key);
  assert.equal(value(await packBundle(folder, join(root, 'copy'))).signature?.value, signed.signature?.value);
  const { store, db } = openStore(root);
  t.after(() => db.close());
  assert.equal(value(await store.stage(join(root, 'demo.tgz'))).signature?.key, key.key);
  // One that no longer fits is taken away.
  write(folder, { 'readme.md': 'Other words.\n' });
  assert.equal(value(await packBundle(folder)).signature, undefined);
  assert.equal(existsSync(join(folder, 'bundle.sig.json')), false);
});

test('a signature that is there must fit, whether or not anybody requires one', async (t) => {
  const root = temporary(t);
  const { folder } = await packedBundle(root, 'demo');
  const key = keyIn(root, 'one');
  value(await packBundle(folder, undefined, key.private));
  const good = readFileSync(join(folder, 'bundle.sig.json'), 'utf8');
  const other = await packedBundle(root, 'other', {
    ...plainFiles,
    'bundle.json': authored({ version: '2.0.0' }),
  });
  writeFileSync(join(other.folder, 'bundle.sig.json'), good);
  assert.equal(codeOf(await readBundle(other.folder)), 'bundle/signature-wrong');
  const cases: readonly (readonly [string, string])[] = [
    ['{}', 'bundle/signature-unreadable'],
    ['', 'bundle/signature-unreadable'],
    [good.replace('"signature": 1', '"signature": 2'), 'bundle/signature-unreadable'],
    [good.replace('{', '{"more": 1,'), 'bundle/signature-unreadable'],
    [
      good.replace(/"value": "(.)/, (_, char) => `"value": "${char === 'A' ? 'B' : 'A'}`),
      'bundle/signature-wrong',
    ],
    [good.replace(key.key, keyIn(root, 'two').key), 'bundle/signature-wrong'],
    [`${good}${' '.repeat(20_000)}`, 'bundle/limit-exceeded'],
  ];
  for (const [text, code] of cases) {
    writeFileSync(join(folder, 'bundle.sig.json'), text);
    assert.equal(codeOf(await readBundle(folder)), code, text.slice(0, 80));
  }
});

test('content cannot stand in the place of the signature', async (t) => {
  const root = temporary(t);
  for (const path of ['Bundle.sig.json', 'bundle.sig.json/x', 'BUNDLE.SIG.JSON']) {
    const folder = join(root, path.replaceAll('/', '-'), 'demo');
    write(folder, { 'bundle.json': authored(), [path]: 'x' });
    assert.equal(codeOf(await packBundle(folder)), 'bundle/path-reserved', path);
  }
});

test('which rule decides: the longest prefix of whole parts', () => {
  const rules = [rule('acme', 'a'), rule('acme.labs', 'b'), rule('acme.labs', 'c'), rule('zoo', 'd')];
  const table: readonly (readonly [string, string])[] = [
    ['acme', 'a'],
    ['acme.notes', 'a'],
    ['acme.labs', 'bc'],
    ['acme.labs.x', 'bc'],
    ['acme.labsx', 'a'],
    ['acmecorp', ''],
    ['acme-corp', ''],
    ['notes.acme', ''],
  ];
  for (const [id, expected] of table)
    assert.equal(
      rulesFor(id, rules)
        .map(({ key }) => key)
        .join(''),
      expected,
      id,
    );
});

const installs = async (t: TestContext) => {
  const root = temporary(t);
  const acme = keyIn(root, 'acme');
  const mallory = keyIn(root, 'mallory');
  let rules: readonly SignatureRule[] = [rule('demo', acme.key)];
  const { folder, identity } = await packedBundle(root, 'demo');
  const { store, db, packages } = openStore(root, {
    refusal: (bundle) => signatureRefusal(bundle, rules),
  });
  t.after(() => db.close());
  return {
    root,
    acme,
    mallory,
    folder,
    store,
    inPackage: join(packages, 'demo.bundle', identity, 'bundle.sig.json'),
    require: (next: readonly SignatureRule[]) => {
      rules = next;
    },
  };
};

test('policy lets in only what the named key signed: none, another, a tampered and the right one', async (t) => {
  const { folder, acme, mallory, store, require } = await installs(t);
  assert.equal(codeOf(await store.stage(folder)), 'bundle/signature-missing');
  value(await packBundle(folder, undefined, mallory.private));
  const wrong = await store.stage(folder);
  assert.equal(codeOf(wrong), 'bundle/signature-key');
  assert.match(
    wrong.ok ? '' : (wrong.problem.evidence ?? ''),
    /expected a signature by "acme", observed ed25519:/,
  );
  value(await packBundle(folder, undefined, acme.private));
  value(await store.stage(folder));
  // The author's files changed and packed again by someone else, with the author's signature left beside them.
  const signature = readFileSync(join(folder, 'bundle.sig.json'));
  write(folder, { 'readme.md': 'Evil.\n' });
  value(await packBundle(folder));
  writeFileSync(join(folder, 'bundle.sig.json'), signature);
  assert.equal(codeOf(await store.stage(folder)), 'bundle/signature-wrong');
  rmSync(join(folder, 'bundle.sig.json'));
  assert.equal(codeOf(await store.stage(folder)), 'bundle/signature-missing');
  // A rule whose key policy does not know lets nothing in.
  require([rule('demo', undefined)]);
  value(await packBundle(folder, undefined, acme.private));
  assert.equal(codeOf(await store.stage(folder)), 'bundle/signature-key');
  require([rule('other', undefined)]);
  value(await store.stage(folder));
});

test('a signature fits one identity, and nothing else its key ever signed', (t) => {
  const key = keyIn(temporary(t), 'one');
  const identity = 'a'.repeat(64);
  const made = value(parseSignature(signatureBytes(identity, key.private)));
  const rules = [rule('demo', key.key)];
  assert.equal(signatureRefusal({ id: 'demo', identity, signature: made }, rules), undefined);
  const other = { id: 'demo', identity: 'b'.repeat(64), signature: made };
  assert.equal(signatureRefusal(other, rules)?.code, 'bundle/signature-wrong');
  for (const text of [identity, `${identity}\n`]) {
    const bare = { ...made, value: sign(null, Buffer.from(text), key.private).toString('base64') };
    assert.equal(signatureFits(bare, identity), false);
  }
});

test('P11: a signature stripped or changed in the staged package is found when it is verified', async (t) => {
  const { folder, acme, mallory, store, inPackage, require } = await installs(t);
  value(await packBundle(folder, undefined, acme.private));
  const bundle = value(store.activate(value(await store.stage(folder))));
  const found = async () => (await store.verify())[0]?.problem?.code;
  assert.equal(await found(), undefined);
  assert.equal(store.refusal(bundle), undefined);
  const good = readFileSync(inPackage);
  rmSync(inPackage);
  assert.equal(await found(), 'bundle/signature-missing');
  assert.equal(store.refusal(bundle)?.code, 'bundle/signature-missing');
  writeFileSync(inPackage, good.subarray(1));
  assert.equal(await found(), 'bundle/signature-unreadable');
  assert.equal(store.refusal(bundle)?.code, 'bundle/signature-unreadable');
  writeFileSync(inPackage, Buffer.concat([good, Buffer.alloc(20_000, 0x20)]));
  assert.equal(store.refusal(bundle)?.code, 'bundle/signature-unreadable', 'too long');
  rmSync(inPackage);
  writeFileSync(join(folder, '..', 'elsewhere.json'), good);
  symlinkSync(join(folder, '..', 'elsewhere.json'), inPackage);
  assert.equal(store.refusal(bundle)?.code, 'bundle/signature-unreadable', 'a link');
  rmSync(inPackage);
  // Installing it again puts the right one back; policy may change its mind later.
  writeFileSync(inPackage, good);
  require([rule('demo', mallory.key)]);
  assert.equal(await found(), 'bundle/signature-key');
});

test('the same revision installed again with a signature gets it, and never loses one', async (t) => {
  const { folder, acme, store, inPackage, require } = await installs(t);
  require([]);
  value(store.activate(value(await store.stage(folder))));
  assert.equal(existsSync(inPackage), false);
  value(await packBundle(folder, undefined, acme.private));
  value(store.activate(value(await store.stage(folder))));
  assert.equal(existsSync(inPackage), true);
  rmSync(join(folder, 'bundle.sig.json'));
  value(store.activate(value(await store.stage(folder))));
  assert.equal(existsSync(inPackage), true);
});
