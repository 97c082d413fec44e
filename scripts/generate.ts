/**
 * Writes what is generated from the sources: the schemas of policy and bundle, the manifest of the contract bundle and
 * the reference pages. With `--check` it writes nothing, compares, names every stale file and exits 1.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { contractManifestText } from '../contracts/manifest.ts';
import { type AnyTopic, firstPartyTopics } from '../contracts/topics/index.ts';
import { bundleSchema } from '../host/bundles/index.ts';
import { commandLine } from '../host/cli/main.ts';
import { initialPolicy, permissionFor, policySchema } from '../host/policy/index.ts';
import { registry } from '../host/problems/index.ts';

interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

const root = join(import.meta.dirname, '..');
const note = '<!-- Written by `npm run generate`; edit the source, not this page. -->';
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;
const page = (title: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const typeOf = (shape: Shape): string => {
  const options = shape.anyOf ?? shape.oneOf;
  if (options !== undefined) return [...new Set(options.map(typeOf))].join(' or ');
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum !== undefined) return shape.enum.map((value) => JSON.stringify(value)).join(', ');
  if (shape.type === 'array')
    return `list of ${shape.items === undefined ? 'anything' : typeOf(shape.items)}`;
  if (shape.type === 'object') {
    const keys = Object.keys(shape.properties ?? {});
    return keys.length === 0 ? 'object' : `{${keys.join(', ')}}`;
  }
  return shape.type ?? 'anything';
};

const problems = (): string => {
  const rooms = new Map<string, (readonly string[])[]>();
  for (const [name, known] of Object.entries(registry).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const room = name.slice(0, name.indexOf('/'));
    const fix = 'fix' in known && known.fix !== undefined ? known.fix : '';
    rooms.set(room, [...(rooms.get(room) ?? []), [code(name), known.message, fix]]);
  }
  const sections = [...rooms].map(
    ([room, rows]) => `## ${room}\n\n${table(['Code', 'Meaning', 'What to do'], rows)}`,
  );
  return page(
    'Problems',
    'Every problem a station can report. A code keeps its meaning for ever.',
    ...sections,
  );
};

const keyRows = (shape: Shape): readonly (readonly string[])[] =>
  Object.entries(shape.properties ?? {}).map(([key, value]) => [
    code(key),
    shape.required?.includes(key) === true ? 'required' : '',
    cell(typeOf(value)),
    value.description ?? '',
  ]);

/** A section of fixed keys: its table, then that of each key with keys of its own. */
const plain = (shape: Shape): readonly string[] => [
  shape.description ?? '',
  table(['Key', '', 'Type', 'Meaning'], keyRows(shape)),
  ...Object.entries(shape.properties ?? {}).flatMap(([key, inner]) =>
    inner.properties === undefined ? [] : [`${code(key)}:`, ...plain(inner)],
  ),
];

const policy = (): string => {
  const schema = policySchema() as Shape;
  const head = ['Key', '', 'Type', 'Meaning'];
  const sections = Object.entries(schema.properties ?? {}).flatMap(([section, shape]) => {
    const entry = typeof shape.additionalProperties === 'object' ? shape.additionalProperties : shape.items;
    if (entry === undefined)
      return shape.properties === undefined ? [] : [`## ${code(section)}`, ...plain(shape)];
    const rows = keyRows(entry);
    const body = rows.length > 0 ? table(head, rows) : `Each entry is a ${typeOf(entry)}.`;
    return [`## ${code(section)}`, [shape.description, entry.description].filter(Boolean).join(' '), body];
  });
  return page(
    'Policy',
    `${schema.description ?? ''} Comments and trailing commas are read; the JSON Schema is \`schemas/policy.schema.json\`.`,
    'A wrong entry is a problem with its place in the file, and a policy with any problem grants nothing.',
    ...sections,
    '## The policy `jupiter init` writes',
    `\`\`\`jsonc\n${initialPolicy}\`\`\``,
  );
};

const bundle = (): string => {
  const schema = bundleSchema() as Shape;
  const head = ['Key', '', 'Type', 'Meaning'];
  const lists = Object.entries(schema.properties ?? {}).flatMap(([key, { description = '', items }]) =>
    items === undefined
      ? []
      : (items.oneOf ?? items.anyOf ?? [items]).map((entry) => {
          const kind = entry.properties?.['kind']?.const;
          const title = kind === undefined ? code(key) : `${code(key)} of the kind ${code(String(kind))}`;
          return `## ${title}\n\n${description}\n\n${table(head, keyRows(entry))}`;
        }),
  );
  return page(
    'Bundle',
    'The keys of `bundle.json`. The smallest one, for skills alone, is `{"manifest": 2, "id": "my.bundle", "version": "0.1.0"}`. Any other key is refused. The JSON Schema is `schemas/bundle.schema.json`; what else a bundle is held to: [docs/bundles.md](../bundles.md).',
    table(head, keyRows(schema)),
    ...lists,
  );
};

const fieldsOf = (title: string, schema: z.ZodType): string => {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  const rows = keyRows(shape).map(([key = '', required = '', type = '']) => [key, required, type]);
  return rows.length === 0 ? `${title}: nothing.` : `${title}:\n\n${table(['Field', '', 'Type'], rows)}`;
};

const topic = (one: AnyTopic): readonly string[] => [
  `## ${code(one.id)}`,
  one.kind === 'command' ? 'A command.' : 'An event.',
  ...(one.kind === 'command'
    ? [fieldsOf('Request', one.request), fieldsOf('Reply', one.reply)]
    : [fieldsOf('Payload', one.event)]),
];

const topics = (): string =>
  page(
    'Topics',
    'The first-party topics. An ID stands for one shape for ever; a new shape is a new ID.',
    ...firstPartyTopics.flatMap(topic),
  );

const wit = (): string => {
  const versions = readdirSync(join(root, 'wit'))
    .filter((name) => /^\d/.test(name))
    .sort();
  const rows = Object.entries(permissionFor).map(([name, permission]) => [
    code(name),
    permission === undefined ? 'none' : code(permission),
  ]);
  const texts = versions.flatMap((version) =>
    readdirSync(join(root, 'wit', version))
      .filter((file) => file.endsWith('.wit'))
      .sort()
      .map(
        (file) =>
          `## ${version}\n\n\`\`\`wit\n${readFileSync(join(root, 'wit', version, file), 'utf8')}\`\`\``,
      ),
  );
  return page(
    'Platform interfaces',
    'What a component may import, and the permission policy must grant its bundle. A released version is never edited.',
    table(['Interface', 'Permission'], rows),
    ...texts,
  );
};

/** The help of a command as a terminal of 100 columns shows it. */
const helpOf = (command: Command): string => {
  let text = '';
  command.configureHelp({ helpWidth: 100 }).configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
  });
  command.outputHelp();
  return text.trim();
};

const helps = (command: Command, names: readonly string[]): readonly string[] => [
  `## ${code([...names, command.name()].join(' '))}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``,
  ...command.commands.flatMap((child) => helps(child, [...names, command.name()])),
];

const cli = (): string =>
  page(
    'Command line',
    'Every command, as `--help` shows it. In a checkout: `npm run -s jupiter -- …`.',
    ...helps(
      commandLine(async () => undefined),
      [],
    ),
  );

/** Path below the repository → text. */
const generated: Readonly<Record<string, () => string>> = {
  'schemas/policy.schema.json': () => `${JSON.stringify(policySchema(), null, 2)}\n`,
  'schemas/bundle.schema.json': () => `${JSON.stringify(bundleSchema(), null, 2)}\n`,
  'contracts/bundle.json': contractManifestText,
  'docs/reference/bundle.md': bundle,
  'docs/reference/cli.md': cli,
  'docs/reference/problems.md': problems,
  'docs/reference/policy.md': policy,
  'docs/reference/topics.md': topics,
  'docs/reference/wit.md': wit,
};

const textAt = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const check = process.argv.includes('--check');
let stale = 0;
for (const [path, make] of Object.entries(generated)) {
  const target = join(root, path);
  const text = make();
  if (textAt(target) === text) continue;
  if (check) {
    stale += 1;
    console.error(`${path} is stale: run \`npm run generate\``);
  } else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
