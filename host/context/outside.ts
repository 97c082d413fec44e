/**
 * Which paths do not lie inside a workspace, by the rules of placement: below it segment by segment, and no segment
 * a link. What cannot be looked at, and what is no plain path, lies outside. The workspace itself is not inside it.
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isBelow, kindAt, plainBelow } from '../paths/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import { errnoOf } from './bytes.ts';

/** Paths one question may name. */
const mostPaths = 1_000;
/** A URL, and what a shell would read as something else than a name. */
const noPlainPath = /^(?:[A-Za-z][A-Za-z0-9+.-]+:\/\/|~|\$)|\0/;

const isInside = (cwd: string, root: string, path: string): boolean => {
  if (path === '' || noPlainPath.test(path)) return false;
  const full = resolve(cwd, path);
  // The workspace may be named by a way with links in it; only below it none is allowed.
  const base = [cwd, root].find((each) => isBelow(each, full));
  const segments =
    base === undefined
      ? []
      : relative(base, full)
          .split(sep)
          .filter((part) => part !== '');
  if (segments.length === 0) return false;
  try {
    return plainBelow(root, segments.slice(0, -1)).ok && kindAt(join(root, ...segments)) !== 'link';
  } catch {
    return false;
  }
};

/** The ones of `paths`, absolute or relative to `cwd`, that lie outside (`context/workspace-missing`). */
export const outsideOf = (cwd: string, paths: readonly string[]): Result<readonly string[]> => {
  if (!isAbsolute(cwd))
    return refuse('context/workspace-missing', { subject: cwd, evidence: 'not absolute' });
  try {
    const root = realpathSync(cwd);
    return ok(paths.filter((path, index) => index >= mostPaths || !isInside(cwd, root, path)));
  } catch (error) {
    return refuse('context/workspace-missing', { subject: cwd, evidence: errnoOf(error) });
  }
};
