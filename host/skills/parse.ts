/**
 * The one parser of SKILL.md: library, lint, command, tool and everything that serves skills read through it.
 * Nothing an author can write makes it throw.
 */
import { segmentFault } from '../paths/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { Diagnostic, ParsedSkill, ParseSkill } from './edge.ts';
import { type Field, fieldsOf, sourceOf, textIn, wordsIn } from './fields.ts';
import { namedArguments } from './limits.ts';
import { halvesOf, textOf } from './text.ts';

const known = new Set(['name', 'description', 'argument-hint', 'arguments', 'allowed-tools', 'model']);
/** What `$name` can stand for: letters, digits and underscores of any script. */
const argumentName = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u;

/** Why a name cannot be a skill's, or undefined. It becomes a path segment and the word behind a `/`. */
export const nameFault = (name: string): string | undefined =>
  name.includes('/') ? 'holds a slash' : name.startsWith('.') ? 'begins with a dot' : segmentFault(name);

interface Named {
  readonly name: string;
  readonly authored?: string;
}

const nameOf = (
  field: Field | undefined,
  folder: string,
  subject: string,
  note: (found: Diagnostic) => void,
): Result<Named> => {
  const authored = field === undefined ? undefined : textIn(field, note)?.trim().normalize('NFC');
  const line = field?.line ?? 1;
  const folderName = folder.normalize('NFC');
  if (authored !== undefined) {
    const fault = nameFault(authored);
    if (fault !== undefined) {
      return refuse('skill/name-invalid', {
        subject,
        message: `The name of the skill ${fault}.`,
        evidence: `line ${line}: ${JSON.stringify(authored.slice(0, 100))}`,
      });
    }
    if (!/\s/.test(authored)) {
      if (authored !== folderName) {
        note({
          rule: 'name-not-folder',
          line,
          message: `The name is "${authored}", the folder "${folderName}".`,
        });
      }
      return ok({ name: authored, authored });
    }
    note({
      rule: 'name-has-space',
      line,
      message: `"${authored}" holds a space and could not be called; the folder's name stands in.`,
    });
  }
  const fault = /\s/.test(folderName) ? 'holds a space' : nameFault(folderName);
  return fault === undefined
    ? ok({ name: folderName, ...(authored === undefined ? {} : { authored }) })
    : refuse('skill/name-invalid', {
        subject,
        message: `The folder's name ${fault}.`,
        evidence: JSON.stringify(folderName.slice(0, 100)),
      });
};

const firstLine = (body: string): string =>
  /\S.*/
    .exec(body)?.[0]
    .replace(/^#{1,6}(?=\s|$)/, '')
    .trim() ?? '';

const argumentsIn = (field: Field | undefined, note: (found: Diagnostic) => void): readonly string[] => {
  if (field === undefined) return [];
  const names: string[] = [];
  for (const word of wordsIn(field, note)) {
    const name = word.normalize('NFC');
    const usable = argumentName.test(name) && name !== 'ARGUMENTS' && names.length < namedArguments;
    if (!usable) {
      const message = `"${word.slice(0, 100)}" cannot be the name of an argument; letters, digits and _ can.`;
      note({ rule: 'argument-name-ignored', line: field.line, message });
    }
    // A place is kept for it, so that the names behind it mean the words they seem to.
    names.push(usable ? name : '');
  }
  return names.slice(0, namedArguments);
};

export const parseSkill: ParseSkill = (bytes, { folder }): Result<ParsedSkill> => {
  const subject = `${folder}/SKILL.md`;
  const text = textOf(bytes);
  if (text === undefined) return refuse('skill/not-text', { subject });
  const halves = halvesOf(text, subject);
  if (!halves.ok) return halves;
  const { frontmatter, body, bodyLine } = halves.value;
  const diagnostics: Diagnostic[] = [];
  const note = (found: Diagnostic): void => void diagnostics.push(found);
  if (frontmatter === undefined) {
    const message = "No frontmatter: it can be used under its folder's name, but not be published.";
    note({ rule: 'no-frontmatter', line: 1, message });
  }
  const fields = frontmatter === undefined ? new Map<string, Field>() : fieldsOf(frontmatter, 2, note);
  const textAt = (key: string): string | undefined => {
    const field = fields.get(key);
    return field === undefined ? undefined : textIn(field, note)?.trim();
  };
  const named = nameOf(fields.get('name'), folder, subject, note);
  if (!named.ok) return named;
  const authored = textAt('description');
  const description = authored ?? firstLine(body);
  if (frontmatter !== undefined && authored === undefined) {
    const message = "No description: the body's first line stands in.";
    note({ rule: 'no-description', line: fields.get('description')?.line ?? 1, message });
  }
  const argumentHint = textAt('argument-hint');
  const model = textAt('model');
  const allowed = fields.get('allowed-tools');
  const others = [...fields.values()].filter(({ key }) => !known.has(key));
  return ok({
    raw: bytes,
    frontmatter,
    body,
    bodyLine,
    name: named.value.name,
    description,
    authored: {
      ...(named.value.authored === undefined ? {} : { name: named.value.authored }),
      ...(authored === undefined ? {} : { description: authored }),
    },
    ...(argumentHint === undefined ? {} : { argumentHint }),
    arguments: argumentsIn(fields.get('arguments'), note),
    allowedTools: allowed === undefined ? [] : wordsIn(allowed, note),
    ...(model === undefined ? {} : { model }),
    other: Object.fromEntries(others.map((field) => [field.key, sourceOf(field)])),
    keyLines: Object.fromEntries([...fields.values()].map(({ key, line }) => [key, line])),
    diagnostics: diagnostics.sort((a, b) => a.line - b.line),
  });
};
