/** A database in a folder of its own, gone with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openState, type State } from '../../host/state/index.ts';

export const temporary = (t: TestContext): string => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-state-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

export const opened = (t: TestContext, file = join(temporary(t), 'station.db')): State => {
  const state = openState(file);
  if (!state.ok) throw new Error(JSON.stringify(state.problem));
  t.after(() => state.value.close());
  return state.value;
};
