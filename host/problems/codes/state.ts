import { codes } from './codes.ts';

export const state = codes({
  'state/unreadable': {
    message: 'The database of the home cannot be opened.',
    fix: 'Check the disk and the permissions of the home.',
  },
  'state/newer': {
    message: 'The database was written by a newer station.',
    fix: 'Use that version, or another home.',
  },
  'state/write-failed': {
    message: 'The database could not be written.',
    fix: 'Check free space and permissions of the home.',
  },
});
