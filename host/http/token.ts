/**
 * A session's token: a mark and random bytes. By its mark it is known wherever it stands, whoever holds it and however
 * long ago it was made, so that nothing has to remember tokens to keep them out of logs and records.
 */
import { randomBytes } from 'node:crypto';

const mark = 'jst_';
/** Random bytes. */
const tokenBytes = 32;
const randomCharacters = Math.ceil((tokenBytes * 8) / 6);

export const newToken = (): string => mark + randomBytes(tokenBytes).toString('base64url');

/** Base64 of `text` that begins `before` bytes into a group of three, without what its neighbours have a share in. */
const base64Within = (text: string, before: number): string => {
  const all = Buffer.from(' '.repeat(before) + text)
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + text.length) % 3 === 0;
  return all.slice([0, 2, 3][before], isWhole ? all.length : -1);
};

/** In every form it may stand in: as it is, in hex and in Base64; JSON and URLs leave it as it is. */
const formsOfTokens = (): RegExp => {
  const hex = Buffer.from(mark).toString('hex');
  const bytes = `(?:[0-9a-f]{2}){${randomCharacters}}`;
  const base64 = [0, 1, 2].map((before) => {
    const known = base64Within(mark, before);
    const rest = base64Within(mark + ' '.repeat(randomCharacters), before).length - known.length;
    return `${known}[A-Za-z0-9+/_-]{${rest}}`;
  });
  const forms = [
    `${mark}[A-Za-z0-9_-]{${randomCharacters}}`,
    `${hex}${bytes}`,
    `${hex}${bytes}`.toUpperCase(),
  ];
  return new RegExp([...forms, ...base64].join('|'), 'g');
};

/** How tokens are known wherever they stand. */
export const tokenMark = { name: 'token of a session', forms: formsOfTokens() } as const;
