/** What a permission request asks, which paths it names, and which of its options is the answer. */
import type { FirstParty } from '../guest/index.ts';
import { bounded } from '../guest/problems.ts';
import { textOf } from './blocks.ts';
import { isRecord } from './frames.ts';
import { toolUpdate, type Update } from './updates.ts';

export type Option = FirstParty['bearpunch.agents.permission']['event']['options'][number];
export interface Asked {
  readonly tool?: string;
  readonly title?: string;
  readonly kind?: string;
  readonly paths: string[];
  readonly pathsWhole: boolean;
  readonly options: Option[];
  /** What the request tells of the tool call: some agents announce it nowhere else. */
  readonly update?: Update;
}

/** As the topic allows them. */
const optionsKept = 50;
const nameUnits = 4_000;
const pathUnits = 4_096;
const pathsKept = 100;
/** How deep an input is looked through for paths, and how many of its fields. */
const inputDepth = 4;
const inputFields = 500;

/** Names under which agents were seen to put paths into a tool's input: `path`, `file_path`, `filePath`, `cwd`, … */
const pathField = /(^|[_-])(path|paths|file|files|filename|filepath|cwd|dir|directory|folder|workdir)$/i;
const camelPathField = /(Path|Paths|File|Files|Dir|Directory|Folder)$/;

interface Named {
  readonly paths: readonly string[];
  /** False where not all of the input was looked at. */
  readonly whole: boolean;
}

const inputPaths = (input: unknown): Named => {
  const found: string[] = [];
  let left = inputFields;
  let whole = true;
  const look = (value: unknown, named: boolean, depth: number): void => {
    left -= 1;
    if (left < 0 || depth > inputDepth) {
      whole = false;
      return;
    }
    if (typeof value === 'string') {
      if (named) found.push(value);
    } else if (Array.isArray(value)) for (const each of value) look(each, named, depth + 1);
    else if (isRecord(value)) {
      for (const [name, each] of Object.entries(value)) {
        // Codex names the files of a change by the keys of `changes`.
        if (name === 'changes' && isRecord(each)) found.push(...Object.keys(each));
        look(each, pathField.test(name) || camelPathField.test(name), depth + 1);
      }
    }
  };
  look(input, false, 0);
  return { paths: found, whole };
};

/** Every path a request names: its locations, its diffs, and what its input calls a path. */
const pathsOf = (call: Readonly<Record<string, unknown>>): { paths: string[]; pathsWhole: boolean } => {
  const named = [call.locations, call.content]
    .flatMap((value) => (Array.isArray(value) ? value : []))
    .filter(isRecord)
    .flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
  const input = inputPaths(call.rawInput);
  const paths = [...new Set([...named, ...input.paths])];
  const kept = paths.filter((path) => path.length <= pathUnits).slice(0, pathsKept);
  return {
    paths: kept.map((path) => path.toWellFormed()),
    pathsWhole: input.whole && kept.length === paths.length,
  };
};

export const readPermission = (params: Readonly<Record<string, unknown>>): Asked => {
  const call = isRecord(params.toolCall) ? params.toolCall : {};
  const update = toolUpdate(call);
  const kind = textOf(call.kind);
  const options = Array.isArray(params.options) ? params.options : [];
  return {
    ...(update.id === undefined ? {} : { tool: update.id, update }),
    ...(update.title === undefined ? {} : { title: update.title }),
    ...(kind === undefined ? {} : { kind: bounded(kind, 100) }),
    ...pathsOf(call),
    options: options
      .filter(isRecord)
      .filter((option) => typeof option.optionId === 'string')
      .slice(0, optionsKept)
      .map((option) => ({
        id: String(option.optionId),
        kind: textOf(option.kind) ?? '',
        name: bounded(textOf(option.name) ?? String(option.optionId), nameUnits),
      })),
  };
};

/** The option to choose, by kind and never by its ID: once before always. Undefined where none fits. */
export const optionFor = (options: readonly Option[], allow: boolean): string | undefined => {
  const kinds = allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return found.id;
  }
  return undefined;
};
