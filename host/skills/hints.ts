/**
 * What may stand next in a prompt that begins with a skill: names, and behind a name what its `argument-hint` says
 * belongs there. Hints are for people; nothing is checked against them. Pure.
 */
import type { Skill } from './edge.ts';
import { suggestedTexts } from './limits.ts';

type Hinted = Pick<Skill, 'name' | 'argumentHint' | 'arguments'>;

/** `<where> [when]`: what a skill is called with, or nothing. */
export const hintOf = ({ argumentHint, arguments: names }: Hinted): string =>
  argumentHint?.replace(/\s+/g, ' ').trim() ??
  names
    .filter((name) => name !== '')
    .map((name) => `<${name}>`)
    .join(' ');

const token = /<[^>]*>|\[[^\]]*\]|[^\s<[]+/g;

/** The places of a hint, each with the words that may stand there: `[staging|production]` names two. */
const placesOf = (hint: string): readonly (readonly string[])[] =>
  (hint.match(token) ?? []).map((place) => {
    const inner = place.replace(/^[<[]|[>\]]$/g, '');
    const words = inner.split('|').map((word) => word.trim());
    return words.length > 1 && words.every((word) => /^[^\s<>[\]]+$/.test(word)) ? words : [place];
  });

/** Texts `typed` may become, behind a skill's name. A place without fixed words is shown as the hint has it. */
export const argumentSuggestions = (skill: Hinted, typed: string): readonly string[] => {
  const [, before = '', word = ''] = /^(.*?)(\S*)$/s.exec(typed) ?? [];
  const words = placesOf(hintOf(skill))[before.split(/\s+/).filter((one) => one !== '').length] ?? [];
  return words
    .filter((one) => word === '' || one.startsWith(word))
    .map((one) => before + one)
    .slice(0, suggestedTexts);
};

/** Names that begin as `typed` does, with or without the slash. */
export const nameSuggestions = <T extends Hinted>(skills: readonly T[], typed: string): readonly T[] => {
  const start = typed.replace(/^\//, '').normalize('NFC').toLowerCase();
  return skills.filter(({ name }) => name.toLowerCase().startsWith(start)).slice(0, suggestedTexts);
};
