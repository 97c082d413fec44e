/**
 * Ends every group when the station itself is killed. One small `/bin/sh` a station, in a session of its own, reads
 * `add GROUP MARK` and `del GROUP MARK` from a pipe that only the station holds open. When the pipe ends, however the
 * station went, it sends SIGTERM to every group it knows and to all that left one and carry its mark, waits at most two
 * seconds, and sends SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { markName } from './strays.ts';

export interface Watchdog {
  /** Resolves true once the watchdog has the group on its list; false if there is none that answers. */
  readonly add: (group: number, mark: string) => Promise<boolean>;
  readonly remove: (group: number, mark: string) => void;
}

const ackWaitMs = 2_000;
// A watchdog that dies again and again is not replaced for ever: after this many, starts are refused.
const mostReplacements = 20;

// The count of 20 × 0.1 s is the grace of two seconds.
const script = `
trap '' HUP INT QUIT TERM PIPE
all=' '
while read -r word group mark; do
  one=$group:$mark
  case $word in
    add) all="$all$one "; echo "$group" ;;
    del) case $all in *" $one "*) all="\${all%%" $one "*} \${all#*" $one "}" ;; esac ;;
  esac
done
strays() {
  [ -d /proc/self ] || return 0
  for one in $all; do grep -lszx "${markName}=\${one#*:}" /proc/[0-9]*/environ; done |
    while IFS=/ read -r root proc pid file; do echo "$pid"; done
}
tell() {
  for one in $all; do kill -s "$1" -- "-\${one%%:*}" 2>/dev/null; done
  for pid in $(strays); do kill -s "$1" "$pid" 2>/dev/null; done
}
left() {
  for one in $all; do kill -s 0 -- "-\${one%%:*}" 2>/dev/null && return 0; done
  [ -n "$(strays)" ]
}
tell TERM
turns=0
while left && [ "$turns" -lt 20 ]; do sleep 0.1; turns=$((turns + 1)); done
tell KILL
`;

/** Starts nothing before the first group. Never keeps the station's event loop alive. */
export const openWatchdog = (): Watchdog => {
  const groups = new Map<number, string>();
  const waiting = new Map<number, (known: boolean) => void>();
  let shell: ChildProcess | undefined;
  let replacements = 0;

  const say = (line: string): void => {
    shell?.stdin?.write(line);
  };
  const settle = (group: number, known: boolean): void => {
    waiting.get(group)?.(known);
    waiting.delete(group);
  };

  const startShell = (): void => {
    const child = spawn('/bin/sh', ['-c', script, 'jupiter-watchdog'], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    shell = child;
    let text = '';
    child.stdout.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) settle(Number(line), true);
    });
    // A shell that is gone shows itself by `exit`; what was being written to it is of no use any more.
    child.stdin.on('error', () => {});
    child.on('error', () => {});
    child.once('close', () => {
      if (shell !== child) return;
      shell = undefined;
      for (const group of [...waiting.keys()]) settle(group, false);
      replacements += 1;
      if (groups.size > 0) ensureShell();
    });
    child.unref();
    for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as { unref: () => void }).unref();
    for (const [group, mark] of groups) say(`add ${group} ${mark}\n`);
  };
  const ensureShell = (): void => {
    if (shell === undefined && replacements < mostReplacements) startShell();
  };

  return {
    add: (group, mark) => {
      ensureShell();
      groups.set(group, mark);
      if (shell === undefined) return Promise.resolve(false);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(group, false), ackWaitMs);
        waiting.set(group, (known) => {
          clearTimeout(timer);
          resolve(known);
        });
        say(`add ${group} ${mark}\n`);
      });
    },
    remove: (group, mark) => {
      groups.delete(group);
      say(`del ${group} ${mark}\n`);
    },
  };
};
