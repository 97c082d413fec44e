/** Files of lines: one write a turn, a bound, and nothing thrown where nothing can be written. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openLogFile } from '../../host/state/index.ts';

const folder = (t: TestContext): string => {
  const made = mkdtempSync(join(tmpdir(), 'jupiter-log-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

test('a file that would grow above its bound is set aside, one older file is kept', (t) => {
  const dir = folder(t);
  const file = join(dir, 'logs', 'a.log');
  for (const word of ['first', 'second', 'third']) {
    const log = openLogFile(file, 100);
    log.write(`${word} ${'.'.repeat(60)}\n`);
    log.close();
  }
  assert.deepEqual(readdirSync(join(dir, 'logs')).sort(), ['a.log', 'a.log.1']);
  assert.match(readFileSync(file, 'utf8'), /^third/);
  assert.match(readFileSync(`${file}.1`, 'utf8'), /^second/);
});

test('lines of one turn are written together at its end; more than may wait is written at once', async (t) => {
  const file = join(folder(t), 'a.log');
  const log = openLogFile(file, 8_000);
  t.after(log.close);
  log.write('one\n');
  log.write('two\n');
  assert.ok(!existsSync(file));
  await nextTurn();
  assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n');
  log.write(`${'x'.repeat(1_000)}\n`);
  assert.equal(statSync(file).size, 8 + 1_001);
});

test('a file that cannot be opened stops nothing, and is there once it can be', (t) => {
  const file = join(folder(t), 'a.log');
  mkdirSync(file);
  const log = openLogFile(file, 100);
  t.after(log.close);
  log.write(`lost ${'.'.repeat(20)}\n`);
  rmSync(file, { recursive: true });
  log.write(`kept ${'.'.repeat(20)}\n`);
  log.close();
  assert.match(readFileSync(file, 'utf8'), /^kept/);
});
