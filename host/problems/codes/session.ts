import { codes } from './codes.ts';

export const session = codes({
  'session/agent-unknown': {
    message: 'Policy knows no such agent.',
    fix: 'Add it under `agents` in policy.jsonc; `jupiter policy show` lists the ones it has.',
  },
  'session/unknown': {
    message: 'There is no such session.',
    fix: 'List the sessions with `jupiter session list`.',
  },
  'session/not-the-station': { message: 'Only the station itself may say this.' },
  'session/opening': {
    message: 'The agent has not opened its session yet.',
    fix: 'Wait until `jupiter session show` says idle.',
  },
  // The station's own: it waited for the session.
  'session/not-ready': {
    message: 'Something the session requires is missing; it takes no prompt.',
    fix: 'Provide what is missing, and create a new session.',
  },
  'session/busy': {
    message: 'The session is in a turn.',
    fix: 'Wait for its end, or cancel it with `jupiter session cancel`.',
  },
  'session/over': { message: 'The session is closed or has ended.', fix: 'Create a new session.' },
  'session/request-unknown': {
    message: 'The session has no such request waiting.',
    fix: '`jupiter session show ID` lists what is waiting, with its ID.',
  },
});
