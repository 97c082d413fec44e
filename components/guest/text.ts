/**
 * UTF-8 in plain TypeScript: a QuickJS guest has no TextEncoder. Both ways follow the Encoding Standard: what is
 * not well-formed becomes U+FFFD, one for each maximal part of a sequence.
 */
const replacement = 0xfffd;

export const utf8Encode = (text: string): Uint8Array => {
  const bytes: number[] = [];
  for (const character of text) {
    const raw = character.codePointAt(0) ?? replacement;
    const point = raw >= 0xd800 && raw <= 0xdfff ? replacement : raw;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000)
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      );
  }
  return Uint8Array.from(bytes);
};

/** How many bytes follow a lead byte, and which second bytes are allowed (Unicode 16, table 3-7). */
const following = (lead: number): readonly [count: number, low: number, high: number] => {
  if (lead >= 0xc2 && lead <= 0xdf) return [1, 0x80, 0xbf];
  if (lead === 0xe0) return [2, 0xa0, 0xbf];
  if (lead === 0xed) return [2, 0x80, 0x9f];
  if (lead >= 0xe1 && lead <= 0xef) return [2, 0x80, 0xbf];
  if (lead === 0xf0) return [3, 0x90, 0xbf];
  if (lead >= 0xf1 && lead <= 0xf3) return [3, 0x80, 0xbf];
  if (lead === 0xf4) return [3, 0x80, 0x8f];
  return [0, 0, 0];
};

export const utf8Decode = (bytes: Uint8Array): string => {
  // Joined in pieces: one string grown letter by letter is slow, and one call has a limit of arguments.
  const pieces: string[] = [];
  let points: number[] = [];
  const push = (point: number): void => {
    points.push(point);
    if (points.length === 4_096) {
      pieces.push(String.fromCodePoint(...points));
      points = [];
    }
  };
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    at += 1;
    if (lead < 0x80) {
      push(lead);
      continue;
    }
    const [count, low, high] = following(lead);
    let point = lead & (0x3f >> count);
    let taken = 0;
    while (taken < count) {
      const next = bytes[at];
      const [least, most] = taken === 0 ? [low, high] : [0x80, 0xbf];
      if (next === undefined || next < least || next > most) break;
      point = (point << 6) | (next & 63);
      at += 1;
      taken += 1;
    }
    push(count > 0 && taken === count ? point : replacement);
  }
  pieces.push(String.fromCodePoint(...points));
  return pieces.join('');
};
