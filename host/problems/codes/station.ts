import { codes } from './codes.ts';

export const station = codes({
  'station/not-running': { message: 'No station runs for this home.', fix: 'Start it with `jupiter up`.' },
  'station/already-running': {
    message: 'A station already runs for this home.',
    fix: 'Use it, or stop it with `jupiter down`.',
  },
  'station/start-failed': {
    message: 'The station did not start.',
    fix: 'Read the evidence and the log in the home, then run `jupiter up` again.',
  },
  'station/home-missing': {
    message: 'There is no home of a station at this place.',
    fix: 'Create it with `jupiter init`.',
  },
  'station/home-exists': {
    message: 'This home exists already; nothing was changed.',
    fix: 'Start it with `jupiter up`, or name another home with `--home`.',
  },
  'station/home-unsafe': {
    message: 'The home can be written or read by other users.',
    fix: 'Run `chmod 700` on it.',
  },
  'station/lingers': {
    message: 'The station has stopped everything, but its process has not ended.',
    fix: 'Look at the process; end it if it stays. Nothing of the home is open any more.',
  },
  'station/bad-request': {
    message: 'The station could not read the request.',
    fix: 'Use a `jupiter` of the same version as the station.',
  },
  'station/connection-lost': {
    message: 'The station went away before it answered.',
    fix: 'Look with `jupiter status`. What a command had confirmed is kept; this one may or may not have been done.',
  },
  'station/busy': {
    message: 'The station has as many clients or open requests as it takes.',
    fix: 'End some of the commands that follow a session, then try again.',
  },
  'station/answer-too-large': {
    message: 'The answer is larger than one line of the protocol may be.',
    fix: 'Ask for less, or follow: `jupiter session transcript ID --follow` tells entry by entry.',
  },
  'station/stopping': { message: 'The station is stopping.', fix: 'Start it again with `jupiter up`.' },
  'station/draining': {
    message: 'Calls are still in flight; the station takes no more, and ends when the last one does.',
    fix: 'Nothing: it finishes by itself. A call ends at its deadline at the latest.',
  },
  'station/internal': {
    message: 'The station met a bug of its own.',
    fix: 'Look into the log, and report it.',
  },
  'station/timed-out': {
    message: 'The answer did not come in time; the work may still go on.',
    fix: 'Look with `jupiter session show`.',
  },
  'station/runtime-missing': {
    message: 'The Node.js 26 runtime that belongs to this installation is missing.',
    fix: 'Run `npm ci` again in the installation.',
  },
});
