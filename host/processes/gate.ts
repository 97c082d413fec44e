/**
 * How a child is started so that no moment exists in which it runs and nobody would end it. It begins as a small
 * `/bin/sh` in its own session that waits for one line on file descriptor 3. The line is sent when the watchdog knows
 * the group; if the station dies before, the descriptor closes and the shell leaves without having started anything.
 * Then the shell closes the descriptor and becomes the program.
 */

// Variables a shell hands on of its own: dash the first two, bash as /bin/sh (macOS) all, two of them even when unset.
const shellVariables = ['PWD', 'OLDPWD', 'SHLVL', '_'] as const;
const shellName = /^[A-Za-z_][A-Za-z0-9_]*$/;
// Names a shell gives a meaning or a value of its own.
const shellOwned =
  /^(BASH.*|E?UID|GROUPS|IFS|LINENO|OPT(ARG|ERR|IND)|PPID|PS[0-4]|RANDOM|SECONDS|SHELLOPTS|jupiter_gate)$/;

/**
 * False where the environment holds a name that a shell would not hand on as it is (`a.b`, `IFS`): such a child is
 * started directly, and is known to the watchdog a millisecond later.
 */
export const canBeGated = (env: Readonly<Record<string, string>>): boolean =>
  Object.keys(env).every((name) => shellName.test(name) && !shellOwned.test(name));

/** Arguments for `/bin/sh`. Standard input is not read before the program reads it. */
export const gateArguments = (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): readonly string[] => {
  const removed = shellVariables.filter((name) => !(name in env));
  const script = [
    'read -r jupiter_gate <&3 || exit 125',
    'exec 3<&-',
    `unset jupiter_gate ${removed.filter((name) => name !== '_').join(' ')}`,
    `[ -z "$BASH_VERSION" ] || exec /usr/bin/env ${removed.map((name) => `-u ${name}`).join(' ')} "$@"`,
    'exec "$@"',
  ].join('\n');
  return ['-c', script, 'jupiter-gate', file, ...args];
};
