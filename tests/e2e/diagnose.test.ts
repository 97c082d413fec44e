/** `bundle diagnose` from outside: what it knows without a station, and what one that runs adds. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { packBundle } from '../../host/bundles/index.ts';
import { canonicalShape } from '../../host/contracts/index.ts';
import { eventsOf, openBench, probePolicy } from './harness.ts';

interface Diagnosed {
  readonly problems: readonly {
    readonly code: string;
    readonly subject?: string;
    readonly message: string;
  }[];
  readonly unchecked: readonly { readonly what: string; readonly why: { readonly code: string } }[];
  readonly station?: { readonly installed: string | null };
}

const event = (id: string, type: string) => ({
  id,
  kind: 'event' as const,
  shape: { event: { type: 'object', properties: { what: { type } } } },
});
const lockOf = (topic: ReturnType<typeof event>): string => {
  const found = canonicalShape(topic);
  if (!found.ok) throw new Error(found.problem.message);
  const { shape, digest } = found.value;
  return `[{"lock":1}\n,{"id":"${topic.id}","kind":"event","digest":"${digest}","shape":${shape}}\n]\n`;
};
const topicBundle = async (
  dir: string,
  id: string,
  version: string,
  topics: readonly ReturnType<typeof event>[],
  lock?: string,
): Promise<string> => {
  const folder = join(dir, `${id}-${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ manifest: 2, id, version, topics }));
  if (lock !== undefined) writeFileSync(join(folder, 'topics.lock.json'), lock);
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

test('T13: diagnose names the installation a topic conflicts with, installed or retained, and changes nothing', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const dir = dirname(bench.workspace);
  await bench.ask('up');
  const one = await topicBundle(dir, 'acme.one', '1.0.0', [event('acme.said', 'string')]);
  const { revision } = await bench.ask<{ revision: string }>('bundle', 'install', one);
  // The topic is retained: the active revision declares it no longer.
  await bench.ask('bundle', 'install', await topicBundle(dir, 'acme.one', '2.0.0', []));
  const locked = await topicBundle(dir, 'acme.lock', '1.0.0', [], lockOf(event('acme.kept', 'string')));
  await bench.ask('bundle', 'install', locked);
  const before = [await bench.ask('bundle', 'list'), await eventsOf(bench)];

  const changed = event('bearpunch.sessions.changed', 'number');
  const other = await topicBundle(dir, 'acme.other', '1.0.0', [
    event('acme.said', 'number'),
    event('acme.kept', 'number'),
    changed,
  ]);
  const archive = join(dir, 'other.tgz');
  await bench.ask('bundle', 'pack', other, '-o', archive);
  for (const source of [other, archive]) {
    const found = await bench.document<Diagnosed>('bundle', 'diagnose', source);
    assert.deepEqual(
      found.problems.map(({ code, subject }) => [code, subject]),
      [
        ['bundle/topic-conflict', 'acme.said'],
        ['bundle/topic-conflict', 'acme.kept'],
        ['bundle/topic-conflict', 'bearpunch.sessions.changed'],
      ],
    );
    const [said, kept, contract] = found.problems.map(({ message }) => message);
    assert.match(said ?? '', new RegExp(`"acme\\.one", revision ${revision} \\(an earlier revision\\)`));
    assert.match(kept ?? '', /"acme\.lock", revision [0-9a-f]{64} \(installed\)/);
    assert.match(contract ?? '', /"bearpunch\.contracts", revision [0-9a-f]{64} \(installed\)/);
    assert.deepEqual([found.unchecked, found.station?.installed], [[], null]);
  }
  assert.equal((await bench.jupiter('bundle', 'diagnose', other)).code, 1);
  const same = await topicBundle(dir, 'acme.same', '1.0.0', [event('acme.said', 'string')]);
  assert.equal((await bench.jupiter('bundle', 'diagnose', same)).code, 0);
  assert.deepEqual([await bench.ask('bundle', 'list'), await eventsOf(bench)], before);
});

test('T13: without a station diagnose checks what it can, the contract bundle that ships included, and says what it left out', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const dir = dirname(bench.workspace);
  const changed = event('bearpunch.sessions.changed', 'number');
  const other = await topicBundle(dir, 'acme.other', '1.0.0', [event('acme.said', 'number'), changed]);
  const found = await bench.document<Diagnosed>('bundle', 'diagnose', other);
  assert.deepEqual(
    found.problems.map(({ code, subject }) => [code, subject]),
    [['bundle/topic-conflict', 'bearpunch.sessions.changed']],
  );
  assert.match(found.problems[0]?.message ?? '', /"bearpunch\.contracts", revision [0-9a-f]{64}/);
  assert.deepEqual(
    found.unchecked.map(({ what, why }) => [what, why.code]),
    [['topics against what is installed', 'station/not-running']],
  );
  const plain = await bench.jupiter('bundle', 'diagnose', other);
  assert.equal(plain.code, 1);
  assert.match(plain.stdout, /^not checked: topics against what is installed \(no station/im);

  // Its own lock and manifest must agree, whether a station runs or not.
  const unlike = await topicBundle(
    dir,
    'acme.unlike',
    '1.0.0',
    [event('acme.said', 'number')],
    lockOf(event('acme.said', 'string')),
  );
  const run = await bench.document<Diagnosed>('bundle', 'diagnose', unlike);
  assert.deepEqual(
    run.problems.map(({ code }) => code),
    ['bundle/lock-invalid'],
  );
});
