/** Every bound of this room. */
import type { SkillLimits } from './edge.ts';

/** 512 files and 16 MiB are the limits of the skills extension of MCP; one file may use all of them. */
export const skillLimits: SkillLimits = {
  files: 512,
  totalBytes: 16 * 1024 * 1024,
  fileBytes: 16 * 1024 * 1024,
  documentBytes: 1024 * 1024,
  depth: 16,
};

/** Bytes between the two `---` lines. */
export const frontmatterBytes = 32 * 1024;
/**
 * Marks of structure in one field before `yaml` is no longer asked: it takes 0.3 s for 16 KiB of brackets, and its
 * conversion of complex keys (`? ? ?`) doubles with each one, which is why no value is ever converted as a whole.
 */
export const fieldMarks = 400;
export const frontmatterKeys = 256;
/** Marks of structure in a whole frontmatter that is read strictly: finding equal keys is quadratic. */
export const strictMarks = 2_000;
/** Folders visited while looking for skills at any depth. */
export const visitedFolders = 20_000;
/** Arguments that can have a name. */
export const namedArguments = 64;
/** Skill folders read from one folder of skills. */
export const skillsPerRoot = 4_096;
/** Entries counted in one skill before counting ends. */
export const countedEntries = 20_000;
/** Folders of skills kept in memory. */
export const rememberedRoots = 256;
/** Texts suggested at one time; MCP allows as many. */
export const suggestedTexts = 100;
/** Characters of a description in the catalogue. */
export const catalogueCharacters = 250;
