/**
 * A secret that comes in pieces: an agent streams its answer a few letters at a time, each in a line of JSON of its own, and
 * no line holds the secret. Lines are followed by the texts in them: where the end of one and the beginnings of those after
 * it grow into a secret, all its pieces are taken out. A line is held back only while its end has grown into a good part of
 * one; three letters of a secret are told at most.
 */

/** One way in which a secret is written. */
export interface Shape {
  readonly name: string;
  readonly length: number;
  /** How many of its first characters, fewer than all, stand at the end of this part of a text; every number that fits. */
  readonly ends: (text: string, from: number, to: number) => readonly number[];
  /** Whether `count` of its characters, from the one numbered `from` on, stand at this place of a text. */
  readonly fits: (text: string, at: number, from: number, count: number) => boolean;
}

export interface Pieces {
  /** The lines that may be told now, in order; fewer, or more, than came. */
  readonly push: (line: string) => readonly string[];
  readonly isHolding: () => boolean;
  /** What was held back: nothing comes after it, or not soon. */
  readonly rest: () => readonly string[];
}

/** From so many characters of a secret on a line waits for the next. */
const heldFrom = 4;
/** Where the rest does not come, half of a secret, or this much of a long one, is taken out all the same, characters. */
const leastTelling = 8;
const mostTelling = 32;
/** Lines that may come between two pieces. */
const between = 4;
/** Bounds of what is followed and held; a longer line, in UTF-16 units, is no piece of a stream. */
const mostSeams = 256;
const mostHeld = 256;
const mostUnits = 64 * 1024;

export const literalShape = (name: string, form: string): Shape => {
  const places = new Map<string, number[]>();
  for (let count = 1; count < form.length; count += 1) {
    const last = form.charAt(count - 1);
    const counts = places.get(last);
    if (counts === undefined) places.set(last, [count]);
    else counts.push(count);
  }
  return {
    name,
    length: form.length,
    ends: (text, from, to) =>
      (places.get(text.charAt(to - 1)) ?? []).filter(
        (count) => count <= to - from && text.startsWith(form.slice(0, count), to - count),
      ),
    fits: (text, at, from, count) => text.startsWith(form.slice(from, from + count), at),
  };
};

interface Line {
  readonly text: string;
  readonly cuts: { readonly at: number; readonly length: number; readonly by: string }[];
  told: boolean;
}
interface Part {
  readonly line: Line;
  readonly at: number;
  readonly length: number;
}
/** The beginning of a secret, and where its pieces stand. */
interface Seam {
  readonly shape: Shape;
  /** Its pieces are values of members of one name: what else a line says of itself continues none. */
  readonly name: string;
  readonly length: number;
  readonly parts: readonly Part[];
  readonly age: number;
  /** It was whole once already, by an end so short that it may have been another text. */
  readonly isTold?: true;
}

interface Text {
  readonly from: number;
  readonly to: number;
  /** Of the member it is the value of, or is in the list that is. */
  readonly name: string;
}

/** The texts of a line of JSON, names of members excepted. */
const textsOf = (line: string): readonly Text[] => {
  const found: Text[] = [];
  let name = '';
  for (let open = line.indexOf('"'); open >= 0; ) {
    let close = line.indexOf('"', open + 1);
    for (;;) {
      let escapes = 0;
      while (close > 0 && line.charAt(close - 1 - escapes) === '\\') escapes += 1;
      if (close < 0 || escapes % 2 === 0) break;
      close = line.indexOf('"', close + 1);
    }
    if (close < 0) break;
    if (line.charAt(close + 1) === ':') name = line.slice(open + 1, close);
    else if (close > open + 1) found.push({ from: open + 1, to: close, name });
    open = line.indexOf('"', close + 1);
  }
  return found;
};

const written = ({ text, cuts }: Line): string => {
  let out = '';
  let end = 0;
  for (const { at, length, by } of [...cuts].sort((a, b) => a.at - b.at)) {
    if (at >= end) out += text.slice(end, at) + by;
    end = Math.max(end, at + length);
  }
  return out + text.slice(end);
};

const takeOut = ({ shape, parts, isTold }: Pick<Seam, 'shape' | 'parts' | 'isTold'>): void => {
  const by = isTold === true ? '' : JSON.stringify(`[redacted ${shape.name}]`).slice(1, -1);
  for (const [index, { line, at, length }] of parts.filter((part) => !part.line.told).entries())
    line.cuts.push({ at, length, by: index === 0 ? by : '' });
};

/** `shapes` are asked for at each line; `redact` takes out what a line holds as a whole. */
export const openPieces = (shapes: () => readonly Shape[], redact: (text: string) => string): Pieces => {
  let held: Line[] = [];
  let seams: readonly Seam[] = [];

  const give = (count: number): readonly string[] => {
    const lines = held.slice(0, count);
    held = held.slice(count);
    for (const line of lines) line.told = true;
    return lines.map(written);
  };
  const dropped = (seam: Seam): void => {
    const telling = Math.min(Math.max(leastTelling, seam.shape.length / 2), mostTelling);
    if (seam.length >= telling) takeOut(seam);
  };
  const rest = (): readonly string[] => {
    for (const seam of seams) dropped(seam);
    return give(held.length);
  };

  const grown = (seam: Seam, line: Line, texts: ReturnType<typeof textsOf>): readonly Seam[] => {
    const { shape, length } = seam;
    const found: Seam[] = [];
    let ended = 0;
    for (const { from, to, name } of texts) {
      const count = Math.min(shape.length - length, to - from);
      if (name !== seam.name || !shape.fits(line.text, from, length, count)) continue;
      // What looked like its end once was told of: only a text that is the whole end is it as well.
      if (seam.isTold === true && count !== to - from) continue;
      const untold = seam.parts.filter((part) => !part.line.told);
      const parts = [...untold, { line, at: from, length: count }];
      if (length + count === shape.length) {
        takeOut({ ...seam, parts });
        ended = count;
      } else found.push({ ...seam, length: length + count, parts, age: 0 });
    }
    if (ended >= heldFrom) return [];
    const next: Seam = { ...seam, age: seam.age + 1, ...(ended > 0 ? { parts: [], isTold: true } : {}) };
    // What continued it may have been another text that only looks like it.
    if (seam.age < between) return [...found, next];
    if (found.length === 0) dropped(seam);
    return found;
  };

  return {
    isHolding: () => held.length > 0,
    rest,
    push: (given) => {
      const text = redact(given);
      const known = shapes();
      if (known.length === 0 || text.length > mostUnits) return [...rest(), text];
      const line: Line = { text, cuts: [], told: false };
      const texts = textsOf(text);
      const begun = texts.flatMap(({ from, to, name }) =>
        known.flatMap((shape) =>
          shape.ends(text, from, to).map(
            (length): Seam => ({
              shape,
              name,
              length,
              parts: [{ line, at: to - length, length }],
              age: 0,
            }),
          ),
        ),
      );
      seams = [...seams.flatMap((seam) => grown(seam, line, texts)), ...begun];
      if (seams.length > mostSeams) seams = seams.toSorted((a, b) => b.length - a.length).slice(0, mostSeams);
      held = [...held, line];
      if (held.length > mostHeld) return rest();
      const waitsFor = new Set(
        seams
          .filter(({ length }) => length >= heldFrom)
          .map(({ parts }) => parts.find(({ line: { told } }) => !told)?.line),
      );
      const first = held.findIndex((one) => waitsFor.has(one));
      return give(first < 0 ? held.length : first);
    },
  };
};
