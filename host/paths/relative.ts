/**
 * Paths that come from strangers: manifests, sinks, archives, skill names. A path that passes here is relative,
 * stays below its root on Linux, macOS and Windows, and cannot be mistaken for another one on any of them.
 */
import { ok, type Result, refuse } from '../problems/index.ts';

const segmentBytes = 255;
const pathBytes = 1_024;
// Names Windows keeps for devices, with or without an extension.
const deviceName = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?$/i;
// What NTFS calls a longer name in eight and three characters: `README~1.MD` may be another file.
const shortName = /^(?=[^.]{3,8}(\.|$))[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$/;
// Controls, and what no reader sees: format characters (bidirectional overrides, zero width, which HFS+ and
// case-folding ext4 ignore in names), private use (where SMB and WSL hide `:` and `\`), line separators.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u;
const forbidden = /[<>:"|?*\\\ufffd]/;

/** Why a path segment cannot be used, or undefined. */
export const segmentFault = (segment: string): string | undefined => {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  if (!segment.isWellFormed()) return 'is not well-formed Unicode';
  if (segment.normalize('NFC') !== segment) return 'is not in Unicode NFC';
  if (invisible.test(segment)) return 'has an invisible character';
  if (forbidden.test(segment)) return 'has a character that is not allowed in a name';
  if (segment.endsWith('.') || segment.endsWith(' ')) return 'has a segment that ends in a dot or a space';
  if (deviceName.test(segment)) return `has the device name "${segment}"`;
  if (shortName.test(segment)) return `has "${segment}", which may be the short name of another file`;
  if (Buffer.byteLength(segment) > segmentBytes) return `has a segment of more than ${segmentBytes} bytes`;
  return undefined;
};

/** A path for a person to read: what is invisible is written as code points, so that a terminal obeys nothing. */
export const shownPath = (path: string): string =>
  Array.from(path.slice(0, 300), (char) =>
    /[\p{C}\p{Zl}\p{Zp}\ufffd]/u.test(char) ? `\\u{${char.codePointAt(0)?.toString(16)}}` : char,
  ).join('');

/** A relative path of portable segments, as its segments (`paths/unsafe`). */
export const relativeSegments = (path: string): Result<readonly string[]> => {
  const fault =
    path === ''
      ? 'is empty'
      : Buffer.byteLength(path) > pathBytes
        ? `is longer than ${pathBytes} bytes`
        : path.startsWith('/')
          ? 'is absolute'
          : path
              .split('/')
              .map(segmentFault)
              .find((found) => found !== undefined);
  return fault === undefined
    ? ok(path.split('/'))
    : refuse('paths/unsafe', { subject: shownPath(path), message: `The path ${fault}.` });
};

const foldedSegment = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
    .replace(/[. ]+$/, '');

/**
 * Two paths with one key are one file on some system: case folded (lower, upper, lower, so that `ß`, `ẞ` and `SS`
 * meet), normalised, without what file systems ignore and without the trailing dots and spaces Windows drops.
 */
export const collisionKey = (path: string): string => path.split('/').map(foldedSegment).join('/');

/**
 * Every two paths of a list that some system would take for one: twins, folders that are twins, and a file that is
 * also a folder. A pair of twin folders is named once, by its folders.
 */
export const collisions = (paths: Iterable<string>): readonly (readonly [string, string])[] => {
  const files = new Map<string, string>();
  const folders = new Map<string, { readonly folder: string; readonly file: string }>();
  const pairs = new Map<string, readonly [string, string]>();
  const meet = (one: string, other: string): void => {
    pairs.set(`${one}\0${other}`, [one, other]);
  };
  for (const path of paths) {
    const keys = collisionKey(path).split('/');
    const segments = path.split('/');
    for (let depth = 1; depth < segments.length; depth += 1) {
      const folder = segments.slice(0, depth).join('/');
      const key = keys.slice(0, depth).join('/');
      const file = files.get(key);
      if (file !== undefined) meet(file, path);
      const known = folders.get(key);
      if (known === undefined) folders.set(key, { folder, file: path });
      else if (known.folder !== folder) meet(known.folder, folder);
    }
    const key = keys.join('/');
    const inFolder = folders.get(key)?.file;
    if (inFolder !== undefined) meet(inFolder, path);
    const twin = files.get(key);
    if (twin === undefined) files.set(key, path);
    else meet(twin, path);
  }
  return [...pairs.values()];
};

/** The first of `collisions`. */
export const collision = (paths: Iterable<string>): readonly [string, string] | undefined =>
  collisions(paths)[0];
