/**
 * What a skill of another server is called here. A server has a label its operator chose; a skill is `label/path`
 * everywhere it is spoken of, and `mcp-label-name` where a workspace needs one plain word, so that no name of another
 * server can be one of this machine's, nor of a third server's.
 */
import { hash } from 'node:crypto';
import { ok, problem, type Result, refuse } from '../../problems/index.ts';
import { labelCharacters, nameCharacters } from './limits.ts';

const labelPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** `remote/label`. */
export const labelOf = (label: string): Result<string> =>
  label.length <= labelCharacters && labelPattern.test(label)
    ? ok(label)
    : { ok: false, problem: problem('remote/label', { subject: JSON.stringify(label.slice(0, 100)) }) };

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

/** A label for a server nobody named: its host, and its port where that is not the usual one. */
export const labelFor = (url: string): string =>
  plain(new URL(url).host).slice(0, labelCharacters).replace(/-+$/, '');

const skillScheme = 'skill://';
const document = '/SKILL.md';

/** What a skill's URI is called behind its label: its path, with the scheme where that is not `skill`. */
export const pathOf = (uri: string): string => {
  const root = uri.endsWith(document) ? uri.slice(0, -document.length) : uri;
  return root.startsWith(skillScheme) ? root.slice(skillScheme.length) : root.replace('://', ':');
};

export interface Address {
  readonly label: string;
  /** Undefined: the server as a whole. */
  readonly path?: string;
}

/** `team` or `team/acme/deploy` (`remote/label`). */
export const addressOf = (text: string): Result<Address> => {
  const slash = text.indexOf('/');
  const label = labelOf(slash < 0 ? text : text.slice(0, slash));
  if (!label.ok) return label;
  if (slash < 0) return ok({ label: label.value });
  const path = text.slice(slash + 1);
  return path === '' ? refuse('remote/unknown', { subject: text }) : ok({ label: label.value, path });
};

/** What placements and records call the source. No bundle ID has a colon. */
export const sourceId = (label: string, path: string): string => `mcp:${label}/${path}`;

/**
 * The name a skill is placed under: the shortest of these that is free. It is given once and kept, so that it never
 * comes to mean another skill.
 */
export const placedName = (
  { label, path, name }: { readonly label: string; readonly path: string; readonly name: string },
  isFree: (name: string) => boolean,
): string => {
  const mark = hash('sha256', path, 'hex').slice(0, 8);
  const room = nameCharacters - `mcp-${label}--${mark}`.length;
  const cut = name.slice(0, room).replace(/-+$/, '');
  const candidates = [`mcp-${label}-${name}`, `mcp-${label}-${plain(path)}`].filter(
    (one) => one.length <= nameCharacters && isFree(one),
  );
  return candidates[0] ?? `mcp-${label}-${cut}-${mark}`;
};
