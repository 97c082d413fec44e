/** A temporary folder a test writes files into; gone afterwards. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Result } from '../../host/problems/index.ts';

export interface Desk {
  readonly dir: string;
  readonly at: (path: string) => string;
  readonly write: (path: string, content: string | Uint8Array) => string;
}

export const openDesk = (t: TestContext): Desk => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-skills-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const at = (path: string): string => join(dir, path);
  return {
    dir,
    at,
    write: (path, content) => {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
  };
};

export const skillText = (name: string, body = 'Do it.', more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n${body}\n`;

export const got = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.evidence ?? ''}`);
  return result.value;
};
export const refused = <T>(result: Result<T>) => {
  if (result.ok) throw new Error('expected a problem');
  return result.problem;
};
