import { codes } from './codes.ts';

/** What agent providers say of the agents they run. */
export const agent = codes({
  'agent/already-open': { message: 'An agent runs for this session already.' },
  'agent/auth-required': {
    message: 'The agent needs authentication first; the message names the methods it offers.',
    fix: 'Sign in with the agent itself, or give its program the variables it needs, and create the session again.',
  },
  'agent/bad-answer': { message: 'The agent answered with something the protocol does not allow.' },
  'agent/busy': { message: 'The agent is in a turn.', fix: 'Wait for its end, or cancel it.' },
  'agent/cancel-ignored': {
    message: 'The agent did not end its turn when it was told to; it was ended itself.',
  },
  'agent/cannot-resume': {
    message: 'The agent cannot take up a session it had before.',
    fix: 'Create a new session.',
  },
  'agent/exited': {
    message: 'The agent ended by itself.',
    fix: 'Read what it printed in the log of the home, then create a new session.',
  },
  'agent/handshake-timeout': {
    message: 'The agent did not answer while its session was opened.',
    fix: 'Start the program by hand and see whether it speaks ACP on its standard output.',
  },
  'agent/not-owner': { message: 'Only the component that opened an agent may command it.' },
  'agent/not-ready': { message: 'The agent has no session yet.' },
  'agent/option-unknown': { message: 'The agent has no such option.' },
  'agent/protocol-mismatch': {
    message: 'The agent and the station speak different versions of the protocol; the message names both.',
    fix: 'Use a release of the agent that speaks this version.',
  },
  'agent/refused': { message: 'The agent refused what it was asked; the message holds its reason.' },
  'agent/request-unknown': { message: 'The agent has no such request open.' },
  'agent/session-unknown': { message: 'No agent runs for this session.' },
});
