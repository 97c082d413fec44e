/**
 * How answers and problems are shown. Plain text for people: no colour unless the stream is a terminal that wants it,
 * and no control character of anybody's text reaches it. With `--json` exactly one JSON document, or a line of JSON
 * for each event of a command that follows.
 */
import { ok, type Problem, type Result, refuse } from '../problems/index.ts';

export interface Answer {
  /** The document of `--json`; undefined where the events were all there is to say. */
  readonly json: unknown;
  readonly plain: string;
  /** Exit code, where the command did its work and found something wrong. */
  readonly exit?: 1;
}

export interface Sink {
  readonly write: (text: string) => void;
  readonly colour: boolean;
}

/** What a command sees of the world. */
export interface Io {
  /** Absolute. */
  readonly home: string;
  readonly json: boolean;
  readonly compileCache: string | undefined;
  /** A command as this person would type it, to be shown: `up` → `jupiter up --home X`. */
  readonly typed: (command: string) => string;
  /** A line for who waits, on standard error; not with `--json`. */
  readonly progress: (text: string) => void;
  /** One event of a command that follows: a line of JSON, or its plain form. */
  readonly event: (json: unknown, plain: string) => void;
}
/** Runs what a command does, prints its answer and keeps its exit code. */
export type Run = (act: (io: Io) => Promise<Result<Answer>>) => Promise<void>;

// Everything but the line end and the tab that our own layout uses: controls, line separators, and what turns the
// direction of writing around, so that text reads as what it is not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text of others on one line, without what would drive a terminal. */
export const shown = (text: string): string => text.replace(/[\r\n\t]+/g, ' ').replace(control, '');

/** Text of several lines, as it was laid out. */
export const shownText = (text: string): string => text.replaceAll('\r\n', '\n').replace(control, '');

/** JSON that a terminal shows as it is: JSON itself escapes only what stands before the blank. */
export const documentText = (value: unknown, indent?: number): string | undefined =>
  JSON.stringify(value, null, indent)?.replace(
    control,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const bold = (text: string, sink: Sink): string => (sink.colour ? `\u001b[1;31m${text}\u001b[0m` : text);

/** `error:` with what it is about, what was seen, what to do, and the stable code. */
export const problemText = (found: Problem, sink: Sink, heading = 'error:'): string => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['subject:', found.subject],
    ['evidence:', found.evidence],
    ['fix:', found.fix],
    ['code:', found.code],
  ];
  const lines = rows.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${name.padEnd(10)}${shown(text)}`],
  );
  return [`${bold(heading, sink)} ${shown(found.message)}`, ...lines].join('\n');
};

/** Columns as wide as their widest cell; the last one is not padded. */
export const table = (rows: readonly (readonly (string | number | undefined)[])[], indent = ''): string => {
  const cells = rows.map((row) => row.map((cell) => shown(String(cell ?? ''))));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return cells
    .map((row) =>
      `${indent}${row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')}`.trimEnd(),
    )
    .join('\n');
};

/** A time in the local zone, to the second. */
export const when = (at: number): string => new Date(at).toLocaleString('sv-SE');

/** Revisions and digests as people compare them. */
export const short = (digest: string): string => digest.slice(0, 12);

/** `1 file`, `2 files`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const printAnswer = (answer: Answer, json: boolean, out: Sink): void => {
  const text = json ? documentText(answer.json, 2) : answer.plain;
  if (text !== undefined && text !== '') out.write(`${text}\n`);
};

/** To standard error for people; as `{"problem": …}` to standard output for programs. */
export const printProblem = (found: Problem, json: boolean, out: Sink, err: Sink): void => {
  if (json) out.write(`${documentText({ problem: found }, 2)}\n`);
  else err.write(`${problemText(found, err)}\n`);
};

/** An argument that is a JSON object. */
export const jsonObject = (text: string): Result<Record<string, unknown>> => {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === 'object' && found !== null && !Array.isArray(found))
      return ok(found as Record<string, unknown>);
  } catch {
    // Told below, with what is expected.
  }
  return refuse('cli/usage', {
    message: 'A JSON object is expected.',
    fix: 'For example \'{"path": "README.md"}\'.',
  });
};
