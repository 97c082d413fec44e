/**
 * The shape of `policy.jsonc`, once: reading, the JSON Schema for editors and the reference page come from here.
 * Unknown keys are refused everywhere, every list and name has a bound, and no entry holds a secret: variables are
 * named, never quoted. The `error` of a rule says what was expected, as the problem repeats it.
 */
import { z } from 'zod';
import { type LimitName, limitNames, limitTable } from './limits.ts';
import { mcpEntry, mcpEntryKeys, mcpServerName } from './mcp-entry.ts';
import {
  absolute,
  absoluteFolder,
  agentId,
  alias,
  bareUrl,
  bundleId,
  list,
  pathCharacters,
  provider,
  publicKey,
  rule,
  serverAlias,
  table,
  text,
  variable,
} from './parts.ts';
import { permissions } from './permissions.ts';

const agent = z
  .strictObject({
    program: alias.describe('The program that is started for it: an alias under `programs`.'),
    provider: provider
      .optional()
      .describe('The component that opens it, `bundle:component`. Default `bearpunch.adapter:adapter`.'),
    approve: z
      .enum(['manual', 'auto', 'workspace'])
      .optional()
      .describe('How its permission requests are answered. Default `manual`: a person answers.'),
    host: z
      .strictObject({
        files: z
          .enum(['read', 'write'])
          .optional()
          .describe(
            'Text files of its workspace: `read`, or `write` (and read), but below `.git` and `.jupiter`. Absent: none.',
          ),
        terminals: z
          .boolean()
          .optional()
          .describe('Commands it has the station run, in its workspace. Default `false`.'),
      })
      .optional()
      .describe('What it may ask of the station beside its own tools. Absent: nothing.'),
  })
  .describe('An agent: what a session asks for and what `consumers` name.');

const program = z
  .strictObject({
    command: text(pathCharacters)
      .min(1, { error: 'a command' })
      .describe('The executable: a name looked up in PATH, or an absolute path.'),
    args: list(text(8_192)).optional().describe('Arguments, as they are; no shell reads them.'),
    inherit: list(variable)
      .optional()
      .describe('NAMES of environment variables the process inherits. Nothing else is inherited.'),
    trust: z
      .literal('full')
      .optional()
      .describe('`full`: the operator vouches for what it does outside the sandbox. Absent: not trusted.'),
  })
  .describe('A program: an alias for an executable.');

const origin = z
  .strictObject({
    url: text(pathCharacters)
      .regex(/^https?:\/\//i, { error: 'an http or https URL' })
      .refine(bareUrl, { error: 'an http or https URL without user, password and fragment' })
      .describe('The base URL, http or https, without credentials.'),
    bearer: variable.optional().describe('The NAME of the variable that holds the bearer token.'),
  })
  .describe('An origin: an alias for an HTTP base URL.');

const server = z
  .strictObject({
    transport: z
      .discriminatedUnion(
        'type',
        [
          z.strictObject({
            type: z.literal('stdio'),
            program: alias.describe('An alias under `programs`.'),
          }),
          z.strictObject({ type: z.literal('http'), origin: alias.describe('An alias under `origins`.') }),
          z.strictObject({ type: z.literal('station') }),
        ],
        { error: '"stdio" with a program, "http" with an origin, or "station"' },
      )
      .describe(
        '`{"type": "stdio", "program": …}`, `{"type": "http", "origin": …}`, or `{"type": "station"}`: the ' +
          "station's own server with the tool `Skill`, always through the gateway.",
      ),
    consumers: z
      .strictObject({ sessions: list(agentId).describe('Agent IDs whose sessions get it.') })
      .describe('Who gets it. Nobody else does.'),
    exposure: z
      .enum(['direct', 'gateway'])
      .describe("`direct`: the agent's own MCP client connects. `gateway`: through the station."),
    tools: list(text(200).min(1, { error: 'the name of a tool' }))
      .optional()
      .describe("Tools that may be offered, by the server's own names. Absent: all of them."),
    elicitation: z
      .enum(['queue', 'agent'])
      .optional()
      .describe(
        'Who is asked what the server asks of a person: the queue of the session (default), or the agent if it can.',
      ),
  })
  .refine(({ transport, exposure }) => transport.type !== 'station' || exposure === 'gateway', {
    path: ['exposure'],
    error: '"gateway": what the station serves itself is reached through it',
  })
  .describe('An MCP server: an alias for what an agent may be given.');

const mcpChannel = z
  .strictObject({
    skills: z
      .union(
        [
          z.literal('none'),
          list(
            z.union([
              z.literal('bundles'),
              text(pathCharacters).regex(absolute, { error: '"bundles" or an absolute folder' }),
            ]),
          ),
        ],
        { error: '"none", or a list of "bundles" and absolute folders' },
      )
      .describe('What is published: `"bundles"`, absolute folders of skills, or `"none"`.'),
    frontmatter: z
      .enum(['complete', 'authored'])
      .optional()
      .describe(
        'A SKILL.md without its name and description: `complete` (default) serves it with them, `authored` leaves the skill out.',
      ),
    tokens: z
      .union(
        [z.literal('none'), list(variable).min(1, { error: 'the NAME of at least one variable, or "none"' })],
        { error: 'NAMES of variables that hold tokens, or "none"' },
      )
      .describe(
        'NAMES of variables, each holding a bearer token that is let in; `"none"`: whoever reaches the port.',
      ),
  })
  .describe('What the station publishes over MCP at `/v1/mcp`.');

const channel = z
  .strictObject({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('The port on this machine. Absent: nothing listens unless `jupiter up --port` says so.'),
    mcp: mcpChannel.optional(),
  })
  .describe('What the station serves over HTTP, on the loopback interface only.');

const limit = (name: LimitName): z.ZodOptional<z.ZodInt> => {
  const { usual, least, most, means } = limitTable[name];
  const error = `a whole number from ${least} to ${most}`;
  return z
    .int({ error })
    .min(least, { error })
    .max(most, { error })
    .optional()
    .describe(`${means} ${least} to ${most}; default ${usual}.`);
};
const limits = z
  .strictObject(
    Object.fromEntries(limitNames.map((name) => [name, limit(name)])) as Record<
      LimitName,
      ReturnType<typeof limit>
    >,
  )
  .describe(
    'What is not set has its default. A change takes effect with a fresh instance at the next command.',
  );
const signature = z
  .strictObject({
    prefix: bundleId.describe('A bundle ID: it, and every ID that goes on after it with a dot.'),
    key: alias.describe('The key that must have signed: a name under `keys`.'),
  })
  .describe('A signature that is required.');

export const policyShape = z
  .strictObject({
    $schema: text(pathCharacters).optional().describe('The JSON Schema an editor checks this file with.'),
    grants: table(bundleId, list(z.enum(permissions))).describe(
      'Permissions of each bundle. A bundle that is not named has none.',
    ),
    limits: table(bundleId, limits).describe('What the components of a bundle may use.'),
    agents: table(agentId, agent).describe('Agents a session can be created for.'),
    programs: table(alias, program).describe('Executables agents and servers refer to.'),
    origins: table(alias, origin).describe('HTTP endpoints servers refer to.'),
    servers: table(serverAlias, server).describe('MCP servers and who gets them.'),
    mcpServers: table(mcpServerName, mcpEntry).describe(
      'MCP servers in the form of other hosts. The agents of all sessions reach them, through the gateway.',
    ),
    disabledMcpServers: list(mcpServerName)
      .optional()
      .describe('Names of servers that are not dialled, of whichever source.'),
    trustedProjects: list(absoluteFolder)
      .optional()
      .describe('Folders whose `.jupiter/settings.jsonc` may name servers to start. No others are started.'),
    permissions: z
      .strictObject({
        allow: list(rule).optional(),
        ask: list(rule).optional(),
        deny: list(rule).optional(),
      })
      .optional()
      .describe(
        'What the gate does with a call: `deny` is looked at first, then `ask`, then `allow`; what no rule names asks. ' +
          'A rule is `mcp__server`, `mcp__server__tool`, `Skill` or `Skill(name)`.',
      ),
    channel: channel.optional(),
    keys: table(alias, publicKey).describe('Public keys of people whose bundles are installed, by name.'),
    signatures: list(signature)
      .optional()
      .describe(
        'Bundles that must be signed, and by which key. The longest prefix that covers an ID decides; if it is ' +
          'there more than once, any of its keys will do. A bundle no prefix covers needs no signature.',
      ),
  })
  .describe('What the operator of a Jupiter Station allows. What is not written here is not allowed.');

export type PolicyFile = z.output<typeof policyShape>;

/** Keys of one entry of each section, for the paths of `policy set`. */
export const entryKeys: Readonly<Record<string, readonly string[]>> = {
  grants: [],
  limits: limitNames,
  agents: Object.keys(agent.shape),
  programs: Object.keys(program.shape),
  origins: Object.keys(origin.shape),
  servers: Object.keys(server.shape),
  mcpServers: mcpEntryKeys,
  disabledMcpServers: [],
  trustedProjects: [],
  permissions: ['allow', 'ask', 'deny'],
  channel: Object.keys(channel.shape),
  keys: [],
  signatures: Object.keys(signature.shape),
};

/** JSON Schema 2020-12 of `policy.jsonc`, for editors. */
export const policySchema = (): Readonly<Record<string, unknown>> => ({
  title: 'Jupiter Station policy',
  ...z.toJSONSchema(policyShape, { target: 'draft-2020-12', io: 'input' }),
});
