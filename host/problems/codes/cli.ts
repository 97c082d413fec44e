import { codes } from './codes.ts';

export const cli = codes({
  'cli/usage': { message: 'The command could not be read.', fix: 'See `jupiter --help`.' },
  'cli/demo-failed': {
    message: 'The demo ran, but its tool was not called.',
    fix: 'Read the transcript above, and report it.',
  },
  'cli/interrupted': { message: 'Interrupted; what had been started was ended again.' },
  'cli/system': {
    message: 'The operating system refused what this command needs.',
    fix: 'Check that the place exists, and who may use it.',
  },
});
