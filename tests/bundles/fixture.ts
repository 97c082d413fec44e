/** Bundles and stores in temporary folders that go with the test. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import {
  type BundleStoreOptions,
  bundleTables,
  openBundleStore,
  packBundle,
  type TopicEntry,
  type TopicShape,
  type VerifiedBundle,
} from '../../host/bundles/index.ts';
import type { Result } from '../../host/problems/index.ts';

export const temporary = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const write = (root: string, files: Readonly<Record<string, string | Uint8Array>>): void => {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
};

export const topic = (id: string, type = 'string'): TopicEntry => ({
  id,
  kind: 'event',
  shape: { event: { type: 'object', properties: { text: { type } }, required: ['text'] } },
});

export const authored = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ manifest: 2, id: 'demo.bundle', version: '1.0.0', ...more });

export const plainFiles = {
  'bundle.json': authored(),
  'skills/greet/SKILL.md': '---\nname: greet\ndescription: greets\n---\nSay hello.\n',
  'skills/greet/scripts/hello.sh': 'echo hello\n',
  'readme.md': 'A bundle.\n',
};

export const value = <T>(result: Result<T>): T => {
  if (!result.ok)
    throw new Error(`${result.problem.code}: ${result.problem.message} ${result.problem.evidence}`);
  return result.value;
};
export const codeOf = (result: Result<unknown>): string => (result.ok ? 'ok' : result.problem.code);

/** A packed bundle in a new folder below `root`. */
export const packedBundle = async (
  root: string,
  name: string,
  files: Readonly<Record<string, string | Uint8Array>> = plainFiles,
): Promise<VerifiedBundle> => {
  const folder = join(root, name);
  write(folder, files);
  return value(await packBundle(folder));
};

export const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

const sorted = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
};
export const shapeOf = (entry: TopicEntry): TopicShape => {
  const shape = JSON.stringify(sorted(entry.shape));
  return { shape, digest: sha256(shape) };
};

export const openStore = (home: string, more: Partial<BundleStoreOptions> = {}) => {
  const db = new Database(join(home, 'station.db'));
  db.pragma('journal_mode = WAL');
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'bundles'").get() === undefined)
    db.exec(bundleTables);
  let clock = 1_000;
  const now = (): number => {
    clock += 1;
    return clock;
  };
  const packages = join(home, 'packages');
  return { db, packages, store: openBundleStore({ packages, db, now, shapeOf, ...more }) };
};
