/** The gate's rows: written before the caller goes on, in order, bounded by session, redacted. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keptOfSession } from '../../host/state/gate-log.ts';
import { type GateCall, openGateLog, openState } from '../../host/state/index.ts';

const opened = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'jupiter-gate-'));
  const open = () => {
    const state = openState(join(folder, 'station.db'));
    if (!state.ok) throw new Error(state.problem.message);
    const log = openGateLog(
      state.value,
      () => 7,
      (text) => text.replaceAll('hunter22', '[redacted]'),
    );
    return { state: state.value, log };
  };
  let now = open();
  t.after(() => {
    now.state.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    log: () => now.log,
    db: () => now.state.db,
    /** As a station does that was killed: nothing is flushed. */
    reopen: () => {
      now.state.close();
      now = open();
    },
  };
};
const call = (tool: string, session = 's-1'): GateCall => ({
  session,
  server: 'probe',
  tool,
  decision: 'allowed',
  rule: 'permissions.allow[0] (mcp__probe)',
});

test('a row is written once its promise is kept, in the order of the calls, by session', async (t) => {
  const at = opened(t);
  await Promise.all([
    at.log().add(call('one')),
    at.log().add(call('other', 's-2')),
    at.log().add({ ...call('two'), decision: 'denied' }),
  ]);
  at.reopen();
  assert.deepEqual(at.log().of('s-1', 10), {
    total: 2,
    calls: [
      { at: 7, server: 'probe', tool: 'one', decision: 'allowed', rule: 'permissions.allow[0] (mcp__probe)' },
      { at: 7, server: 'probe', tool: 'two', decision: 'denied', rule: 'permissions.allow[0] (mcp__probe)' },
    ],
  });
  await at.log().add(call('three'));
  assert.deepEqual(
    at
      .log()
      .of('s-1', 2)
      .calls.map(({ tool }) => tool),
    ['two', 'three'],
  );
});

test('calls of one turn of the event loop are one commit', async (t) => {
  const at = opened(t);
  const pages = () => (at.db().pragma('wal_checkpoint(PASSIVE)') as { log: number }[])[0]?.log ?? 0;
  await at.log().add(call('before'));
  pages();
  await Promise.all(Array.from({ length: 50 }, (_, index) => at.log().add(call(`t${index}`))));
  // A commit writes each page it changed once: fifty of them would write fifty at least.
  assert.ok(pages() < 25, `${pages()} pages`);
});

test('what waits is written before the database closes', (t) => {
  const at = opened(t);
  void at.log().add(call('late'));
  at.log().flush();
  at.reopen();
  assert.equal(at.log().of('s-1', 10).total, 1);
});

test('of each session the newest are kept, and how many there were is known', async (t) => {
  const at = opened(t);
  const many = keptOfSession + 450;
  await Promise.all(Array.from({ length: many }, (_, index) => at.log().add(call(`t${index + 1}`))));
  const { total, calls } = at.log().of('s-1', many);
  assert.equal(total, many);
  assert.ok(calls.length >= keptOfSession && calls.length < keptOfSession + 200, String(calls.length));
  assert.equal(calls.at(-1)?.tool, `t${many}`);
});

test('a secret does not get in, and a row that cannot be written is told to its caller', async (t) => {
  const at = opened(t);
  await at.log().add(call('hunter22 tool'));
  assert.equal(at.log().of('s-1', 1).calls[0]?.tool, '[redacted] tool');
  at.db().exec('DROP TABLE gate_calls');
  await assert.rejects(at.log().add(call('lost')), /gate_calls/);
  assert.equal(at.db().inTransaction, false);
});
