/**
 * Finds JSON-RPC frames in an agent's output. An agent's stdout is not clean: plain text, log lines that are JSON
 * too, terminal titles, banners with no line end before a frame. A frame is a JSON object with `jsonrpc: "2.0"`;
 * everything else is noise, which is told apart and never answered.
 */
export type FrameId = string | number;
export interface RequestFrame {
  readonly kind: 'request';
  readonly id: FrameId;
  readonly method: string;
  readonly params: unknown;
}
export interface NotificationFrame {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: unknown;
}
export interface ResponseFrame {
  readonly kind: 'response';
  readonly id: FrameId;
  readonly result: unknown;
  readonly error?: { readonly code: number | undefined; readonly message: string; readonly data: unknown };
}
export type Frame = RequestFrame | NotificationFrame | ResponseFrame;
export interface Reading {
  readonly frames: readonly Frame[];
  /** What was on the line beside the frames, in order. */
  readonly noise: readonly string[];
}

/** How many places of one noisy line are tried as the start of a frame, and how many characters are looked at. */
const startsTried = 64;
const scanUnits = (line: string): number => 2 * line.length + 1_000_000;

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const errorOf = (value: unknown): NonNullable<ResponseFrame['error']> => {
  const error = isRecord(value) ? value : {};
  const message = typeof error.message === 'string' ? error.message : 'the agent gave no reason';
  const code = Number(error.code);
  return { code: Number.isFinite(code) ? code : undefined, message, data: error.data };
};

/** The frame an object is, or undefined. */
export const frameOf = (value: unknown): Frame | undefined => {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  const usable = typeof id === 'number' || typeof id === 'string';
  if (typeof method === 'string') {
    return usable ? { kind: 'request', id, method, params } : { kind: 'notification', method, params };
  }
  if (!usable) return undefined;
  if (error !== undefined && error !== null)
    return { kind: 'response', id, result: undefined, error: errorOf(error) };
  return 'result' in value ? { kind: 'response', id, result } : undefined;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Where the JSON object that begins at `start` ends (after its brace), or -1. Strings are skipped. */
const objectEnd = (line: string, start: number): number => {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < line.length; at += 1) {
    const letter = line[at];
    if (quoted) {
      if (letter === '\\') at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{') depth += 1;
    else if (letter === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
};

const searched = (line: string): Reading => {
  const frames: Frame[] = [];
  const noise: string[] = [];
  const keep = (text: string): void => {
    if (text.trim() !== '') noise.push(text);
  };
  const starts = /\{\s*"/g;
  let kept = 0;
  let left = scanUnits(line);
  for (let tried = 0; tried < startsTried; tried += 1) {
    const start = starts.exec(line)?.index;
    if (start === undefined || left <= 0) break;
    const end = objectEnd(line, start);
    left -= (end < 0 ? line.length : end) - start;
    const value = end < 0 ? undefined : parsed(line.slice(start, end));
    // Not an object: what follows its brace may still hold one. An object that is no frame is noise as a whole.
    if (value === undefined) continue;
    starts.lastIndex = end;
    const frame = frameOf(value);
    if (frame === undefined) continue;
    keep(line.slice(kept, start));
    frames.push(frame);
    kept = end;
  }
  keep(line.slice(kept));
  return { frames, noise };
};

/** Reads one line of output. */
export const readLine = (line: string): Reading => {
  const whole = line.startsWith('{') ? parsed(line) : undefined;
  if (whole !== undefined) {
    const frame = frameOf(whole);
    return frame === undefined ? { frames: [], noise: [line] } : { frames: [frame], noise: [] };
  }
  if (line.includes('"jsonrpc"')) return searched(line);
  return { frames: [], noise: line.trim() === '' ? [] : [line] };
};
