/** M10, M16: what tools are called, and which rule decides, as tables. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { decide, serverAlias, toolNames, type Wanted } from '../../host/mcp/index.ts';
import { rules } from './gateway-desk.ts';

const whole = (server: string, tool: string): string => `mcp__${serverAlias(server)}__${tool}`;
const exposedOf = (server: string, names: readonly string[]): readonly string[] =>
  toolNames(serverAlias(server), names).map(({ exposed }) => exposed);
const fits = /^[A-Za-z0-9_-]{1,64}$/;
const long = 'x'.repeat(60);

test('M10: a name that clients take is kept, any other is mapped to one they take, always the same', () => {
  for (const kept of ['probe', 'Git-Hub_2', 'a_b', '_a', 'x'.repeat(24)])
    assert.equal(serverAlias(kept), kept);
  for (const [written, readable] of [
    ['Internet Search (Tavily)', 'Internet_Sear_'],
    ['a__b', 'a_b_'],
    ['a_', 'a_'],
    ['x'.repeat(25), `${'x'.repeat(13)}_`],
    ['Übersetzer', 'U_bersetzer_'],
    ['検索', ''],
    ['', ''],
  ] as const) {
    const found = serverAlias(written);
    assert.match(found, /^[A-Za-z0-9_-]{1,24}$/, written);
    assert.notEqual(found, written);
    assert.equal(found.includes('__') || found.endsWith('_'), false, found);
    assert.ok(found.startsWith(readable), `${written}: ${found}`);
  }
  // Stable between runs, releases and machines: the hash is part of the promise.
  assert.equal(serverAlias('Internet Search (Tavily)'), 'Internet_Sear_vd5orywgc5');
  assert.deepEqual(exposedOf('Internet Search (Tavily)', ['a.b/c d']), ['a_b_c_d_5crvbikkkc']);
  assert.deepEqual(exposedOf('probe', ['a', 'A', 'get-it', 'x'.repeat(52)]), [
    'a',
    'A',
    'get-it',
    'x'.repeat(52),
  ]);
});

test('M10: names are distinct, fit in whole, and depend on no neighbour and no order', () => {
  const parts = ['a', 'B', '.', '/', ' ', '_', '__', '-', 'é', '検', '\u0000', long];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const names = new Set<string>(['', `${long}1`, `${long}2`, `${long} 1`, `${long} 2`]);
  while (names.size < 600) {
    names.add(Array.from({ length: 1 + random(6) }, () => parts[random(parts.length)]).join(''));
  }
  const list = [...names];
  const aliases = list.map(serverAlias);
  assert.equal(new Set(aliases).size, list.length, 'servers');
  for (const server of ['probe', 'Internet Search (Tavily)', 'x'.repeat(24)]) {
    const found = toolNames(serverAlias(server), list);
    assert.equal(found.length, list.length);
    assert.equal(new Set(found.map(({ exposed }) => exposed)).size, list.length, server);
    for (const { original, exposed } of found) {
      assert.match(whole(server, exposed), fits, original);
      assert.deepEqual(exposedOf(server, [original]), [exposed], 'alone');
    }
    const backwards = toolNames(serverAlias(server), [...list].reverse());
    assert.deepEqual([...backwards].reverse(), found);
  }
});

test('M10: where a mapped name meets a written one, the written one has it; a name given twice is there once', () => {
  const [mapped = ''] = exposedOf('probe', ['a b']);
  for (const names of [
    ['a b', mapped],
    [mapped, 'a b'],
  ]) {
    assert.deepEqual(toolNames('probe', names), [{ original: mapped, exposed: mapped }]);
  }
  assert.deepEqual(exposedOf('probe', ['a', 'a']), ['a']);
});

test('M10: of two names a server made so that both are mapped to one, the first has it', () => {
  const [one, other] = ['x\u507c\u53a4\u4e01', 'x\u4e29\u5038\u4e02'];
  const found = toolNames('a', [one, other, 'y']);
  assert.deepEqual(
    found.map(({ original }) => original),
    [one, 'y'],
  );
  assert.equal(toolNames('a', [other])[0]?.exposed, found[0]?.exposed);
});

test('M16: deny before ask before allow; what no rule names asks', () => {
  const probe: Wanted = { server: 'probe', tool: 'write' };
  const all = rules({
    deny: ['mcp__probe__write'],
    ask: ['mcp__probe__write'],
    allow: ['mcp__probe__write'],
  });
  assert.deepEqual(decide(all, probe), { decision: 'deny', rule: 'permissions.deny[0] (mcp__probe__write)' });
  assert.deepEqual(decide({ ...all, deny: [] }, probe), {
    decision: 'ask',
    rule: 'permissions.ask[0] (mcp__probe__write)',
  });
  assert.equal(decide({ ...all, deny: [], ask: [] }, probe).decision, 'allow');
  assert.deepEqual(decide(rules({}), probe), { decision: 'ask', rule: 'permissions (no rule names it)' });
  // A wide denial wins over a narrow permission.
  assert.equal(decide(rules({ deny: ['mcp__probe'], allow: ['mcp__probe__write'] }), probe).decision, 'deny');
});

test('M10: which tools a rule covers, by names as written and as mapped', () => {
  const server = 'Internet Search (Tavily)';
  const alias = serverAlias(server);
  const [tool = ''] = exposedOf(server, ['a.b/c d']);
  const [first = '', second = ''] = exposedOf('probe', [`${long}1`, `${long}2`]);
  const rows: readonly (readonly [string, Wanted, boolean])[] = [
    ['mcp__probe', { server: 'probe', tool: 'x' }, true],
    ['mcp__probe', { server: 'probe2', tool: 'x' }, false],
    ['mcp__probe__x', { server: 'probe', tool: 'x' }, true],
    ['mcp__probe__x', { server: 'probe', tool: 'X' }, false],
    ['mcp__probe__x', { server: 'probe', tool: 'xy' }, false],
    [`mcp__${server}`, { server, tool: 'a.b/c d' }, true],
    [`mcp__${server}__a.b/c d`, { server, tool: 'a.b/c d' }, true],
    [`mcp__${alias}`, { server, tool: 'a.b/c d' }, true],
    [`mcp__${alias}__${tool}`, { server, tool: 'a.b/c d' }, true],
    [`mcp__${server}__${tool}`, { server, tool: 'a.b/c d' }, true],
    [`mcp__${alias}__a.b/c d`, { server, tool: 'a.b/c d' }, true],
    [`mcp__probe__${first}`, { server: 'probe', tool: `${long}1` }, true],
    [`mcp__probe__${second}`, { server: 'probe', tool: `${long}1` }, false],
    // `__` in the server's part: only what is mapped can stand there.
    ['mcp__a__b', { server: 'a', tool: 'b' }, true],
    ['mcp__a__b', { server: 'a__b', tool: 'c' }, false],
    ['mcp__a__b__c', { server: 'a__b', tool: 'c' }, false],
    ['mcp__a__b__c', { server: 'a', tool: 'b__c' }, true],
    [`mcp__${serverAlias('a__b')}__c`, { server: 'a__b', tool: 'c' }, true],
    ['mcp__a___x', { server: 'a', tool: '_x' }, true],
    ['mcp__a___x', { server: 'a_', tool: 'x' }, false],
    ['mcp__a_', { server: 'a_', tool: 'x' }, true],
    [`mcp__${serverAlias('a_')}__x`, { server: 'a_', tool: 'x' }, true],
    ['Skill', { skill: 'deploy' }, true],
    ['Skill(deploy)', { skill: 'deploy' }, true],
    ['Skill(deploy)', { skill: 'deploy2' }, false],
    ['Skill(caf\u0065\u0301)', { skill: 'caf\u00e9' }, true],
    ['mcp__Skill', { skill: 'deploy' }, false],
    ['Skill', { server: 'Skill', tool: 'x' }, false],
  ];
  for (const [rule, wanted, isCovered] of rows) {
    const { decision } = decide(rules({ allow: [rule] }), wanted);
    assert.equal(decision === 'allow', isCovered, `${rule} ${JSON.stringify(wanted)}`);
  }
});

test('M10: no rule covers the tools of two servers', () => {
  const names = ['a', 'a_', '_a', 'a__b', 'b', 'a_b', '_', '__', 'a__', 'a b'];
  const tools = ['b', '_b', 'b__c', '__b', 'c'];
  for (const server of names) {
    for (const tool of tools) {
      for (const text of [`mcp__${server}__${tool}`, `mcp__${serverAlias(server)}__${tool}`]) {
        const policy = rules({ allow: [text] });
        const covered = names.filter((other) =>
          tools.some((one) => decide(policy, { server: other, tool: one }).decision === 'allow'),
        );
        assert.ok(covered.length <= 1, `${text}: ${covered.join(' and ')}`);
      }
    }
  }
});
