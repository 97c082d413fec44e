/**
 * What an operator may grant. The interfaces behind these names live above this room (host/capabilities); a test
 * holds both lists together.
 */
export const grantable = [
  'bus:publish',
  'process:spawn',
  'session-context:provision',
  'store:own',
] as const satisfies readonly string[];
