/**
 * One name, one skill. Pure: the nearest folder wins and the others are shadowed; in one folder the skill whose
 * folder is called like it wins, then the first in byte order, and that is a collision. Names that differ only in
 * what some file system ignores (case, width) are one name; all others stay apart.
 */
import { basename } from 'node:path';
import { collisionKey } from '../paths/index.ts';
import type { Collision, Shadowed, Skill, SkillOrigin } from './edge.ts';

const tierWords = (origin: SkillOrigin): string =>
  origin.tier === 'person'
    ? "the person's folder"
    : origin.tier === 'project'
      ? `the project's folder in ${origin.base}`
      : origin.tier === 'bundle'
        ? `the bundle ${origin.bundle}`
        : 'what the product ships';

/** Skills of one group collide; groups shadow each other. All bundles are one. */
const groupOf = (origin: SkillOrigin): string =>
  origin.tier === 'project' ? `project ${origin.base}` : origin.tier;

const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const placeOf = (skill: Skill): string =>
  skill.origin.tier === 'bundle' ? skill.origin.bundle : basename(skill.path.replace(/[\\/]SKILL\.md$/, ''));

const isCalledSo = (skill: Skill): boolean => placeOf(skill).normalize('NFC') === skill.name;

const ofOneGroup = (a: Skill, b: Skill): number =>
  Number(isCalledSo(b)) - Number(isCalledSo(a)) || bytes(placeOf(a), placeOf(b)) || bytes(a.path, b.path);

const collisionReason = (winner: Skill, loser: Skill): string => {
  const alike = winner.name === loser.name ? '' : ' (the names differ only in what some systems ignore)';
  if (winner.origin.tier === 'bundle') {
    return `${placeOf(winner)} comes first in the byte order of bundle IDs${alike}`;
  }
  return isCalledSo(winner)
    ? `the folder ${placeOf(winner)} is called like the skill${alike}`
    : `the folder ${placeOf(winner)} comes first in byte order${alike}`;
};

export interface Winners {
  readonly skills: readonly Skill[];
  readonly shadowed: readonly Shadowed[];
  readonly collisions: readonly Collision[];
}

/** `found` holds the skills by group, the nearest group first. */
export const winnersOf = (found: readonly Skill[]): Winners => {
  const byName = new Map<string, Skill[]>();
  for (const skill of found) {
    const key = collisionKey(skill.name);
    const same = byName.get(key);
    if (same === undefined) byName.set(key, [skill]);
    else same.push(skill);
  }
  const skills: Skill[] = [];
  const shadowed: Shadowed[] = [];
  const collisions: Collision[] = [];
  for (const candidates of byName.values()) {
    const groups = new Map<string, Skill[]>();
    for (const skill of candidates) {
      const group = groupOf(skill.origin);
      groups.set(group, [...(groups.get(group) ?? []), skill]);
    }
    let winner: Skill | undefined;
    for (const group of groups.values()) {
      const [first, ...losers] = group.sort(ofOneGroup);
      if (first === undefined) continue;
      const [second] = losers;
      if (second !== undefined) {
        collisions.push({ name: first.name, winner: first, losers, reason: collisionReason(first, second) });
      }
      if (winner === undefined) winner = first;
      else {
        const reason = `${tierWords(winner.origin)} comes before ${tierWords(first.origin)}`;
        shadowed.push({ skill: first, by: winner, reason });
      }
    }
    if (winner !== undefined) skills.push(winner);
  }
  return { skills: skills.sort((a, b) => bytes(a.name, b.name)), shadowed, collisions };
};
