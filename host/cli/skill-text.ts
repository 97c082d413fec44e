/** How skills, where they come from and what was found about them are shown. */
import { relative } from 'node:path';
import type { PlacedSkill } from '../context/index.ts';
import type { RemoteServer } from '../mcp/index.ts';
import type { Finding, Look, Skill, SkillOrigin } from '../skills/index.ts';

const listedUnits = 120;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
/** Text of others, without what would drive a terminal. */
export const safe = (text: string): string => text.replace(control, '');
export const oneLine = (text: string): string => safe(text.replace(/[\r\n\t]+/g, ' ')).trimEnd();
/** A description in one line of a listing, cut where one can see that it was. */
export const lineOf = (description: string): string => {
  const whole = oneLine(description);
  return whole.length <= listedUnits ? whole : `${whole.slice(0, listedUnits - 1).trimEnd()}…`;
};

const originText = (origin: SkillOrigin): string =>
  origin.tier === 'bundle'
    ? `bundle ${origin.bundle}`
    : origin.tier === 'project'
      ? `project ${origin.base}`
      : origin.tier;

/** A skill as the JSON form shows it: everything but the body. */
export const skillJson = ({ document: _document, files: _files, ...listed }: Skill): unknown => listed;

export const lookJson = ({ skills, shadowed, collisions, problems, roots }: Look) => ({
  skills: skills.map(skillJson),
  shadowed: shadowed.map(({ skill, by, reason }) => ({ skill: skillJson(skill), by: by.path, reason })),
  collisions: collisions.map(({ name, winner, losers, reason }) => ({
    name,
    winner: winner.path,
    losers: losers.map(({ path }) => path),
    reason,
  })),
  problems,
  roots,
});

export const lookText = ({ skills, shadowed, collisions, problems, roots }: Look): string => {
  // As it would be typed: the hint says what belongs behind the name.
  const typed = ({ name, argumentHint }: Skill): string =>
    argumentHint === undefined ? name : oneLine(`${name} ${argumentHint}`).slice(0, 60);
  const width = Math.max(0, ...skills.map((skill) => typed(skill).length));
  const linked = roots.flatMap(({ path, via }) =>
    via === undefined ? [] : [`${path} is read through the link ${via.link} → ${via.target}`],
  );
  return [
    ...skills.map(
      (skill) => `${typed(skill).padEnd(width)}  [${originText(skill.origin)}]  ${lineOf(skill.description)}`,
    ),
    ...(skills.length === 0 ? ['no skills'] : []),
    ...shadowed.map(({ skill, reason }) => `shadowed: ${skill.name} in ${skill.path}: ${reason}`),
    ...collisions.flatMap(({ name, losers, reason }) =>
      losers.map(({ path }) => `collision: ${name} in ${path} is not used: ${reason}`),
    ),
    ...problems.map(({ path, problem }) => {
      const seen = problem.evidence === undefined ? '' : ` (${problem.evidence})`;
      return `not listed: ${path}: ${problem.message}${seen}`;
    }),
    ...linked,
  ]
    .map(oneLine)
    .join('\n');
};

/** Skills of other servers under their addresses, which no local name can be; `skills update` says more. */
export const remoteText = (servers: readonly RemoteServer[]): readonly string[] =>
  servers
    .flatMap(({ label, url, skills, problem }) => [
      ...skills.map(({ address, state, description, digest, problem: why }) => {
        const seen = why === undefined ? '' : `  (${why.message})`;
        const mark = digest === '' ? '' : ` ${digest.slice(0, 12)}`;
        return `${address}  [mcp ${label}: ${state}${mark}]  ${lineOf(description)}${seen}`;
      }),
      ...(problem === undefined ? [] : [`not listed: ${label} ${url}: ${problem.message}`]),
    ])
    .map(oneLine);

export const showText = (
  skill: Skill,
  files: readonly { readonly path: string; readonly size: number }[],
): string =>
  [
    `${skill.name}${skill.argumentHint === undefined ? '' : ` ${skill.argumentHint}`}`,
    skill.description,
    '',
    `source:  ${originText(skill.origin)}`,
    `path:    ${skill.path}`,
    ...(skill.via === undefined ? [] : [`link:    ${skill.via.link} → ${skill.via.target}`]),
    `sha256:  ${skill.digest}`,
    ...(skill.allowedTools.length === 0
      ? []
      : [`allowed-tools (not enforced): ${skill.allowedTools.join(' ')}`]),
    ...(skill.model === undefined ? [] : [`model (not enforced): ${skill.model}`]),
    ...files.map(({ path, size }) => `file:    ${path} (${size} bytes)`),
    ...skill.diagnostics.map(({ line, message }) => `line ${line}: ${message}`),
  ]
    .map((line) => (line === '' ? '' : oneLine(line)))
    .join('\n');

export const placedText = ({ sink, name, bundle, problems, added }: PlacedSkill): string => {
  const from = bundle === null ? '' : ` [bundle ${bundle}]`;
  const state = problems.length === 0 ? 'whole' : 'differs';
  return [
    `${name ?? sink}  ${sink}${from}  ${state}`,
    ...problems.map(({ message, subject = '' }) => `  ${subject}: ${message}`),
    ...added.map((path) => `  ${path}: added by someone`),
  ]
    .map(oneLine)
    .join('\n');
};

export const findingText = ({ file, line, level, rule, message }: Finding): string =>
  oneLine(`${relative(process.cwd(), file) || file}:${line}: ${level} ${rule}: ${message}`);
