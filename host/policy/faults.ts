/**
 * What a checker found, as problems a person can act on: the path, the place in the file, what was expected and
 * what stands there. A value is repeated only where it cannot be a secret pasted into the wrong place.
 */
import type { core } from 'zod';
import { type Problem, type ProblemCode, problem } from '../problems/index.ts';
import { mcpEntryFaults } from './mcp-entry.ts';
import { dotted, type Place } from './tree.ts';

type Path = readonly (string | number)[];

/** Keys whose wrong values are described, never quoted: someone may have pasted a token there. */
const quoted = new Set(['exposure', 'type', 'trust', 'approve', 'grants', 'provider', 'program', 'origin']);
const shown = 60;

const describe = (path: Path, value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `a ${typeof value}`;
  const key = path.findLast((part) => typeof part === 'string');
  const owner = path.length <= 3 && path[0] === 'grants' ? 'grants' : key;
  return quoted.has(String(owner)) && value.length <= shown
    ? JSON.stringify(value)
    : `a text of ${value.length} characters`;
};

const nameOf: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[String(part)]
        : undefined,
    root,
  );

interface Fault {
  readonly code: ProblemCode;
  readonly path: Path;
  readonly expected: string;
  readonly found: string;
}

const faultsOf = (root: unknown, issue: core.$ZodIssue): readonly Fault[] => {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const value = valueAt(root, path);
  const found = describe(path, value);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        code: 'policy/unknown-key',
        path: [...path, key],
        expected: 'only known keys',
        found: `the key ${JSON.stringify(key.slice(0, shown))}`,
      }));
    case 'invalid_key':
      return [
        {
          code: 'policy/wrong-name',
          path,
          expected: issue.issues[0]?.message ?? 'another name',
          found: `the name ${JSON.stringify(String(path.at(-1)).slice(0, shown))}`,
        },
      ];
    case 'invalid_type': {
      const expected = nameOf[issue.expected] ?? issue.expected;
      return [
        { code: value === undefined ? 'policy/missing-key' : 'policy/wrong-type', path, expected, found },
      ];
    }
    case 'invalid_value': {
      const expected = issue.values.map((allowed) => JSON.stringify(allowed)).join(' or ');
      const type = typeof value === 'string' ? 'policy/wrong-value' : 'policy/wrong-type';
      return [{ code: value === undefined ? 'policy/missing-key' : type, path, expected, found }];
    }
    case 'invalid_union': {
      // An entry means to be one of two things; what is wrong with it is said of that one.
      const meant = path[0] === 'mcpServers' && path.length === 2 ? mcpEntryFaults(value) : [];
      if (meant.length > 0)
        return meant.flatMap((inner) => faultsOf(root, { ...inner, path: [...path, ...inner.path] }));
      return [
        {
          code: value === undefined ? 'policy/missing-key' : 'policy/wrong-value',
          path,
          expected: issue.message,
          found,
        },
      ];
    }
    default:
      return [{ code: 'policy/wrong-value', path, expected: issue.message, found }];
  }
};

export const evidenceFor = (file: string, place: Place, expected: string, found: string): string =>
  `${file}:${place.line}:${place.column}: expected ${expected}, found ${found}`;

/** `placeOf` answers for any path; a missing key is placed where its owner stands. */
export const shapeProblems = (
  file: string,
  root: unknown,
  issues: readonly core.$ZodIssue[],
  placeOf: (path: string) => Place,
): readonly Problem[] =>
  issues
    .flatMap((issue) => faultsOf(root, issue))
    .map(({ code, path, expected, found }) => {
      const subject = dotted(path);
      const owner = code === 'policy/missing-key' ? dotted(path.slice(0, -1)) : subject;
      return problem(code, {
        subject: subject === '' ? file : subject,
        evidence: evidenceFor(file, placeOf(owner), expected, found),
      });
    });
