/**
 * What of a skill's frontmatter other hosts rely on. The rules are those of agentskills.io/specification, which SEP-2640
 * makes a condition for serving a skill at all.
 */
import { type Problem, type ProblemCode, type ProblemDetail, problem } from '../../problems/index.ts';
import type { JsonValue } from '../../skills/index.ts';
import { compatibilityCharacters, descriptionCharacters, nameCharacters } from './limits.ts';

export interface Frontmatter {
  readonly name: string;
  readonly description: string;
  readonly [key: string]: JsonValue;
}

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const points = (text: string): number =>
  text.length <= descriptionCharacters / 2 ? text.length : [...text].length;

const isStringTable = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((item) => typeof item === 'string');

/** Whether the frontmatter is one that says what its folder is called and what it is for. */
export const isWhole = (found: Readonly<Record<string, JsonValue>>, name: string): found is Frontmatter =>
  found['name'] === name && typeof found['description'] === 'string' && found['description'].trim() !== '';

/** Why a folder's name cannot be the last segment of a published skill, or undefined. */
export const nameFault = (name: string, subject: string): Problem | undefined =>
  name.length <= nameCharacters && namePattern.test(name)
    ? undefined
    : problem('channel/name', { subject, evidence: JSON.stringify(name.slice(0, 100)) });

/** Why a skill cannot be published, or undefined. */
export const frontmatterFault = (found: Frontmatter, subject: string): Problem | undefined => {
  const no = (code: ProblemCode, evidence: string): Problem =>
    problem(code, { subject, evidence } satisfies ProblemDetail);
  const length = points(found.description);
  if (length > descriptionCharacters) {
    return no('channel/description-too-long', `${length} characters; at most ${descriptionCharacters}`);
  }
  const { compatibility, metadata } = found;
  if (compatibility !== undefined) {
    const fits =
      typeof compatibility === 'string' &&
      compatibility !== '' &&
      points(compatibility) <= compatibilityCharacters;
    if (!fits) return no('channel/frontmatter', `compatibility: 1 to ${compatibilityCharacters} characters`);
  }
  if (metadata !== undefined && !isStringTable(metadata)) {
    return no('channel/frontmatter', 'metadata: strings to strings');
  }
  return undefined;
};
