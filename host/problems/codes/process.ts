import { codes } from './codes.ts';

export const process = codes({
  'process/not-found': {
    message: 'The program was not found.',
    fix: "Install it, or correct the program's command in the policy; after a change of PATH, `jupiter down` and `jupiter up`.",
  },
  'process/not-executable': {
    message: 'The program cannot be executed.',
    fix: "Make it executable (`chmod +x`), or correct the program's command in the policy.",
  },
  'process/no-directory': {
    message: 'The directory the program was to run in does not exist or cannot be entered.',
    fix: 'Create the directory, or name another one.',
  },
  'process/spawn-failed': {
    message: 'The operating system did not start the program.',
    fix: 'Read the evidence; too many processes or too long arguments are the usual causes.',
  },
  'process/line-too-long': {
    message: 'The program wrote a line over the limit and was ended.',
    fix: 'Report it to the author of the program; a frame of the protocol ends with a newline.',
  },
  'process/output-closed': {
    message: 'The program closed its output, went on running, and was ended.',
    fix: 'Read its log for the cause, and report it to the author of the program.',
  },
  'process/input-closed': {
    message: 'The program closed its input, went on running, and was ended.',
    fix: 'Read its log for the cause, and report it to the author of the program.',
  },
  'process/input-stuck': {
    message: 'The program did not read its input until the queue was full, and was ended.',
    fix: 'Report it to the author of the program.',
  },
  'process/not-ended': {
    message: 'A process of the program is still there after it was killed.',
    fix: 'Look at it with `ps`; a process that waits for a broken device or file system cannot be ended.',
  },
  'process/program-unknown': {
    message: 'Policy names no program of this alias.',
    fix: 'Add it to `policy.jsonc` under `programs`.',
  },
  'process/not-trusted': {
    message: 'Policy does not trust this program, so it is not started.',
    fix: 'Set `"trust": "full"` on it in `policy.jsonc` if you do.',
  },
  'process/not-offered': {
    message: 'Policy does not offer this to the agent.',
    fix: 'Set `host` of the agent in `policy.jsonc` if it should have it, and create the session again.',
  },
  'process/terminal-unknown': {
    message: 'The agent has no such terminal.',
    fix: 'Use the ID that the terminal was created with; a released one is gone.',
  },
  'process/too-many-terminals': {
    message: 'The agent has as many terminals as it may.',
    fix: 'Release the ones that are not needed any more.',
  },
  'process/too-many': {
    message: 'The component runs as many processes as it may.',
    fix: 'Close some of its sessions.',
  },
});
