/** The conformance suite of the protocol, run as a program; what it found is read from the files it writes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { installed } from './installed.ts';

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}
export interface SuiteRun {
  readonly code: number | null;
  /** One for each scenario that wrote any; `folder` is named for it. */
  readonly scenarios: readonly { readonly folder: string; readonly checks: readonly Check[] }[];
}

/** Longest run, ms. */
const usualMs = 60_000;

/** Fetched by the first test that asks. */
const entry = async (): Promise<string> =>
  join(await installed('@modelcontextprotocol/conformance', '0.2.0-alpha.12'), 'dist', 'index.js');

export const runSuite = async (
  t: TestContext,
  args: readonly string[],
  timeout: number = usualMs,
): Promise<SuiteRun> => {
  const out = mkdtempSync(join(tmpdir(), 'jupiter-checks-'));
  t.after(() => rmSync(out, { recursive: true, force: true }));
  const child = spawn(process.execPath, [await entry(), ...args, '-o', out], { stdio: 'ignore', timeout });
  const [code] = (await once(child, 'exit')) as [number | null];
  const scenarios = globSync(join(out, '**', 'checks.json')).map((file) => ({
    folder: basename(dirname(file)),
    checks: JSON.parse(readFileSync(file, 'utf8')) as Check[],
  }));
  return { code, scenarios };
};

/** Every check of the one scenario these arguments name. */
export const checksOf = async (
  t: TestContext,
  args: readonly string[],
  timeout?: number,
): Promise<{ readonly code: number | null; readonly checks: readonly Check[] }> => {
  const { code, scenarios } = await runSuite(t, args, timeout);
  const [found] = scenarios;
  assert.ok(found !== undefined, `${args.join(' ')} wrote no checks`);
  return { code, checks: found.checks };
};
