import { codes } from './codes.ts';

export const remote = codes({
  'remote/url': {
    message: 'The address is none a server of skills can have.',
    fix: 'Give an https URL without user and fragment, http only on this machine, or an alias of `origins`.',
  },
  'remote/label': {
    message: 'The label cannot be used.',
    fix: 'Use 1 to 24 lower-case letters, digits and single hyphens; choose one with `--as`.',
  },
  'remote/label-taken': {
    message: 'Another server has this label.',
    fix: 'Choose another one with `--as`, or remove that server first.',
  },
  'remote/too-many': {
    message: 'There are more of them than are kept.',
    fix: 'Remove a server that is not needed, or name the skills with `--skill`.',
  },
  'remote/unknown': {
    message: 'No server or skill of this name was added.',
    fix: 'Look at `jupiter skills list`; `jupiter skills update` lists the servers again.',
  },
  'remote/unreachable': {
    message: 'The server could not be reached.',
    fix: 'See that it runs and that the address is right, then run `jupiter skills update`.',
  },
  'remote/no-answer': {
    message: 'The server did not answer in time.',
    fix: 'Try again when it does; nothing of it was used.',
  },
  'remote/redirect': {
    message: 'The server sends its callers elsewhere; that was not followed.',
    fix: 'Add the address it names, if you trust that one.',
  },
  'remote/too-much': {
    message: 'The server answers with more bytes than are read.',
    fix: 'Ask whoever runs it; nothing of the answer was used.',
  },
  'remote/no-token': {
    message: 'The variable that policy names for the token of this server is not set, or is empty.',
    fix: 'Set it in the environment the station starts in.',
  },
  'remote/not-admitted': {
    message: 'The server lets nobody in with this token, or without one.',
    fix: 'Name the variable of its token in policy: `origins.<alias>` with its `url` and `bearer`.',
  },
  'remote/no-skills': {
    message: 'The server does not publish skills.',
    fix: 'The address must be that of an MCP server with the extension io.modelcontextprotocol/skills.',
  },
  'remote/answer': {
    message: 'The server could not be reached, or its answer was an error or none that can be read.',
    fix: 'Check the address and that the server runs there; the evidence says what was seen.',
  },
  'remote/entry': {
    message: 'An entry of the listing is no valid skill; it was left out.',
    fix: 'Tell whoever publishes it.',
  },
  'remote/dynamic': {
    message:
      'The content of the skill is made anew at each reading, so it can neither be checked nor approved.',
    fix: 'Use it through the server itself.',
  },
  'remote/differs': {
    message: 'The server sent other bytes than it lists; they were not used.',
    fix: 'Run `jupiter skills update` and look at what changed.',
  },
  'remote/changed': {
    message: 'The skill changed since it was approved; it is not used.',
    fix: 'Look at it in `jupiter skills list`, then approve its new digest.',
  },
  'remote/waiting': {
    message: 'The skill is not approved.',
    fix: 'Approve its digest with `jupiter skills approve`.',
  },
  'remote/digest': {
    message: 'The digest is not that of the skill as the server lists it now.',
    fix: 'Look at it in `jupiter skills list` and approve what stands there.',
  },
  'remote/not-retrieved': {
    message: 'The files of the skill could not be retrieved, or not be kept.',
    fix: 'The evidence says why, if something was in the way; the next session tries again.',
  },
});
