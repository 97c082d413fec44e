import { codes } from './codes.ts';

// The codes Sessions and Adapter answer with are theirs (`session/…`, `agent/…`); these are the station's own.
export const session = codes({
  'session/still-opening': {
    message: 'The session is still opening; the agent has not answered yet.',
    fix: 'Look with `jupiter session show ID`, or close it.',
  },
});
