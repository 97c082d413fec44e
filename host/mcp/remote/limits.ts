/** Every bound of skills that come from other servers. 512 files and 16 MiB a skill are those of the skills room. */
const KiB = 1024;
const MiB = 1024 * KiB;

/** Servers that can be added. */
export const mostServers = 64;
/** Skills kept of one server's listing. */
export const mostSkills = 4_096;
/** Reasons kept for entries that are no skills. */
export const mostLeftOut = 100;
/** Pages of one listing. */
export const mostPages = 256;
/** Bytes of a file's answer: a file of 16 MiB in base64, or as JSON text where every second character is escaped. */
export const answerBytes = 40 * MiB;
/** Bytes of any other answer: checking the entries of one page must not hold up everybody else. */
export const pageBytes = 4 * MiB;
/** Bytes of all answers to one listing. */
export const listingBytes = 16 * MiB;
/** Characters of an entry's frontmatter as JSON: that of its SKILL.md, which must be the same, has 32 KiB at most. */
export const frontmatterCharacters = 128 * KiB;
/** From dialling to a server that has said what it can do, ms. */
export const connectMs = 10_000;
/** One request, ms. */
export const requestMs = 20_000;
/** All of one listing, ms. */
export const listMs = 30_000;
/** Everything a new session waits for, ms. */
export const retrieveMs = 20_000;
/** Skills retrieved at one time. */
export const atOnce = 4;
/** Characters of a label, a URL, a name placed in a workspace, a description placed there. */
export const labelCharacters = 24;
export const urlCharacters = 2_048;
export const nameCharacters = 64;
export const descriptionCharacters = 1_024;
