import { codes } from './codes.ts';

export const cli = codes({
  'cli/usage': { message: 'The command could not be read.', fix: 'See `jupiter --help`.' },
});
