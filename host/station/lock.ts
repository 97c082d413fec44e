/**
 * One station a home. The lock is SQLite's on an empty file of its own: the kernel takes it back when the station dies,
 * however it dies, so that there is no stale lock, and two stations that start at once cannot both have it.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ok, type Result, refuse } from '../problems/index.ts';

/** `station/already-running` while another process has it. The value releases it. */
export const lockHome = (home: string): Result<() => void> => {
  const db = new Database(join(home, 'run', 'lock'), { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    return refuse('station/already-running', { subject: home });
  }
  return ok(() => {
    db.close();
  });
};
