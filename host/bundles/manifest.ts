/**
 * `bundle.json`: bytes in, a manifest or everything that is wrong with it out. A manifest is read only if every
 * reader reads it alike: UTF-8 without a byte order mark, no repeated key, no unknown key, every list and text
 * bounded. Lists an author leaves out are empty; `content` is written by `packBundle`.
 */
import { z } from 'zod';
import { segmentFault } from '../paths/index.ts';
import { permissions } from '../policy/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';
import type { Manifest } from './edge.ts';
import { faultText } from './faults.ts';
import { manifestFaults } from './rules.ts';

const idPattern = /^[a-z0-9]+([.-][a-z0-9]+)*$/;
const idText = 'must be lower-case letters and digits, with single dots or hyphens between them';
const id = (longest: number) => z.string().min(1).max(longest).regex(idPattern, idText);

// A bundle's ID becomes a folder name, on Windows too.
const bundleId = id(100).refine(
  (value) => segmentFault(value) === undefined && value !== 'station',
  'must not be a reserved name',
);
const topicId = id(128);
const version = z
  .string()
  .max(64)
  .regex(
    /^(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
    'must be a version like 1.2.3',
  );

const listOf = <T extends z.ZodType<string>>(item: T, most: number) =>
  z
    .array(item)
    .max(most)
    .refine((list) => new Set(list).size === list.length, 'must not name anything twice')
    .default([]);
const topicIds = listOf(topicId, bundleBounds.topicList);

const content = z.strictObject({
  path: z.string().min(1).max(1_024).describe('Relative, "/" between segments.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
    .describe('Of its bytes, hexadecimal.'),
  size: z.number().int().min(0).max(bundleBounds.fileBytes).describe('Bytes.'),
});
const component = z.strictObject({
  id: id(64).describe('Its name in the bundle; others call it `bundle:id`.'),
  driver: z.literal('wasm').describe('What runs it.'),
  entry: z
    .string()
    .min(1)
    .max(1_024)
    .describe('The content path of its WebAssembly; `component build` makes it of the `.ts` beside.'),
  permissions: listOf(z.enum(permissions as [string, ...string[]]), 32).describe(
    'What it asks for; `jupiter bundle grant ID` lets it have that.',
  ),
  handles: topicIds.describe('Commands it answers.'),
  subscribes: topicIds.describe('Events it wants to be told.'),
  publishes: topicIds.describe('Topics it sends.'),
});
const schema = z.record(z.string(), z.unknown());
const topic = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      id: topicId.describe('What it is called on the bus; it stands for this shape for ever.'),
      kind: z.literal('command').describe('Answered by one component.'),
      shape: z.strictObject({ request: schema, reply: schema }).describe('A JSON Schema 2020-12 of each.'),
    }),
    z.strictObject({
      id: topicId.describe('What it is called on the bus; it stands for this shape for ever.'),
      kind: z.literal('event').describe('Told to every component that subscribes.'),
      shape: z.strictObject({ event: schema }).describe('A JSON Schema 2020-12 of it.'),
    }),
  ],
  { error: 'must be "command" or "event"' },
);
const tool = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ and -')
    .describe('What agents see.'),
  description: z.string().min(1).max(2_000).describe('What agents read before they call it.'),
  topic: topicId.describe('The command it sends; a component of this bundle handles it.'),
  approval: z.enum(['none', 'ask']).describe('Whether a person is asked before each call.'),
});

export const manifestSchema = z.strictObject({
  manifest: z.literal(2).describe('The version of this format.'),
  id: bundleId.describe('What the bundle is called wherever it is named.'),
  version: version.describe('The author’s; the station goes by the digest of the bundle.'),
  content: z
    .array(content)
    .max(bundleBounds.files)
    .describe('Every file of the bundle. Written by `jupiter bundle pack`: leave it out.'),
  components: z
    .array(component)
    .max(bundleBounds.components)
    .default([])
    .describe('WebAssembly that runs in the sandbox.'),
  topics: z.array(topic).max(bundleBounds.topics).default([]).describe('Topics this bundle declares.'),
  tools: z.array(tool).max(bundleBounds.tools).default([]).describe('Tools for agents.'),
});

/** JSON Schema 2020-12 of `bundle.json` as its author writes it, for editors. */
export const bundleSchema = (): Readonly<Record<string, unknown>> => ({
  title: 'Jupiter Station bundle',
  ...z.toJSONSchema(manifestSchema.partial({ content: true }), { target: 'draft-2020-12', io: 'input' }),
});

/** One pass over JSON text that parses: a key repeated in one object, `__proto__`, or nesting over the bound. */
const ambiguity = (text: string): string | undefined => {
  const open: (Set<string> | undefined)[] = [];
  let last = '""';
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      if (open.length > bundleBounds.nesting) return `is nested deeper than ${bundleBounds.nesting}`;
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const key: string = JSON.parse(last);
      const keys = open.at(-1);
      if (keys?.has(key) === true)
        return `has the key ${JSON.stringify(key).slice(0, 100)} twice in one object`;
      if (key === '__proto__') return 'has the key "__proto__"';
      keys?.add(key);
    } else last = token;
  }
  return undefined;
};

/** The JSON value of manifest bytes (`bundle/manifest-unreadable`, `bundle/limit-exceeded`). */
export const decodeManifest = (bytes: Uint8Array): Result<unknown> => {
  if (bytes.length > bundleBounds.manifestBytes)
    return failed(overLimit('manifestBytes', bytes.length, 'bundle.json'));
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse('bundle/manifest-unreadable', {
      subject: 'bundle.json',
      message: 'The manifest is not UTF-8.',
    });
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse('bundle/manifest-unreadable', {
      subject: 'bundle.json',
      message: 'The manifest is not JSON.',
      evidence: error instanceof Error ? error.message : String(error),
    });
  }
  const fault = ambiguity(text);
  return fault === undefined
    ? ok(value)
    : refuse('bundle/manifest-unreadable', { subject: 'bundle.json', message: `The manifest ${fault}.` });
};

const placeOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (place, part) =>
      typeof part === 'number'
        ? `${place}[${part}]`
        : place === ''
          ? String(part)
          : `${place}.${String(part)}`,
    '',
  );

/** The manifest in a JSON value, or every rule it breaks. */
export const manifestOf = (value: unknown): { manifest?: Manifest; problems: readonly Problem[] } => {
  const read = manifestSchema.safeParse(value);
  if (read.success) {
    return { manifest: read.data, problems: manifestFaults(read.data) };
  }
  return {
    problems: read.error.issues.slice(0, bundleBounds.problems).map((issue) => {
      const place = placeOf(issue.path);
      if (place === 'content' && !Object.hasOwn(Object(value), 'content'))
        return problem('bundle/manifest-invalid', {
          subject: 'bundle.json: content',
          message: 'The bundle is not packed: the manifest lists no content.',
          fix: 'Run `jupiter bundle pack` on its folder.',
        });
      return problem('bundle/manifest-invalid', {
        subject: place === '' ? 'bundle.json' : `bundle.json: ${place.slice(0, 300)}`,
        message: `The manifest's ${place === '' ? 'top level' : `"${place.slice(0, 300)}"`} ${faultText(value, issue)}.`,
      });
    }),
  };
};
