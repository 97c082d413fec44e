/** Every bound of what is published over MCP. */

/** Bytes of a request's body. */
export const bodyBytes = 1024 * 1024;
/** Objects and lists inside each other in a request. */
export const bodyDepth = 64;
/** Entries on one page of a list. */
export const pageEntries = 100;
/** Bytes of one page of skills; a page holds one entry at least. */
export const pageBytes = 1024 * 1024;
/** Length of a cursor or URI that is looked at. */
export const uriCharacters = 4_096;
/** How long a look at the sources counts as now, ms; longer where looking itself takes long. */
export const freshMs = 250;
/** A look takes at most one part in so many of the time. */
export const lookShare = 10;
/** How often the sources are looked at while somebody listens for changes and nobody asks, ms. */
export const listenMs = 1_000;
/** Streams that listen for changes at one time. */
export const listeners = 64;
/** Serialised answers kept in memory, bytes; one answer may take at most a sixteenth. */
export const keptBytes = 16 * 1024 * 1024;
/** Agent Skills: characters of a name, a description, a compatibility note. */
export const nameCharacters = 64;
export const descriptionCharacters = 1_024;
export const compatibilityCharacters = 500;
