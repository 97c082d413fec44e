/** Commands as a person would type them here: with the `--home` they gave, so that a hint can be pasted. */

/** Commands that look at a home; of the others a home is nobody's concern. */
const ofHome =
  /^(init|up|down|status|session|policy|bundle (install|grant|revoke|list|verify|retry|uninstall)|mcp|skills (add|update|approve|remove|list|show))\b(?!.*--(help|home))/;

const quoted = (word: string): string =>
  /^[\w./~:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** `given`: what stood after `--home`, if anything did. */
export const typed = (command: string, given: string | undefined): string =>
  given === undefined || !ofHome.test(command)
    ? `jupiter ${command}`
    : `jupiter ${command} --home ${quoted(given)}`;

/** Every command a text names between back-quotes. */
export const withHome = (text: string, given: string | undefined): string =>
  text.replace(/`jupiter ([^`]+)`/g, (_whole, command: string) => `\`${typed(command, given)}\``);
