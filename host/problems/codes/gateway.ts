import { codes } from './codes.ts';

export const gateway = codes({
  'gateway/denied': {
    message: 'This call is denied on this station.',
    fix: 'The rule that decided stands in `evidence`; the operator changes it under `permissions` in policy.jsonc.',
  },
  'gateway/not-approved': {
    message: 'This call needs an approval, and was not approved.',
    fix: 'Do without it, or ask the person in front of the session.',
  },
  'gateway/not-connected': {
    message: 'The server is not connected, so the call was not made.',
    fix: 'See `jupiter mcp list`; try again once it is connected.',
  },
  'gateway/busy': {
    message: 'More calls of this session wait than may wait at one time.',
    fix: 'Call again when some of them are answered.',
  },
  'gateway/port': {
    message: 'No port on the loopback interface could be opened for the gateway.',
    fix: 'See what keeps this user from listening on 127.0.0.1.',
  },
});
