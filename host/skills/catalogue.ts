/**
 * Skills as lines of a prompt: `- name — description`.
 */
import { catalogueCharacters } from './limits.ts';

/** The first `most` code points of a text. */
const cut = (text: string, most: number): string => {
  // No text holds more code points than UTF-16 units.
  if (text.length <= most) return text;
  let units = 0;
  let points = 0;
  for (const char of text) {
    if (points === most) return text.slice(0, units);
    points += 1;
    units += char.length;
  }
  return text;
};

/** One line a skill; none without skills, so that whoever writes a heading can leave it out. */
export const catalogueLines = (
  skills: readonly { readonly name: string; readonly description: string }[],
): readonly string[] =>
  skills.map(({ name, description }) => {
    const line = cut(description.replace(/\s+/g, ' ').trim(), catalogueCharacters);
    return line === '' ? `- ${name}` : `- ${name} — ${line}`;
  });
