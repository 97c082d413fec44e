/**
 * ACP content as a person reads it and as a program uses it. Long parts are cut to bounds written here and say so:
 * a transcript row must stay small enough to be read.
 */
import { bounded } from '../guest/problems.ts';
import { isRecord } from './frames.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Longest text of one update, UTF-16 units; a longer one says how much is missing. */
export const textUnits = 262_144;
/** Longest image kept, base64 characters. */
const imageUnits = 262_144;
/** Longest old or new text of one diff, UTF-16 units, and how many diffs one update keeps. */
const diffUnits = 32_768;
const diffsKept = 20;
const pathUnits = 4_096;
const locationsKept = 50;
/** Longest input of a tool call kept, UTF-16 units of JSON. */
const inputUnits = 16_384;

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const cutText = (text: string, units = textUnits): string =>
  text.length <= units
    ? text
    : `${text.slice(0, units)}\n[cut: ${text.length - units} of ${text.length} characters]`.toWellFormed();

interface Image {
  readonly mimeType: string;
  readonly data?: string;
}
interface Diff {
  readonly path: string;
  readonly oldText?: string;
  readonly newText: string;
}

const isImage = (block: unknown): block is Fields => isRecord(block) && block.type === 'image';
const mimeTypeOf = (image: Fields): string => bounded(textOf(image.mimeType) ?? 'image', 200);
const imageOf = (image: Fields): Image => {
  const data = textOf(image.data);
  return {
    mimeType: mimeTypeOf(image),
    ...(data !== undefined && data.length <= imageUnits ? { data } : {}),
  };
};
/** Three bytes are four characters of base64. */
const imageText = (image: Fields): string => {
  const size = Math.floor(((textOf(image.data)?.length ?? 0) * 3) / 4);
  return `[image ${mimeTypeOf(image)}, about ${size} bytes]`;
};

/** A content block in words. */
export const blockText = (block: unknown): string => {
  if (!isRecord(block)) return textOf(block) ?? '';
  switch (block.type) {
    case 'text':
      return textOf(block.text) ?? '';
    case 'image':
      return imageText(block);
    case 'resource_link':
      return `[${textOf(block.name) ?? 'resource'}](${textOf(block.uri) ?? ''})`;
    case 'resource': {
      const resource = isRecord(block.resource) ? block.resource : {};
      return textOf(resource.text) ?? `[resource ${textOf(resource.uri) ?? ''}]`;
    }
    default:
      return textOf(block.text) ?? `[${textOf(block.type) ?? 'content'}]`;
  }
};

const lines = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);
const counted = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`;

const diffText = (diff: Fields): string => {
  const path = textOf(diff.path) ?? 'a file';
  const [before, after] = [textOf(diff.oldText), textOf(diff.newText)];
  if (after === undefined) return `[changed ${path}]`;
  return before === undefined
    ? `[new ${path}: ${counted(lines(after))}]`
    : `[changed ${path}: ${counted(lines(before))}, now ${lines(after)}]`;
};

const toolPart = (part: unknown): string => {
  if (!isRecord(part)) return textOf(part) ?? '';
  if (part.type === 'content') return blockText(part.content);
  if (part.type === 'diff') return diffText(part);
  if (part.type === 'terminal') return `[terminal ${textOf(part.terminalId) ?? ''}]`;
  return blockText(part);
};

export const partsText = (parts: unknown): string =>
  Array.isArray(parts)
    ? parts
        .map(toolPart)
        .filter((text) => text !== '')
        .join('\n')
    : '';

/** `rawOutput` in the forms agents were seen to use; only read where the update has no content. */
export const outputText = (raw: unknown): string => {
  if (typeof raw === 'string') return raw;
  if (Array.isArray(raw)) return partsText(raw);
  if (!isRecord(raw)) return '';
  const inner = raw.output ?? raw.content ?? (isRecord(raw.result) ? raw.result.content : undefined);
  return inner === undefined || inner === null ? '' : outputText(inner);
};

const diffsIn = (parts: readonly unknown[]): Diff[] =>
  parts
    .filter(isRecord)
    .filter((part) => part.type === 'diff' && typeof part.path === 'string')
    .slice(0, diffsKept)
    .map(({ path, oldText, newText }) => ({
      path: bounded(String(path), pathUnits),
      ...(typeof oldText === 'string' ? { oldText: cutText(oldText, diffUnits) } : {}),
      newText: cutText(textOf(newText) ?? '', diffUnits),
    }));

const locationsIn = (value: unknown): { path: string; line?: number }[] =>
  Array.isArray(value)
    ? value
        .filter(isRecord)
        .filter(({ path }) => typeof path === 'string')
        .slice(0, locationsKept)
        .map(({ path, line }) => ({
          path: bounded(String(path), pathUnits),
          ...(typeof line === 'number' ? { line } : {}),
        }))
    : [];

/** A tool call's input, or that it was too long to keep; nothing where the agent told none yet. */
const inputOf = (raw: unknown): Fields => {
  if (!isRecord(raw) || Object.keys(raw).length === 0) return {};
  const units = JSON.stringify(raw).length;
  return units <= inputUnits ? { input: raw } : { inputCut: units };
};

/** The image of a message for programs; undefined for what is text alone. */
export const blockData = (block: unknown): Fields | undefined =>
  isImage(block) ? { images: [imageOf(block)] } : undefined;

/** What an update of a tool call holds for programs; undefined where that is nothing. */
export const toolData = (update: Fields): Fields | undefined => {
  const parts = Array.isArray(update.content) ? (update.content as unknown[]) : [];
  const images = parts.flatMap((part) =>
    isRecord(part) && isImage(part.content) ? [imageOf(part.content)] : [],
  );
  const [diffs, locations, kind] = [diffsIn(parts), locationsIn(update.locations), textOf(update.kind)];
  const data = {
    ...(kind === undefined ? {} : { kind: bounded(kind, 100) }),
    ...inputOf(update.rawInput),
    ...(locations.length === 0 ? {} : { locations }),
    ...(diffs.length === 0 ? {} : { diffs }),
    ...(images.length === 0 ? {} : { images }),
  };
  return Object.keys(data).length === 0 ? undefined : data;
};
