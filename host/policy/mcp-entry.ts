/**
 * One entry of an `mcpServers` block, the form other hosts have for MCP servers: a command with its arguments,
 * environment and folder, or `"type": "http"` with a URL and headers. Any text may hold `${VAR}`; the variable is read
 * when the server is dialled and must be set. Used for policy, a project's settings and a file given for one session.
 */
import { type core, z } from 'zod';
import { text as plainText } from './parts.ts';

/** Names under `env`, and those that `${…}` refers to. */
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
const headerName = /^[!#$%&'*+.^_`|~A-Za-z0-9-]+$/;
/** Most arguments, variables or headers of one entry. */
const entries = 256;

/** Where a text refers to variables; anything else behind `${` is a fault, never a literal. */
export const references = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const isReadable = (value: string): boolean => !value.replaceAll(references, '').includes('${');

/** A text that may hold references. */
const text = (longest: number): z.ZodString =>
  plainText(longest)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
    .refine(isReadable, { error: '"${NAME}" with nothing but the name of a variable in it' }) as z.ZodString;

/** As people name servers; what agents see is made of it (`mcp__<server>__<tool>`). */
export const mcpServerName = z
  .string()
  .min(1, { error: 'a name' })
  .max(100, { error: 'at most 100 characters' })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^\u0000-\u001f\u007f*]+$/, { error: 'a name without control characters and "*"' });

const table = (key: RegExp, error: string) =>
  z
    .record(z.string().regex(key, { error }).max(200, { error: 'at most 200 characters' }), text(16_384))
    .refine((found) => Object.keys(found).length <= entries, { error: `at most ${entries} entries` });

const isHttp = (value: string): boolean => {
  const url = URL.parse(value.replaceAll(references, 'x'));
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

const stdio = z
  .strictObject({
    type: z.literal('stdio').optional(),
    command: text(4_096).min(1, { error: 'a command' }).describe('The executable.'),
    args: z
      .array(text(8_192))
      .max(entries, { error: `at most ${entries} entries` })
      .optional()
      .describe('Arguments, as they are; no shell reads them.'),
    env: table(variable, 'the name of an environment variable')
      .optional()
      .describe('Its environment, beside the few variables every program has.'),
    cwd: text(4_096).min(1, { error: 'a folder' }).optional().describe('The folder it is started in.'),
  })
  .describe('A server that is started, and spoken to over its standard input and output.');

const http = z
  .strictObject({
    type: z.literal('http'),
    url: text(4_096).refine(isHttp, { error: 'an http or https URL without user and password' }),
    headers: table(headerName, 'the name of a header')
      .optional()
      .describe('Sent with every request. They never reach an agent.'),
  })
  .describe('A server that is reached over HTTP.');

export const mcpEntry = z.union([http, stdio], {
  error: '"command" with "args", "env" and "cwd", or "type": "http" with "url" and "headers"',
});

/** Which of the two an entry means to be, so that what is wrong with it can be said of that one. */
const meantBy = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  ('url' in value || ('type' in value && value.type === 'http'))
    ? http
    : stdio;

/** What is wrong with an entry; nothing where it can be used. */
export const mcpEntryFaults = (value: unknown): readonly core.$ZodIssue[] => {
  const parsed = meantBy(value).safeParse(value);
  return parsed.success ? [] : parsed.error.issues;
};

export const mcpEntryKeys: readonly string[] = [
  ...new Set([...Object.keys(stdio.shape), ...Object.keys(http.shape)]),
];

export type McpEntry =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** An entry that was checked, with what it leaves out. */
export const mcpEntryFrom = (entry: z.output<typeof mcpEntry>): McpEntry =>
  entry.type === 'http'
    ? { type: 'http', url: entry.url, headers: entry.headers ?? {} }
    : {
        type: 'stdio',
        command: entry.command,
        args: entry.args ?? [],
        env: entry.env ?? {},
        ...(entry.cwd === undefined ? {} : { cwd: entry.cwd }),
      };
