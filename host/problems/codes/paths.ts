import { codes } from './codes.ts';

export const paths = codes({
  'paths/unsafe': { message: 'The path cannot be used.', fix: 'Use a relative path of plain names.' },
});
