/**
 * The one place where text is redacted. Policy names variables; their values are read from the environment at use
 * and replaced, in every form listed here, before text reaches a guest, a file, a log, a record or a screen.
 */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { literalShape, openPieces, type Pieces, type Shape } from './pieces.ts';

/** Shortest value that is looked for, characters. */
const shortest = 6;

// Variables programs inherit that are no secrets: replacing their values would only spoil paths and logs.
const plain =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TERM|COLORTERM|NO_COLOR|TMPDIR|TEMP|TMP|TZ|PWD|HOSTNAME|DISPLAY|EDITOR|NODE_ENV|XDG_.*|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE)$/;

/** Whether a variable of this name is one whose value is no secret. */
export const isPlainVariable = (name: string): boolean => plain.test(name);

/** Shortest line of a value of several lines that is looked for alone, characters: output comes line by line. */
const shortestLine = 16;
const partsOf = (value: string): readonly string[] => [
  value,
  ...value.split(/\r\n|\r|\n/).filter((line) => line !== value && line.length >= shortestLine),
  ...heldIn(value),
];

const scheme = /^(?:bearer|basic|token|apikey|digest)\s+/i;
const hasPassword = /:\/\/[^/\s:@]*:([^/\s@]+)@/;

/** The password in the Base64 of `user:password`, as Basic authentication has it. */
const passwordIn = (text: string): string => {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return '';
  const pair = Buffer.from(text, 'base64').toString('utf8');
  return /^[^\p{Cc}\ufffd:]*:([^\p{Cc}\ufffd]+)$/u.exec(pair)?.[1] ?? '';
};

/** What of a value is a secret by itself: a server that was sent the whole may tell this alone. */
const heldIn = (value: string): readonly string[] => {
  const bare = value.trim().replace(scheme, '');
  const password = hasPassword.exec(value)?.[1] ?? '';
  const found = [bare, passwordIn(bare), password];
  return [...found, ...found.map(plainly)].filter((text) => text !== value && text.length >= shortest);
};

/** As it is meant where it stands in a URL. */
const plainly = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As writers of JSON do that keep to ASCII. */
const asciiJson = (text: string): string =>
  json(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Base64 of a value that begins `before` bytes into a group of three, without the characters its neighbours have a
 * share in: `user:token` holds the token at another place of its group than the token alone.
 */
const base64Within = (bytes: Buffer, before: number): string => {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const whole = (before + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice([0, 2, 3][before], whole);
};

const formsOf = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const encoded = encodeURIComponent(value.toWellFormed());
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  const escaped = json(value);
  return [
    value,
    escaped,
    json(escaped),
    escaped.replaceAll('/', '\\/'),
    asciiJson(value),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ];
};

/** In the ways a text stands inside of JSON. */
const written = ({ name, value }: Named): readonly Shape[] =>
  [...new Set([json(value), json(value).replaceAll('/', '\\/'), asciiJson(value)])].map((form) =>
    literalShape(name, form),
  );

/** The path of something that exists is no secret, and a workspace below it must keep its name. */
const isPlace = (value: string): boolean => isAbsolute(value) && existsSync(value);

export interface Named {
  readonly name: string;
  readonly value: string;
}
export interface Redactor {
  readonly text: (text: string) => string;
  /** A value of JSON with every text of it redacted, names of members excepted: those are ours. */
  readonly value: <T>(value: T) => T;
  /** For lines of JSON that come one after another; `also`: a secret that only this stream can hold, once it is one. */
  readonly pieces: (also?: () => Named | undefined) => Pieces;
}

/** Secrets that are known by how they look, all their forms. The pattern is a global one. */
export interface Marked {
  readonly name: string;
  readonly forms: RegExp;
}

/**
 * `names` are the variables policy names at this moment; a change is seen at the next call. Values shorter than six
 * characters are left: they would match ordinary words.
 */
export const openRedactor = (
  names: () => ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
  marked?: Marked,
): Redactor => {
  let known: ReadonlySet<string> | undefined;
  let forms: readonly (readonly [form: string, name: string])[] = [];
  /** The forms as they stand inside of JSON. */
  let inJson: readonly string[] = [];
  let shapes: readonly Shape[] = [];
  const secretOf = (name: string): string | undefined => {
    const value = env[name];
    return value === undefined || value.length < shortest || plain.test(name) || isPlace(value)
      ? undefined
      : value;
  };
  const refresh = () => {
    const now = names();
    if (now === known) return;
    known = now;
    const found = new Map<string, string>();
    for (const name of now) {
      const value = secretOf(name);
      if (value === undefined) continue;
      for (const form of partsOf(value).flatMap(formsOf)) found.set(form, name);
    }
    forms = [...found].sort(([a], [b]) => b.length - a.length);
    inJson = forms.map(([form]) => json(form));
    shapes = shapesOf(now);
  };
  const shapesOf = (all: ReadonlySet<string>): readonly Shape[] =>
    [...all].flatMap((name) => {
      const value = secretOf(name);
      return value === undefined
        ? []
        : [value, ...heldIn(value)].flatMap((held) => written({ name, value: held }));
    });
  const without = (text: string): string => {
    let out = text;
    for (const [form, name] of forms) out = out.replaceAll(form, `[redacted ${name}]`);
    return marked === undefined ? out : out.replace(marked.forms, `[redacted ${marked.name}]`);
  };
  const clean = (found: unknown): unknown => {
    if (typeof found === 'string') return without(found);
    if (Array.isArray(found)) return found.map(clean);
    if (typeof found !== 'object' || found === null) return found;
    return Object.fromEntries(Object.entries(found).map(([name, member]) => [name, clean(member)]));
  };
  const redacted = (text: string): string => {
    refresh();
    return without(text);
  };
  return {
    text: redacted,
    pieces: (also = () => undefined) => {
      let own: { readonly of: Named; readonly shapes: readonly Shape[] } | undefined;
      return openPieces(() => {
        const now = also();
        if (now === undefined) return shapes;
        if (own?.of.value !== now.value) own = { of: now, shapes: written(now) };
        return [...shapes, ...own.shapes];
      }, redacted);
    },
    value: (value) => {
      refresh();
      // Most values hold none, and the record of a session holds hundreds of texts.
      const text = JSON.stringify(value) ?? '';
      const holds =
        inJson.some((form) => text.includes(form)) ||
        (marked !== undefined && text.search(marked.forms) >= 0);
      return holds ? (clean(value) as typeof value) : value;
    },
  };
};
