/** What the sections of `policy.jsonc` are made of: names, texts, lists and tables, each with its bound. */
import { z } from 'zod';

/** Names an operator gives: agents, programs and origins. */
const aliasPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Names of MCP servers become part of tool names in agents, so they are narrower. */
const serverPattern = /^[a-z0-9-]+$/;
const bundlePattern = /^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*$/;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const providerPattern = /^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*:[a-z0-9][a-z0-9-]*$/;
/** Most entries of a table, and of a list. */
const entries = 1_000;
const items = 256;

const name = (pattern: RegExp, longest: number, error: string): z.ZodString =>
  z
    .string()
    .regex(pattern, { error })
    .max(longest, { error: `at most ${longest} characters` });

export const alias = name(aliasPattern, 64, 'a name of letters, digits, ".", "_" and "-"');
export const agentId = name(aliasPattern, 200, 'an agent ID of letters, digits, ".", "_" and "-"');
export const serverAlias = name(serverPattern, 64, 'a name of a-z, 0-9 and "-"');
export const bundleId = name(bundlePattern, 200, 'a bundle ID such as "example.tools"');
export const variable = name(
  variablePattern,
  200,
  'the NAME of an environment variable (letters, digits and "_")',
);

export const provider = name(providerPattern, 300, 'a component such as "bearpunch.adapter:adapter"');

// A NUL byte ends a string for the operating system; it is never meant.
export const text = (longest: number): z.ZodString =>
  z
    .string()
    .max(longest, { error: `at most ${longest} characters` })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the NUL character is what is refused
    .regex(/^[^\u0000]*$/, { error: 'a text without NUL characters' });

/** 32 bytes in base64. */
export const publicKey = z.string().regex(/^ed25519:[A-Za-z0-9+/]{43}=$/, {
  error: 'a key as `jupiter bundle keygen` prints it, "ed25519:…"',
});

/** Longest path or address. */
export const pathCharacters = 4_096;
/** A path that begins at the root, of POSIX or of Windows. */
export const absolute = /^(?:\/|[A-Za-z]:[\\/])/;
export const absoluteFolder = text(pathCharacters).regex(absolute, { error: 'an absolute folder' });

/** What the gate decides by: a server, one of its tools, every skill or one skill. */
export const rule = text(400).regex(/^(?:mcp__[^*]+|Skill|Skill\([^()*]+\))$/, {
  error: '"mcp__server", "mcp__server__tool", "Skill" or "Skill(name)", without wildcards',
});

export const list = <T extends z.ZodType>(item: T): z.ZodArray<T> =>
  z.array(item).max(items, { error: `at most ${items} entries` });

export const bareUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    !value.includes('#')
  );
};

export const table = <K extends z.ZodString, V extends z.ZodType>(
  key: K,
  value: V,
): z.ZodOptional<z.ZodRecord<K, V>> =>
  z
    .record(key, value)
    .refine((found) => Object.keys(found).length <= entries, { error: `at most ${entries} entries` })
    .optional();
