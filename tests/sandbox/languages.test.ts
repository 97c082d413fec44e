/** Guests that no part of this project built: AssemblyScript through wit-component, with and without WASI. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { componentize } from 'componentize-qjs';
import { permissions } from '../../host/policy/index.ts';
import { inspectComponent } from '../../host/sandbox/admit.ts';
import { assemblyScript, hasAssemblyScript } from './assemblyscript.ts';
import { admitted, codeOf, message1, running, temporaryFolder } from './guests.ts';

describe('AssemblyScript', {
  skip: hasAssemblyScript ? false : 'the package assemblyscript is not installed',
}, () => {
  let bytes: Uint8Array;
  before(async () => {
    bytes = await assemblyScript('component.as', ['log', 'store', 'bus']);
  });

  test('a batch is handled: payloads come back, effects belong to their messages', async (t) => {
    const { send } = await running(await admitted(bytes, temporaryFolder(t)), t);
    const result = await send([
      message1('a', '{"n":1}', 'echo'),
      message1('b', 'grüße', 'log'),
      message1('c', '"kept"', 'put'),
    ]);
    assert.ok(result.ok, JSON.stringify(result));
    assert.deepEqual(
      result.handled.map(({ outcome }) => outcome),
      ['{"n":1}', 'grüße', '"kept"'].map((reply) => ({ tag: 'replied', reply })),
    );
    assert.deepEqual(
      result.handled.map(({ effects }) => effects),
      [
        [],
        [{ kind: 'log', level: 'info', text: 'grüße' }],
        [{ kind: 'put', key: '"kept"', value: '"kept"' }],
      ],
    );
  });

  test('W5, W6, W8: it loops, allocates without end, traps in a batch: stopped and named like any other', async (t) => {
    const few = { memoryBytes: 4 * 1024 * 1024, callDeadlineMs: 300 };
    const component = await admitted(bytes, temporaryFolder(t), few);
    for (const [topic, code] of [
      ['loop', 'sandbox/deadline'],
      ['grow', 'sandbox/trap'],
      ['trap', 'sandbox/trap'],
    ] as const) {
      const { send } = await running(component, t, few);
      const result = await send([message1('a', '{}', 'echo'), message1('b', '{}', topic), message1('c')]);
      assert.equal(codeOf(result), code, topic);
      assert.equal(!result.ok && result.trapped, 'b', topic);
    }
  });

  test('W2: it needs the permissions of what it imports', async () => {
    const refused = inspectComponent(bytes, ['bus:publish']);
    assert.equal(codeOf(refused), 'sandbox/permission-missing');
    assert.match(refused.ok ? '' : (refused.problem.subject ?? ''), /store/);
  });

  test('W4: a guest that brings WASI gets clocks, random numbers and standard output, and nothing else', async (t) => {
    const wasi = await assemblyScript('wasi.as', [], true);
    const { send } = await running(await admitted(wasi, temporaryFolder(t), { batch: 1 }), t);
    const replies = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const result = await send([message1(`m${round}`)]);
      assert.ok(result.ok, JSON.stringify(result));
      const [handled] = result.handled;
      assert.deepEqual(handled?.effects, [{ kind: 'log', level: 'info', text: 'printed' }]);
      if (handled?.outcome.tag === 'replied') replies.add(handled.outcome.reply);
    }
    assert.equal(replies.size, 3);
  });
});

test('W2: a QuickJS guest whose WASI was not left out asks for the environment, and is refused by that name', async () => {
  const jsSource = `export const component = { handle: (batch) => batch.map(() => ({ tag: 'done' })) };`;
  const { component } = await componentize({
    witPath: new URL('../../wit/0.1.0', import.meta.url).pathname,
    jsSource,
    world: 'plugin',
    stubWasi: false,
    sync: true,
    optSize: true,
  });
  const refused = inspectComponent(component, permissions);
  assert.equal(codeOf(refused), 'sandbox/wasi-refused');
  assert.match(refused.ok ? '' : (refused.problem.subject ?? ''), /^wasi:cli\/environment@/);
});
