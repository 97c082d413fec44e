/**
 * How a child is started so that no moment exists in which it runs and nobody would end it. It begins as a small
 * `/bin/sh` in its own session that waits at its file descriptor 3 for what it is to become. That is sent when the
 * watchdog knows the group; if the station dies before, the descriptor closes and the shell leaves without having
 * started anything. A shell can wait long before it is needed: starting one from a process of the station's size takes
 * about 7 ms for each 100 MB, since the kernel copies its page tables.
 */

// Variables a shell hands on of its own: dash the first two, bash as /bin/sh (macOS) all, two of them even when unset.
const shellVariables = ['PWD', 'OLDPWD', 'SHLVL', '_'] as const;
const shellName = /^[A-Za-z_][A-Za-z0-9_]*$/;
// Names a shell gives a meaning or a value of its own.
const shellOwned =
  /^(BASH.*|E?UID|GROUPS|IFS|LINENO|OPT(ARG|ERR|IND)|PPID|PS[0-4]|RANDOM|SECONDS|SHELLOPTS|jupiter_.*)$/;
const lastLine = 'jupiter-go';

/** Longest text of all arguments and variables a gate takes, characters. The kernel's own limits are higher. */
const mostText = 100_000;

export interface GateProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Both streams are one, in the order of what was written. */
  readonly merged?: boolean;
}

/**
 * False where the environment holds a name that a shell would not hand on as it is (`a.b`, `IFS`), and for what is so
 * long that the kernel may refuse it: such a child is started directly, and is known to the watchdog a millisecond
 * later.
 */
export const canBeGated = ({ args, env }: Omit<GateProgram, 'file' | 'merged'>): boolean =>
  Object.keys(env).every((name) => shellName.test(name) && !shellOwned.test(name)) &&
  [...args, ...Object.entries(env).flat()].reduce((sum, text) => sum + text.length, 0) <= mostText;

const script = `
jupiter_text=
while IFS= read -r jupiter_line <&3; do
  if [ "$jupiter_line" = ${lastLine} ]; then
    exec 3<&-
    eval "$jupiter_text"
    exit 126
  fi
  jupiter_text="$jupiter_text$jupiter_line
"
done
exit 125
`;

/** Arguments for `/bin/sh`. Standard input is not read before the program reads it. */
export const gateArguments: readonly string[] = ['-c', script, 'jupiter-gate'];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What the gate is to become, as text for descriptor 3. Its last line makes it whole: less is never run. */
export const gateText = ({ file, args, cwd, env, merged = false }: GateProgram): string => {
  const removed = shellVariables.filter((name) => !(name in env));
  const kept = shellVariables.flatMap((name) =>
    env[name] === undefined ? [] : [`${name}=${quoted(env[name])}`],
  );
  // bash changes some of them as it leaves.
  const corrected = [...removed.map((name) => `-u ${name}`), ...kept].join(' ');
  return [
    `cd -- ${quoted(cwd)} || exit 126`,
    ...(merged ? ['exec 2>&1'] : []),
    `unset jupiter_line jupiter_text ${removed.filter((name) => name !== '_').join(' ')}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `set -- ${[file, ...args].map(quoted).join(' ')}`,
    `[ -z "$BASH_VERSION" ] || exec /usr/bin/env ${corrected} "$@"`,
    'exec "$@"',
    lastLine,
    '',
  ].join('\n');
};
