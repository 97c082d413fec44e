/**
 * Paths that come from strangers: manifests, sinks, archives, skill names. A path that passes here is relative,
 * stays below its root on Linux, macOS and Windows, and cannot be mistaken for another one on any of them.
 */
import { ok, type Result, refuse } from '../problems/index.ts';

const segmentBytes = 255;
const pathBytes = 1_024;
// Names Windows keeps for devices, with or without an extension.
const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const forbidden = /[\u0000-\u001f\u007f-\u009f<>:"|?*\\\u2028\u2029\ufffd]/;

/** Why a path segment cannot be used, or undefined. */
export const segmentFault = (segment: string): string | undefined => {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  if (!segment.isWellFormed()) return 'is not well-formed Unicode';
  if (segment.normalize('NFC') !== segment) return 'is not in Unicode NFC';
  if (forbidden.test(segment)) return 'has a character that is not allowed in a name';
  if (segment.endsWith('.') || segment.endsWith(' ')) return 'has a segment that ends in a dot or a space';
  if (deviceName.test(segment)) return `has the device name "${segment}"`;
  if (Buffer.byteLength(segment) > segmentBytes) return `has a segment of more than ${segmentBytes} bytes`;
  return undefined;
};

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
    : refuse('paths/unsafe', { subject: path.slice(0, 200), message: `The path ${fault}.` });
};

/**
 * Two paths with one key are one file on some system: case folded (lower, upper, lower, so that `ß`, `ẞ` and `SS`
 * meet) and in NFC. Trailing dots and spaces never get here.
 */
export const collisionKey = (path: string): string =>
  path.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');

/** The first two paths of a list that some system would take for one, a file taken for a folder included. */
export const collision = (paths: Iterable<string>): readonly [string, string] | undefined => {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const path of paths) {
    const key = collisionKey(path);
    const twin = files.get(key) ?? folders.get(key);
    if (twin !== undefined) return [twin, path];
    files.set(key, path);
    const segments = path.split('/');
    for (let depth = 1; depth < segments.length; depth += 1) {
      const folder = segments.slice(0, depth).join('/');
      const folderKey = collisionKey(folder);
      const file = files.get(folderKey);
      if (file !== undefined) return [file, path];
      const known = folders.get(folderKey);
      if (known !== undefined && known !== folder) return [known, folder];
      folders.set(folderKey, folder);
    }
  }
  return undefined;
};
