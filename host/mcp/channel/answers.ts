/**
 * The six methods of published skills, as data: what a catalog answers, or the error the specification names. Both ways
 * a request can go, through the SDK and past it, answer with these.
 */
import { isUtf8 } from 'node:buffer';
import { pageOf } from './pages.ts';
import type { Entry, Published, Resource } from './publish.ts';
import { scheme } from './uri.ts';

/** JSON-RPC 2.0. */
export const invalidParams = -32_602;
export const internalError = -32_603;
export const extension = 'io.modelcontextprotocol/skills';

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
export type Answered<T> = { readonly result: T } | { readonly error: RpcError };

const badCursor: { readonly error: RpcError } = { error: { code: invalidParams, message: 'Invalid cursor' } };

const sizes = new WeakMap<Entry, number>();
const sizeOf = (entry: Entry): number => {
  const known = sizes.get(entry) ?? JSON.stringify(entry).length;
  sizes.set(entry, known);
  return known;
};

export interface SkillsPage {
  readonly skills: readonly Entry[];
  readonly nextCursor?: string;
}
export interface ResourcesPage {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
}

export const listSkills = ({ entries }: Published, cursor?: string): Answered<SkillsPage> => {
  const page = pageOf(entries, cursor, sizeOf);
  if (page === undefined) return badCursor;
  const { items, ...rest } = page;
  return { result: { skills: items, ...rest } };
};

const resourcesPage = (items: readonly Resource[], cursor?: string): Answered<ResourcesPage> => {
  const page = pageOf(items, cursor);
  if (page === undefined) return badCursor;
  const { items: resources, ...rest } = page;
  return { result: { resources, ...rest } };
};

export const listResources = ({ resources }: Published, cursor?: string): Answered<ResourcesPage> =>
  resourcesPage(resources, cursor);

export const listTemplates = () => ({
  resourceTemplates: [{ name: extension, uriTemplate: `${scheme}{+path}` }],
});

export const getSkill = ({ byUri }: Published, uri: string): Answered<{ readonly skill: Entry }> => {
  const skill = byUri.get(uri);
  return skill === undefined
    ? { error: { code: invalidParams, message: `No skill is served at ${uri}` } }
    : { result: { skill } };
};

export const readFolder = ({ folders }: Published, uri: string, cursor?: string): Answered<ResourcesPage> => {
  const children = folders.get(uri);
  return children === undefined
    ? { error: { code: invalidParams, message: `${uri} is not a directory resource` } }
    : resourcesPage(children, cursor);
};

export interface Contents {
  readonly contents: readonly [
    { readonly uri: string; readonly mimeType: string } & (
      | { readonly text: string }
      | { readonly blob: string }
    ),
  ];
}

/** UTF-8 without NUL is text, everything else base64; a byte order mark and line ends stay. */
export const contentOf = (bytes: Uint8Array): { readonly text: string } | { readonly blob: string } => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer) && !buffer.includes(0)
    ? { text: buffer.toString('utf8') }
    : { blob: buffer.toString('base64') };
};

/** The listed bytes, or an error: `internalError` where they are no longer there to be read. */
export const readResource = ({ files, folders }: Published, uri: string): Answered<Contents> => {
  const file = files.get(uri);
  if (file === undefined) {
    const message = folders.has(uri)
      ? `${uri} is a directory; use resources/directory/read`
      : `Resource not found: ${uri}`;
    return { error: { code: invalidParams, message, data: { uri } } };
  }
  const read = file.read();
  if (!read.ok) {
    const why = read.problem.code === 'skill/changed' ? 'changed since it was listed' : 'could not be read';
    return { error: { code: internalError, message: `${uri} ${why}` } };
  }
  return { result: { contents: [{ uri, mimeType: file.mimeType, ...contentOf(read.value) }] } };
};
