/**
 * `process`: programs by the alias policy gives them, each owned by the component that started it. A component never
 * sees a command line, a variable's value or a process of another.
 */
import type { Policy } from '../policy/index.ts';
import { type Problem, problem } from '../problems/index.ts';
import type { Processes, RunningProcess } from '../processes/index.ts';
import type { SyncAnswer } from '../sandbox/index.ts';
import type { Pieces } from '../state/index.ts';
import { openTerminals, type Terminals } from './terminals.ts';
import type { RunsFor } from './workspace.ts';

/** Live processes of one component. */
const mostProcesses = 500;
/** A line that may hold the beginning of a secret waits this long for the rest, ms. */
const holdMs = 2_000;
/** Longest text of the error stream kept in the log for one line, UTF-16 units. */
const stderrUnits = 4_000;

export interface ProcessCapability {
  readonly spawn: (component: string, message: string, program: string, cwd: string) => Promise<SyncAnswer>;
  /** The message was committed, or rolled back: then what it started is ended, also what is still starting. */
  readonly settleSpawns: (component: string, message: string, kept: boolean) => void;
  readonly owns: (component: string, process: string) => boolean;
  readonly write: (component: string, process: string, text: string) => void;
  /** A process, or a terminal. */
  readonly kill: (component: string, process: string) => void;
  readonly release: (component: string, terminal: string) => void;
  /** What runs as a process of this component; undefined where it has ended. */
  readonly runs: (component: string, process: string) => RunsFor | undefined;
  readonly terminals: Terminals;
  /** Looks again at what was paused. */
  readonly eased: () => void;
  /** The station stops: what ends from now on ends with it, and no component is told that its agent failed. */
  readonly silence: () => void;
  /** Ends what a component that is taken out of service runs. */
  readonly endAllOf: (component: string) => Promise<void>;
}

export interface ProcessPorts {
  readonly processes: Processes;
  readonly policy: () => Policy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
  /** For the lines of this process, of which a secret may take several. */
  readonly pieces: (process: string) => Pieces;
  /** What one process tells is one flow. */
  readonly tell: (component: string, topic: string, payload: unknown, flow: string) => void;
  readonly hasRoom: (component: string, flow: string) => boolean;
  readonly log: (component: string, level: 'info' | 'warn', text: string) => void;
  readonly newId: () => string;
}

/** Processes that ended, remembered so that what was written to them meanwhile is dropped, not taken for another's. */
const mostEnded = 5_000;

interface Owned {
  readonly id: string;
  readonly component: string;
  readonly program: string;
  readonly cwd: string;
  readonly pieces: Pieces;
  holding?: NodeJS.Timeout | undefined;
  running?: RunningProcess;
  paused: boolean;
  /** The message that started it was rolled back: nothing of it is told any more. */
  disowned: boolean;
}

export const openProcessCapability = (ports: ProcessPorts): ProcessCapability => {
  const owned = new Map<string, Owned>();
  const ended = new Map<string, string>();
  const unsettled = new Map<string, Owned[]>();
  let silent = false;
  const terminals = openTerminals({
    processes: ports.processes,
    policy: ports.policy,
    env: ports.env,
    redact: ports.redact,
    newId: ports.newId,
    ended: ({ component, process }, terminal, { code, signal }) => {
      if (silent) return;
      const told = {
        terminal,
        ...(code === null ? {} : { code }),
        ...(signal === null ? {} : { signal }),
      };
      ports.tell(component, 'station.terminal.exited', told, process);
    },
  });
  // An event is one message for all who hear it: what each of them started is its own.
  const handling = (component: string, message: string) => `${component} ${message}`;
  const forget = (one: Owned) => {
    owned.delete(one.id);
    ended.set(one.id, one.component);
    const [oldest] = ended.keys();
    if (ended.size > mostEnded && oldest !== undefined) ended.delete(oldest);
  };
  const ownedBy = (component: string) => [...owned.values()].filter((one) => one.component === component);

  const disown = (one: Owned) => {
    one.disowned = true;
    void end(one);
  };
  /** With everything that runs for it. */
  const end = async (one: Owned): Promise<void> => {
    await Promise.all([one.running?.end(), terminals.endOf(one.id)]);
  };

  const refuseIfCrowded = (one: Owned) => {
    if (ports.hasRoom(one.component, one.id)) return;
    one.paused = true;
    one.running?.pause();
  };

  const tellLines = (one: Owned, lines: readonly string[]) => {
    if (one.disowned || silent) return;
    for (const line of lines)
      ports.tell(one.component, 'station.process.line', { process: one.id, line }, one.id);
  };

  const onLines = (one: Owned, lines: readonly string[], stream: 'stdout' | 'stderr') => {
    if (one.disowned) return;
    if (stream === 'stderr') {
      for (const line of lines)
        ports.log(one.component, 'info', `${one.program}: ${ports.redact(line).slice(0, stderrUnits)}`);
      return;
    }
    for (const line of lines) tellLines(one, one.pieces.push(line));
    clearTimeout(one.holding);
    one.holding = one.pieces.isHolding()
      ? setTimeout(() => tellLines(one, one.pieces.rest()), holdMs).unref()
      : undefined;
    refuseIfCrowded(one);
  };

  const start = async (one: Owned, cwd: string): Promise<Problem | undefined> => {
    const policy = ports.policy();
    const program = policy.programs.get(one.program);
    if (program === undefined) {
      return problem('process/program-unknown', {
        subject: one.program,
        message: `The program ${JSON.stringify(one.program)} is not in the policy.`,
        evidence:
          policy.problems.length > 0
            ? 'the policy cannot be read'
            : `known: ${[...policy.programs.keys()].join(', ') || 'none'}`,
      });
    }
    if (program.trust !== 'full') return problem('process/not-trusted', { subject: one.program });
    const env = Object.fromEntries(
      program.inherit.flatMap((name) => {
        const value = ports.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const started = await ports.processes.start({
      alias: one.program,
      command: program.command,
      args: program.args,
      cwd,
      env,
      onLines: (lines, stream) => onLines(one, lines, stream),
      onExit: (exit) => {
        // What ran for it is gone before anybody hears that it is.
        const over = terminals.endOf(one.id);
        clearTimeout(one.holding);
        tellLines(one, one.pieces.rest());
        forget(one);
        if (one.disowned || silent) return;
        const ended = {
          process: one.id,
          ...(exit.code === null ? {} : { code: exit.code }),
          ...(exit.signal === null ? {} : { signal: exit.signal }),
          ...(exit.problem === undefined ? {} : { reason: `${exit.problem.code}: ${exit.problem.message}` }),
        };
        const tell = () => silent || ports.tell(one.component, 'station.process.exited', ended, one.id);
        if (over === undefined) tell();
        else void over.then(tell);
      },
    });
    if (!started.ok) return started.problem;
    one.running = started.value;
    return undefined;
  };

  return {
    spawn: async (component, message, program, cwd) => {
      if (ownedBy(component).length >= mostProcesses) {
        return {
          ok: false,
          problem: problem('process/too-many', { subject: component, evidence: `${mostProcesses}` }),
        };
      }
      const id = ports.newId();
      const one: Owned = {
        id,
        component,
        program,
        cwd,
        pieces: ports.pieces(id),
        paused: false,
        disowned: false,
      };
      owned.set(id, one);
      const key = handling(component, message);
      unsettled.set(key, [...(unsettled.get(key) ?? []), one]);
      const refused = await start(one, cwd);
      if (refused !== undefined) {
        owned.delete(one.id);
        return { ok: false, problem: refused };
      }
      // The message may have been rolled back while the child was starting.
      if (one.disowned) void end(one);
      return { ok: true, value: one.id };
    },
    settleSpawns: (component, message, kept) => {
      const key = handling(component, message);
      if (!kept) for (const one of unsettled.get(key) ?? []) disown(one);
      unsettled.delete(key);
      terminals.settle(component, message, kept);
    },
    terminals,
    runs: (component, process) => {
      const one = owned.get(process);
      return one?.component === component ? { program: one.program, cwd: one.cwd } : undefined;
    },
    owns: (component, process) =>
      terminals.owns(component, process) ||
      (owned.get(process)?.component ?? ended.get(process)) === component,
    write: (_component, process, text) => void owned.get(process)?.running?.write(text),
    kill: (_component, process) => {
      const one = owned.get(process);
      if (one === undefined) terminals.kill(process);
      else void end(one);
    },
    release: (_component, terminal) => terminals.release(terminal),
    eased: () => {
      for (const one of owned.values()) {
        if (!one.paused || !ports.hasRoom(one.component, one.id)) continue;
        one.paused = false;
        one.running?.resume();
      }
    },
    silence: () => {
      silent = true;
    },
    endAllOf: async (component) => {
      const mine = ownedBy(component);
      for (const one of mine) one.disowned = true;
      await Promise.all(mine.map(end));
    },
  };
};
