/** Where the transpiler and the WASI shim lie. They are found here and loaded only in workers. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** `a/b/name/` of `a/b/name/dist/x.js`. */
const rootOf = (path: string, name: string): string => {
  const plain = path.replaceAll('\\', '/');
  return plain.slice(0, plain.lastIndexOf(`/${name}/`) + name.length + 2);
};

/** URL of jco's generator; loading it costs 13 MB of Wasm, so only the throw-away worker does. */
export const generatorUrl = (): string => import.meta.resolve('@bytecodealliance/jco-transpile/component');

/** URL of the in-process build of preview2-shim that the generator comes with, ending in `/`. */
export const shimFolder = (): string => {
  const entry = createRequire(generatorUrl()).resolve('@bytecodealliance/preview2-shim/io');
  return new URL('dist/browser/', pathToFileURL(rootOf(entry, 'preview2-shim'))).href;
};

/** The generator's version, for the cache key. */
export const generatorVersion = (): string => {
  const file = new URL('package.json', rootOf(generatorUrl(), 'jco-transpile'));
  const { version }: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof version !== 'string') throw new Error('jco-transpile has no version');
  return version;
};
