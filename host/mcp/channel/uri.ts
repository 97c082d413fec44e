/**
 * `skill://` URIs. Each file has exactly one, and it is compared character by character: whatever would have to be
 * normalised first (`..`, `%2e`, another case, a query) names nothing.
 */
export const scheme = 'skill://';
/** What the extension of MCP calls a folder. */
export const folderType = 'inode/directory';

/** The URI of a file or folder by its path, whose segments are safe names; undefined where one is no text. */
export const skillUri = (path: string): string | undefined => {
  try {
    return scheme + path.split('/').map(encodeURIComponent).join('/');
  } catch {
    // Half of a surrogate pair.
    return undefined;
  }
};

/** Code units, as every page and cursor orders them. */
export const byUri = (a: { readonly uri: string }, b: { readonly uri: string }): number =>
  a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0;

const types: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  txt: 'text/plain',
  html: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  xml: 'application/xml',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/x-typescript',
  py: 'text/x-python',
  sh: 'application/x-sh',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  zip: 'application/zip',
  wasm: 'application/wasm',
};

/** By the file's name alone: what it holds is not known when it is listed. */
export const typeOfFile = (name: string): string => {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
  return Object.hasOwn(types, extension) ? (types[extension] ?? '') : 'application/octet-stream';
};
