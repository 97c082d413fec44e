/**
 * Whether all skills an agent finds in its folder fit into the list it shows its model. They are placed either way; when
 * they do not fit, the ledger says so with the sum, once for each set of skills.
 */
import { type Problem, problem } from '../problems/index.ts';
import type { FamilyName, SkillSource } from '../skills/index.ts';

/** Families by the folder they read, as far as their budget is known. */
const readers: Readonly<Record<string, FamilyName>> = {
  '.claude/skills': 'claude',
  '.agents/skills': 'codex',
};
/** Descriptions remembered; bytes of a revision never change. */
const remembered = 10_000;

export interface ListingWatch {
  readonly placed: (sink: string, skills: readonly SkillSource[]) => Promise<void>;
}

export const openListingWatch = (tell: (subject: string, why: Problem) => void): ListingWatch => {
  const descriptions = new Map<string, string>();
  const told = new Map<string, string>();
  return {
    placed: async (sink, skills) => {
      const reader = readers[sink];
      const key = skills.map(({ bundle, revision, name }) => `${bundle} ${revision} ${name}`).join('\n');
      if (reader === undefined || told.get(sink) === key) return;
      told.set(sink, key);
      const { bundledSkill, families, overBudget } = await import('../skills/index.ts');
      if (descriptions.size > remembered) descriptions.clear();
      const shown = skills.map((source) => {
        const place = `${source.folder}\0${source.revision}`;
        const known = descriptions.get(place);
        const read = known === undefined ? bundledSkill(source) : undefined;
        const description = known ?? (read?.ok === true ? read.value.description : '');
        descriptions.set(place, description);
        return { name: source.name, description };
      });
      const wanted = families.filter(({ name }) => name === reader);
      for (const { title, cost, budget } of overBudget(shown, wanted)) {
        const evidence = `${skills.length} skills take at least ${cost} characters; ${title} has ${budget}`;
        tell(sink, problem('context/listing-budget', { subject: sink, evidence }));
      }
    },
  };
};
