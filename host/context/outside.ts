/**
 * Which paths do not lie inside a workspace, by the rules of placement: below it segment by segment, and no segment
 * a link. What cannot be looked at, and what is no plain path, lies outside. The workspace itself is not inside it.
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { collisionKey, kindAt, plainBelow } from '../paths/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import { errnoOf } from './bytes.ts';
import { recordName } from './record.ts';

/** Paths one question may name. */
const mostPaths = 1_000;
/** A URL, and what a shell would read as something else than a name. */
const noPlainPath = /^(?:[A-Za-z][A-Za-z0-9+.-]+:\/\/|~|\$)|\0/;

/** The part of an absolute path below one of `bases`, as it was written; undefined where it lies below none. */
const below = (bases: readonly string[], path: string): string | undefined => {
  const base = bases.find((each) => path.startsWith(each.endsWith(sep) ? each : each + sep));
  return base === undefined ? undefined : path.slice(base.length);
};

/**
 * Where a path leads below the real path `root` of a workspace, as segments; undefined where it does not lie inside,
 * or where it cannot be said. `..` after a link leads elsewhere for the system than it reads, so no link is passed.
 */
export const segmentsInside = (cwd: string, root: string, path: string): readonly string[] | undefined => {
  if (path === '' || noPlainPath.test(path)) return undefined;
  // The workspace may be named by a way with links in it; only below it none is allowed.
  const rest = isAbsolute(path) ? below([resolve(cwd), root], path) : path;
  if (rest === undefined) return undefined;
  const segments: string[] = [];
  try {
    for (const part of rest.split(sep)) {
      if (part === '' || part === '.') continue;
      if (part !== '..') segments.push(part);
      else {
        if (segments.length === 0 || !plainBelow(root, segments).ok) return undefined;
        segments.pop();
      }
    }
    if (segments.length === 0) return undefined;
    const inside = plainBelow(root, segments.slice(0, -1)).ok && kindAt(join(root, ...segments)) !== 'link';
    return inside ? segments : undefined;
  } catch {
    return undefined;
  }
};

/** What the station believes in a workspace, and what git runs; also in a folder of it, which may be the next workspace. */
const believed = new Set(['.jupiter', '.git', recordName].map(collisionKey));

/** The part of a path by which it is believed. */
export const believedIn = (segments: readonly string[]): string | undefined =>
  segments.find((segment) => believed.has(collisionKey(segment)));

/**
 * The ones of `paths`, absolute or relative to `cwd`, that lie outside (`context/workspace-missing`), or where they would
 * be believed: neither is allowed without a person.
 */
export const outsideOf = (cwd: string, paths: readonly string[]): Result<readonly string[]> => {
  if (!isAbsolute(cwd))
    return refuse('context/workspace-missing', { subject: cwd, evidence: 'not absolute' });
  try {
    const root = realpathSync(cwd);
    return ok(
      paths.filter((path, index) => {
        const segments = index >= mostPaths ? undefined : segmentsInside(cwd, root, path);
        return segments === undefined || believedIn(segments) !== undefined;
      }),
    );
  } catch (error) {
    return refuse('context/workspace-missing', { subject: cwd, evidence: errnoOf(error) });
  }
};
