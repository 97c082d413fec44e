import { codes } from './codes.ts';

export const policy = codes({
  'policy/missing': {
    message: 'There is no policy file, so nothing is allowed.',
    fix: 'Create one with `jupiter init`, or put it back.',
  },
  'policy/unreadable': {
    message: 'The policy file cannot be read, so nothing is allowed.',
    fix: 'Check that it is a regular file this user can read.',
  },
  'policy/too-large': {
    message: 'The policy file is too large, so nothing is allowed.',
    fix: 'Shorten it; a policy has at most 1 MiB.',
  },
  'policy/not-text': {
    message: 'The policy file is not UTF-8 text, so nothing is allowed.',
    fix: 'Save it as UTF-8.',
  },
  'policy/syntax': {
    message: 'The policy is not JSON with comments, so nothing is allowed.',
    fix: 'Repair the place named.',
  },
  'policy/duplicate-key': {
    message: 'A key stands twice in the policy, so nothing is allowed.',
    fix: 'Keep the entry that is meant and remove the other.',
  },
  'policy/unknown-key': {
    message: 'The policy has a key it cannot have, so nothing is allowed.',
    fix: 'Remove it, or correct its spelling; the keys are in docs/reference/policy.md.',
  },
  'policy/missing-key': {
    message: 'A key is missing in the policy, so nothing is allowed.',
    fix: 'Add it; the keys are in docs/reference/policy.md.',
  },
  'policy/wrong-name': {
    message: 'A name in the policy cannot be used, so nothing is allowed.',
    fix: 'Rename the entry.',
  },
  'policy/wrong-type': {
    message: 'A value in the policy is of the wrong type, so nothing is allowed.',
    fix: 'Write what is expected there.',
  },
  'policy/wrong-value': {
    message: 'A value in the policy cannot be used, so nothing is allowed.',
    fix: 'Write what is expected there.',
  },
  'policy/loose-end': {
    message: 'The policy refers to what it does not have; what needs it is withheld, the rest works.',
    fix: 'Add what is expected there, or correct the name.',
  },
  'policy/unwritable': {
    message: 'The policy file could not be written; nothing was changed.',
    fix: 'Check free space and permissions.',
  },
  'policy/no-such-entry': {
    message: 'The policy has no such entry; nothing was changed.',
    fix: 'See what it has with `jupiter policy show`.',
  },
  'policy/wrong-path': {
    message: 'The path cannot be an entry of a policy; nothing was changed.',
    fix: 'Write a path such as `servers.notes.exposure`.',
  },
});
