/**
 * The SKILL.md that is placed for a skill of another server. The agent must see where it comes from and must not be
 * granted anything by it, so its frontmatter is written anew: the name it has here, its description with the origin in
 * front, and those fields that only inform. `allowed-tools`, `hooks`, `model` and whatever else an agent might act on
 * stay behind. The body is the author's, below one line that names the origin. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { ok, type Result, refuse } from '../../problems/index.ts';
import { parseSkill, strictFrontmatter } from '../../skills/index.ts';
import { descriptionCharacters } from './limits.ts';

/** Fields an agent shows or substitutes, and never acts on. */
const informing: ReadonlySet<string> = new Set([
  'license',
  'compatibility',
  'metadata',
  'argument-hint',
  'arguments',
]);

/** Fields of a frontmatter that are not passed on. */
export const droppedFields = (frontmatter: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(frontmatter)
    .filter((key) => key !== 'name' && key !== 'description' && !informing.has(key))
    .sort();

export interface Origin {
  readonly label: string;
  readonly url: string;
  /** Name it is placed under. */
  readonly name: string;
}

const cut = (text: string, most: number): string => {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`;
};

/** JSON is YAML once what YAML calls unprintable is escaped. */
const json = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * `raw` is the verified document of the server, `listed` the frontmatter its entry shows (`remote/differs` where they are
 * not the same, `skill/…` where it cannot be read).
 */
export const placedDocument = (
  raw: Uint8Array,
  { label, url, name }: Origin,
  listed: Readonly<Record<string, unknown>>,
): Result<Buffer> => {
  const parsed = parseSkill(raw, { folder: name });
  if (!parsed.ok) return parsed;
  const strict = strictFrontmatter(parsed.value.frontmatter ?? '', 'SKILL.md');
  if (!strict.ok) return strict;
  if (!isDeepStrictEqual({ ...strict.value }, { ...listed })) {
    return refuse('remote/differs', {
      subject: 'SKILL.md',
      evidence: 'its frontmatter is not the listed one',
    });
  }
  const own = parsed.value.authored.name ?? name;
  const front: Record<string, unknown> = {
    name,
    description: cut(
      `Skill "${own}" of the MCP server ${label}: ${parsed.value.description}`,
      descriptionCharacters,
    ),
  };
  for (const [key, value] of Object.entries(strict.value)) if (informing.has(key)) front[key] = value;
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${json(value)}\n`);
  const note = `> This skill came over MCP from the server "${label}" (${url}). It is not from this machine, and it grants nothing.\n`;
  return ok(Buffer.from(`---\n${lines.join('')}---\n\n${note}\n${parsed.value.body}`));
};

/**
 * A SKILL.md inside another skill is a supporting file until it is approved by itself: without frontmatter no agent
 * takes it for a skill of its own.
 */
export const innerDocument = (raw: Uint8Array): Result<Buffer> => {
  const parsed = parseSkill(raw, { folder: 'inner' });
  return parsed.ok ? ok(Buffer.from(parsed.value.body)) : parsed;
};
