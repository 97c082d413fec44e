/** What a checker found in a manifest, in words: what must stand there, and what does. */
import type { core } from 'zod';

/** Longest text of an author's that is repeated, UTF-16 units. */
const shown = 60;

const nameOf: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const describe = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return String(value);
  return value.length <= shown ? JSON.stringify(value) : `a text of ${value.length} characters`;
};

const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    root,
  );

const bound = (origin: string, limit: number | bigint, word: 'most' | 'least'): string => {
  if (origin === 'array' || origin === 'set') return `must have at ${word} ${limit} entries`;
  return origin === 'string'
    ? `must have at ${word} ${limit} characters`
    : `must be a number of at ${word} ${limit}`;
};

const ruleOf = (issue: core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nameOf[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((allowed) => JSON.stringify(allowed)).join(' or ')}`;
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'most');
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'least');
    default:
      // The rules of ours say it themselves.
      return issue.message;
  }
};

/** Completes `The manifest's "id" …`. */
export const faultText = (root: unknown, issue: core.$ZodIssue): string => {
  if (issue.code !== 'unrecognized_keys')
    return `${ruleOf(issue)}; found ${describe(valueAt(root, issue.path))}`;
  const keys = issue.keys.slice(0, 5).map((key) => JSON.stringify(key.slice(0, shown)));
  return `must have only known keys; found ${keys.join(', ')}`;
};
