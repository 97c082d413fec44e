/**
 * Skills: the one SKILL.md parser, the library of every place skills come from, expansion into a prompt, the
 * catalogue, and the lint. Knows no MCP and no station.
 */
export { catalogueLines } from './catalogue.ts';
export type {
  Collision,
  Diagnostic,
  FamilyName,
  Finding,
  LibraryOptions,
  Look,
  ParsedSkill,
  ParseSkill,
  ReadOptions,
  ReadSkillFolder,
  Shadowed,
  Skill,
  SkillFile,
  SkillFolder,
  SkillLibrary,
  SkillLimits,
  SkillOrigin,
  SkillRoot,
  SkillSource,
} from './edge.ts';
export { type Renderable, renderSkill } from './expand.ts';
export { families, type OverBudget, overBudget } from './families.ts';
export { digestOfFiles, readSkillFolder } from './folder.ts';
export { type JsonValue, strictFrontmatter, withNameAndDescription } from './frontmatter.ts';
export { argumentSuggestions, hintOf, nameSuggestions } from './hints.ts';
export { openSkillLibrary } from './library.ts';
export { skillLimits } from './limits.ts';
export { type LintReport, lintSkills } from './lint.ts';
export { bundled as bundledSkill } from './listed.ts';
export { parseSkill } from './parse.ts';
export { type FoundFolders, skillFoldersBelow, watchSkillFolder } from './tree.ts';
