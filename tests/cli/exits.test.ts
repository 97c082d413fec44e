/** When a command that did its work exits 1: the rules as tables; tests/e2e holds the commands to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitOfCreate, exitOfTurn } from '../../host/cli/session-commands.ts';
import { run, temporary } from './fixtures/command.ts';

test('session create exits 1 where the session takes no prompt', () => {
  for (const state of ['opening', 'not-ready', 'ended', 'closed'])
    assert.deepEqual(exitOfCreate(state), { exit: 1 }, state);
  for (const state of ['idle', 'running']) assert.deepEqual(exitOfCreate(state), {}, state);
});

test('session say --wait exits 1 where the turn failed or the session is over', () => {
  const bad: readonly (readonly [stopReason: string | undefined, state: string | undefined])[] = [
    ['failed', 'idle'],
    ['station-stopped', 'idle'],
    ['not-ready', 'not-ready'],
    ['ended', 'ended'],
    ['end_turn', 'ended'],
    [undefined, 'closed'],
    [undefined, undefined],
  ];
  for (const [stopReason, state] of bad) assert.deepEqual(exitOfTurn(stopReason, state), { exit: 1 });
  for (const stopReason of ['end_turn', 'cancelled', 'max_tokens', 'refusal'])
    assert.deepEqual(exitOfTurn(stopReason, 'idle'), {}, stopReason);
});

test('policy explain of an agent the policy does not know names those it knows', async (t) => {
  const home = `${temporary(t)}/home`;
  await run(['--home', home, 'init']);
  const ran = await run(['--home', home, '--json', 'policy', 'explain', '--agent', 'nobody']);
  const { problem } = JSON.parse(ran.out);
  assert.deepEqual([ran.code, problem.code, problem.subject], [1, 'session/agent-unknown', 'nobody']);
  assert.equal(problem.evidence, 'the policy names: echo');
});

test('policy explain and policy check say that policy has no program of that name, and what a server depends on', async (t) => {
  const home = `${temporary(t)}/home`;
  await run(['--home', home, 'init']);
  await run(['--home', home, 'policy', 'set', 'mcpServers.near', '{"command": "near-server"}']);
  for (const [agent, provider, lacks] of [
    ['slip', undefined, true],
    ['own', 'my.bundle:provider', false],
  ] as const) {
    await run([
      '--home',
      home,
      'policy',
      'set',
      `agents.${agent}`,
      JSON.stringify({ program: 'x', provider }),
    ]);
    const ran = await run(['--home', home, 'policy', 'explain', '--agent', agent]);
    assert.equal(/policy has none of that name/.test(ran.out), lacks, ran.out);
    const check = await run(['--home', home, '--json', 'policy', 'check']);
    const { problems, warnings } = JSON.parse(check.out);
    assert.deepEqual([check.code, problems], [0, []], 'the policy holds: a warning is no error');
    assert.deepEqual(
      warnings.map(({ code, subject }: { code: string; subject: string }) => `${code} ${subject}`),
      ['policy/unknown-alias agents.slip.program', 'process/not-found mcpServers.near'],
    );
    // A provider nobody knows may not hand on what is reached through the station.
    assert.match(
      ran.out,
      lacks
        ? /near +offered .* through the station$/m
        : /near .* through the station, if my\.bundle:provider handles bearpunch\.agents\.open\.v3$/m,
    );
  }
});

test('the help says what each exit code stands for', async () => {
  const { out } = await run(['--help']);
  for (const line of [
    /^ {2}0 {2}done$/m,
    /^ {2}1 {2}a problem/m,
    /^ {2}2 {2}usage$/m,
    /^ {2}3 {2}no station/m,
  ])
    assert.match(out, line);
});
