import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { takeSink } from '../../host/context/lock.ts';
import { placeSkillsWith } from '../../host/context/place.ts';
import { memoryOf, place, sink, skill, temporary, verdicts } from './fixture.ts';

describe('one placement at a time in a sink', () => {
  it('P6: a second one waits for the first, and says so when it waited long enough', async (t) => {
    const folder = temporary(t);
    const first = await takeSink(folder);
    assert.ok(first.ok);
    const busy = await takeSink(folder, 0);
    assert.equal(busy.ok ? 'taken' : busy.problem.code, 'context/placement-busy');
    const second = takeSink(folder);
    first.value();
    const taken = await second;
    assert.ok(taken.ok);
    taken.value();
    assert.deepEqual(readdirSync(folder), []);
  });
  it('P6: who meets another owner on the second look gives way', async (t) => {
    const folder = temporary(t);
    const other = '.bearpunch-lock-00000000-1-0-0123456789ab';
    const taken = await takeSink(folder, 0, () => writeFileSync(join(folder, other), ''));
    assert.equal(taken.ok ? 'taken' : taken.problem.code, 'context/placement-busy');
    assert.deepEqual(readdirSync(folder), [other]);
  });
  it('a sink that its last owner takes away meanwhile is made again', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(join(cwd, sink), { recursive: true });
    const held = await takeSink(join(cwd, sink));
    assert.ok(held.ok);
    const placed = place(cwd, skill(home, 'a', {}));
    await setImmediate();
    held.value();
    rmSync(join(cwd, '.claude'), { recursive: true });
    assert.deepEqual(verdicts(await placed), ['a: placed']);
  });
  it('a busy sink refuses each skill that would change, by name', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(join(cwd, sink), { recursive: true });
    const held = await takeSink(join(cwd, sink));
    assert.ok(held.ok);
    const result = await placeSkillsWith({ waitMs: 0 })({
      cwd,
      sink,
      skills: [skill(home, 'a', {}), skill(home, 'b', {})],
      memory: memoryOf(cwd),
    });
    const code = 'refused context/placement-busy';
    assert.deepEqual(result.ok && verdicts(result.value), [`a: ${code}`, `b: ${code}`]);
    held.value();
  });
  it('P7: the lock of a process that is gone does not count', async (t) => {
    const folder = temporary(t);
    const code = `const { takeSink } = await import(${JSON.stringify(join(import.meta.dirname, '../../host/context/lock.ts'))});
      await takeSink(${JSON.stringify(folder)}); process.kill(process.pid, 'SIGKILL');`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
    assert.equal(child.signal, 'SIGKILL');
    assert.equal(readdirSync(folder).length, 1);
    const taken = await takeSink(folder, 0);
    assert.ok(taken.ok);
    taken.value();
    assert.deepEqual(readdirSync(folder), []);
  });
  it('a process ID that was given to another process does not count', async (t) => {
    const folder = temporary(t);
    const held = await takeSink(folder);
    assert.ok(held.ok);
    const [name = ''] = readdirSync(folder);
    held.value();
    const parts = name.split('-');
    // The parent lives, but it did not start when this owner started.
    parts[3] = String(process.ppid);
    writeFileSync(join(folder, parts.join('-')), '');
    const taken = await takeSink(folder, 0);
    assert.equal(taken.ok, process.platform === 'linux');
    if (taken.ok) taken.value();
  });
  it('an owner on another machine counts for ten minutes', async (t) => {
    const folder = temporary(t);
    const name = join(folder, '.bearpunch-lock-00000000-1-0-0123456789ab');
    writeFileSync(name, '');
    assert.equal((await takeSink(folder, 0)).ok, false);
    const old = Date.now() / 1000 - 601;
    utimesSync(name, old, old);
    const taken = await takeSink(folder, 0);
    assert.ok(taken.ok);
    taken.value();
  });
});
