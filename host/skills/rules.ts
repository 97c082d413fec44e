/**
 * What is wrong with one skill, for whom, in which line. Pure.
 */
import { codeIn } from './code.ts';
import type { DiagnosticRule, FamilyName, Finding, ParsedSkill } from './edge.ts';
import { placeholder } from './expand.ts';
import { characters, type Family, strictName } from './families.ts';

type Say = (finding: Omit<Finding, 'file'>) => void;

const names = (list: readonly Family[]): readonly FamilyName[] => list.map(({ name }) => name);
const titles = (list: readonly Family[]): string => list.map(({ title }) => title).join(', ');

const descriptionRules = (skill: ParsedSkill, wanted: readonly Family[], say: Say): void => {
  const { description } = skill.authored;
  const line = skill.keyLines.description ?? 1;
  const length = characters(description ?? '');
  for (const limit of new Set(wanted.map(({ descriptionRefused }) => descriptionRefused))) {
    const refusing = wanted.filter(({ descriptionRefused }) => descriptionRefused === limit);
    if (limit === undefined || length <= limit) continue;
    const message = `The description has ${length} characters; refused beyond ${limit} by ${titles(refusing)}.`;
    say({ line, rule: 'description-too-long', level: 'error', families: names(refusing), message });
  }
  for (const family of wanted) {
    if (family.descriptionCut === undefined || length <= family.descriptionCut) continue;
    const message = `The description has ${length} characters; ${family.title} shows ${family.descriptionCut}.`;
    say({ line, rule: 'description-cut', level: 'warning', families: [family.name], message });
  }
};

const requiredRules = (skill: ParsedSkill, wanted: readonly Family[], say: Say): void => {
  const isMissing = {
    frontmatter: skill.frontmatter === undefined,
    name: skill.authored.name === undefined,
    description: skill.authored.description === undefined,
  };
  for (const field of ['frontmatter', 'name', 'description'] as const) {
    if (!isMissing[field] || (field !== 'frontmatter' && isMissing.frontmatter)) continue;
    const refusing = wanted.filter(({ required }) => required.includes(field));
    if (refusing.length === 0) continue;
    const message = `There is no ${field}; without it the skill is refused by ${titles(refusing)}.`;
    say({ line: 1, rule: `${field}-missing`, level: 'error', families: names(refusing), message });
  }
};

const nameRules = (skill: ParsedSkill, folder: string, wanted: readonly Family[], say: Say): void => {
  const name = skill.authored.name ?? skill.name;
  const line = skill.keyLines.name ?? 1;
  const refuse = (rule: string, refusing: readonly Family[], why: string): void => {
    if (refusing.length === 0) return;
    const message = `The name "${name}" ${why}; refused by ${titles(refusing)}.`;
    say({ line, rule, level: 'error', families: names(refusing), message });
  };
  const length = characters(name);
  const tooLong = wanted.filter(({ nameRefused }) => nameRefused !== undefined && length > nameRefused);
  refuse('name-too-long', tooLong, `has ${length} characters`);
  if (!strictName.test(name)) {
    const strict = wanted.filter((family) => family.strictName);
    refuse('name-format', strict, 'holds more than lower-case letters, digits and single hyphens');
  }
  if (name !== folder.normalize('NFC')) {
    const exact = wanted.filter((family) => family.nameIsFolder);
    refuse('name-not-folder', exact, `is not the folder's, "${folder}"`);
  }
};

// Said by the rules above, with the families that mind.
const saidElsewhere: ReadonlySet<DiagnosticRule> = new Set([
  'no-frontmatter',
  'no-description',
  'name-not-folder',
]);
// Not YAML, or YAML that a strict reader refuses.
const strictly: ReadonlySet<DiagnosticRule> = new Set(['read-as-text', 'line-ignored', 'duplicate-key']);

const readingRules = (skill: ParsedSkill, wanted: readonly Family[], say: Say): void => {
  const refusing = wanted.filter(({ brokenYaml }) => brokenYaml === 'refused');
  for (const { rule, line, message } of skill.diagnostics) {
    if (saidElsewhere.has(rule)) continue;
    if (strictly.has(rule) && refusing.length > 0) {
      const whole = `${message} Refused by ${titles(refusing)}.`;
      say({ line, rule, level: 'error', families: names(refusing), message: whole });
    } else say({ line, rule, level: 'warning', families: [], message });
  }
};

/** The line of each of some rising offsets. */
const lineCounter = (text: string, first: number): ((offset: number) => number) => {
  let at = 0;
  let line = first;
  return (offset) => {
    for (; at < offset; at += 1) if (text.charCodeAt(at) === 10) line += 1;
    return line;
  };
};

const placeholderRules = (skill: ParsedSkill, wanted: readonly Family[], say: Say): void => {
  const { body } = skill;
  const code = codeIn(body);
  const lineAt = lineCounter(body, skill.bodyLine);
  const declared = new Set(skill.arguments.filter((name) => name !== ''));
  const zeroBased = wanted.filter(({ placeholders }) => placeholders?.first === 0);
  const escaping = wanted.filter(({ placeholders }) => placeholders?.escape === true);
  let saidZeroBased = false;
  let stretch = 0;
  const pattern = /\$0(?![\p{L}\p{M}\p{N}_])|\$ARGUMENTS\[[^\]\n]{0,20}\]/gu;
  const ours = [...body.matchAll(placeholder)].map((found) => ({ found, isOurs: true }));
  const theirs = [...body.matchAll(pattern)].map((found) => ({ found, isOurs: false }));
  for (const { found, isOurs } of [...ours, ...theirs].sort((a, b) => a.found.index - b.found.index)) {
    const [text, , digit, folderMark, name] = found;
    if (isOurs && name !== undefined && !declared.has(name.normalize('NFC'))) continue;
    const { index } = found;
    const line = lineAt(index);
    const concerned = isOurs ? [] : names(zeroBased);
    if (!isOurs) {
      if (zeroBased.length === 0) continue;
      const message = `"${text}" is left as it stands here; ${titles(zeroBased)} puts a word in its place.`;
      say({ line, rule: 'placeholder-foreign', level: 'warning', families: concerned, message });
    }
    while ((code[stretch]?.to ?? Number.POSITIVE_INFINITY) <= index) stretch += 1;
    const inside = code[stretch];
    if (inside !== undefined && inside.from <= index && folderMark === undefined) {
      const where = inside.kind === 'block' ? 'a code block' : 'inline code';
      const message = `"${text}" stands in ${where} and is replaced there as well.`;
      say({ line, rule: 'placeholder-in-code', level: 'warning', families: concerned, message });
    }
    if (digit !== undefined && /^[.,]\d/.test(body.slice(index + text.length, index + text.length + 2))) {
      const message = `"${text}" looks like an amount of money; it is replaced by a word when there is one.`;
      say({ line, rule: 'placeholder-in-amount', level: 'warning', families: [], message });
    }
    if (body.charAt(index - 1) === '\\') {
      const others = escaping.length === 0 ? '' : `; ${titles(escaping)} takes the backslash for an escape`;
      const message = `The backslash before "${text}" does not keep it from being replaced${others}.`;
      say({ line, rule: 'placeholder-escaped', level: 'warning', families: names(escaping), message });
    }
    if (digit !== undefined && !saidZeroBased && zeroBased.length > 0) {
      saidZeroBased = true;
      const message = `"${text}" is word ${digit} here; ${titles(zeroBased)} counts from $0. Use a named argument.`;
      say({ line, rule: 'placeholder-counted', level: 'warning', families: names(zeroBased), message });
    }
  }
};

export const findingsOf = (
  skill: ParsedSkill,
  folder: string,
  wanted: readonly Family[],
): readonly Omit<Finding, 'file'>[] => {
  const found: Omit<Finding, 'file'>[] = [];
  const say: Say = (finding) => void found.push(finding);
  requiredRules(skill, wanted, say);
  nameRules(skill, folder, wanted, say);
  descriptionRules(skill, wanted, say);
  readingRules(skill, wanted, say);
  placeholderRules(skill, wanted, say);
  return found.sort((a, b) => a.line - b.line);
};
