/**
 * What each agent family is known to refuse, cut or misread in a skill. Where each number comes from stands in
 * docs/decisions/0009-limits-of-agent-families.md; a number nobody could show is left out.
 */
import type { FamilyName } from './edge.ts';

export interface Family {
  readonly name: FamilyName;
  readonly title: string;
  /** Characters of a description beyond which the skill is refused. */
  readonly descriptionRefused?: number;
  /** Characters of a description beyond which it is cut in the listing. */
  readonly descriptionCut?: number;
  /** Characters of a name beyond which the skill is refused. */
  readonly nameRefused?: number;
  /** `[a-z0-9]` with single hyphens between: refused otherwise. */
  readonly strictName: boolean;
  /** The name must be the folder's: refused otherwise. */
  readonly nameIsFolder: boolean;
  /** Fields without which the skill is refused. */
  readonly required: readonly ('frontmatter' | 'name' | 'description')[];
  /** A frontmatter that is no YAML: `refused`, or read by a fallback of its own. */
  readonly brokenYaml?: 'refused';
  /** Characters all names and descriptions may have together in a new session's listing. */
  readonly listingBudget?: number;
  /** It puts words in place of `$ARGUMENTS` and `$1` itself; `first` is the number of the first word. */
  readonly placeholders?: { readonly first: 0 | 1; readonly escape: boolean };
}

export const families: readonly Family[] = [
  {
    name: 'agentskills',
    title: 'the Agent Skills specification',
    descriptionRefused: 1_024,
    nameRefused: 64,
    strictName: true,
    nameIsFolder: true,
    required: ['frontmatter', 'name', 'description'],
    brokenYaml: 'refused',
  },
  {
    name: 'claude',
    title: 'Claude Code',
    descriptionCut: 1_536,
    strictName: false,
    nameIsFolder: false,
    required: [],
    listingBudget: 8_000,
    placeholders: { first: 0, escape: true },
  },
  {
    name: 'codex',
    title: 'Codex',
    descriptionRefused: 1_024,
    nameRefused: 64,
    strictName: false,
    nameIsFolder: false,
    required: ['frontmatter'],
    brokenYaml: 'refused',
    listingBudget: 8_000,
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    strictName: false,
    nameIsFolder: false,
    required: ['frontmatter', 'name', 'description'],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    strictName: false,
    nameIsFolder: false,
    required: ['frontmatter', 'name', 'description'],
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    strictName: false,
    nameIsFolder: false,
    required: ['frontmatter', 'name', 'description'],
  },
];

export const strictName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Characters as people count them: code points. */
export const characters = (text: string): number => {
  let count = text.length;
  for (const [pair] of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) if (pair !== '') count -= 1;
  return count;
};

/** What skills take of a listing at least: names and descriptions, as far as they are shown. */
const listingCost = (
  skills: readonly { readonly name: string; readonly description: string }[],
  family: Family,
): number =>
  skills.reduce(
    (sum, { name, description }) =>
      sum +
      characters(name) +
      Math.min(characters(description), family.descriptionCut ?? Number.POSITIVE_INFINITY),
    0,
  );

export interface OverBudget {
  readonly family: FamilyName;
  readonly title: string;
  readonly cost: number;
  readonly budget: number;
}

/** Families whose listing the skills do not fit into. */
export const overBudget = (
  skills: readonly { readonly name: string; readonly description: string }[],
  wanted: readonly Family[] = families,
): readonly OverBudget[] =>
  wanted.flatMap((family) => {
    const cost = listingCost(skills, family);
    return family.listingBudget === undefined || cost <= family.listingBudget
      ? []
      : [{ family: family.name, title: family.title, cost, budget: family.listingBudget }];
  });
