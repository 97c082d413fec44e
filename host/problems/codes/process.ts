import { codes } from './codes.ts';

export const process = codes({
  'process/program-unknown': {
    message: 'Policy names no program of this alias.',
    fix: 'Add it to `policy.jsonc` under `programs`.',
  },
  'process/not-trusted': {
    message: 'Policy does not trust this program, so it is not started.',
    fix: 'Set `"trust": "full"` on it in `policy.jsonc` if you do.',
  },
  'process/too-many': {
    message: 'The component runs as many processes as it may.',
    fix: 'Close some of its sessions.',
  },
});
