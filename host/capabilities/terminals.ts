/**
 * Commands that run for an agent: each belongs to one process of one component, in a group of its own, and is gone
 * when it is released, when that process ends, or when the message that asked for it is rolled back. Nothing is
 * written to it. Of its output the newest bytes are kept; they are read through redaction.
 */
import type { Policy } from '../policy/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { Processes, RunningProcess } from '../processes/index.ts';
import type { TerminalCommand } from '../sandbox/index.ts';
import { isPlainVariable } from '../state/index.ts';

/** Terminals one process may have, released ones not counted. */
const mostTerminals = 20;
/** Output kept of one, bytes; an agent may ask for less. */
const mostOutput = 256 * 1024;
/** Kept beyond that, so that a secret that is cut at the edge is still found, bytes. */
const margin = 16 * 1024;
/** Output read in one go before the others get their turn, bytes, and the time they get, ms. */
const burstBytes = 1024 * 1024;
const restMs = 10;

export interface TerminalOwner {
  readonly component: string;
  readonly message: string;
  /** The process it belongs to, and that one's program: its plain variables are inherited. */
  readonly process: string;
  readonly program: string;
}
export interface TerminalExit {
  readonly code: number | null;
  readonly signal: string | null;
}
export interface TerminalOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly exit: TerminalExit | null;
}

export interface Terminals {
  readonly create: (owner: TerminalOwner, command: TerminalCommand, cwd: string) => Promise<Result<string>>;
  readonly output: (component: string, terminal: string) => Result<TerminalOutput>;
  readonly owns: (component: string, terminal: string) => boolean;
  readonly kill: (terminal: string) => void;
  readonly release: (terminal: string) => void;
  readonly settle: (component: string, message: string, kept: boolean) => void;
  /** Ends those of one process; resolves when they are gone. Undefined where it has none. */
  readonly endOf: (process: string) => Promise<void> | undefined;
}

export interface TerminalPorts {
  readonly processes: Processes;
  readonly policy: () => Policy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
  /** Told once it has ended, in the flow of the process it belongs to. */
  readonly ended: (owner: TerminalOwner, terminal: string, exit: TerminalExit) => void;
  readonly newId: () => string;
}

/** The newest bytes of what was added, as text. */
const openTail = (most: number, redact: (text: string) => string) => {
  let pieces: Buffer[] = [];
  let held = 0;
  let dropped = false;
  return {
    add: (bytes: Buffer): void => {
      pieces.push(bytes);
      held += bytes.length;
      // Made one when it has grown to twice what is kept: each byte is copied once at most.
      if (held <= 2 * (most + margin)) return;
      const whole = Buffer.concat(pieces);
      pieces = [Buffer.from(whole.subarray(whole.length - most - margin))];
      held = most + margin;
      dropped = true;
    },
    read: (): { readonly text: string; readonly truncated: boolean } => {
      const whole = Buffer.concat(pieces);
      // A character that is not whole yet is held back.
      const clean = Buffer.from(redact(new TextDecoder().decode(whole, { stream: true })));
      let start = Math.max(0, clean.length - most);
      if (start > 0 || dropped) while (((clean[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return { text: clean.toString('utf8', start), truncated: dropped || start > 0 };
    },
  };
};

interface Terminal {
  readonly id: string;
  readonly owner: TerminalOwner;
  readonly tail: ReturnType<typeof openTail>;
  running?: RunningProcess;
  exit?: TerminalExit;
  released: boolean;
  disowned: boolean;
}

export const openTerminals = (ports: TerminalPorts): Terminals => {
  const known = new Map<string, Terminal>();
  const unsettled = new Map<string, Terminal[]>();
  const handling = (component: string, message: string) => `${component} ${message}`;
  const of = (process: string) => [...known.values()].filter((one) => one.owner.process === process);

  const forgetIfDone = (one: Terminal): void => {
    if (one.exit !== undefined && (one.released || one.disowned)) known.delete(one.id);
  };
  const end = async (one: Terminal): Promise<void> => {
    await one.running?.end();
  };
  const disown = (one: Terminal): Promise<void> => {
    one.disowned = true;
    forgetIfDone(one);
    return end(one);
  };

  const environment = (program: string, { env }: TerminalCommand): Record<string, string> => {
    const inherited = ports.policy().programs.get(program)?.inherit ?? [];
    return Object.fromEntries([
      ...inherited.filter(isPlainVariable).flatMap((name) => {
        const value = ports.env[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
      ...env.map(({ name, value }) => [name, value] as const),
    ]);
  };

  /** Reads in bursts: a command that prints without end must not keep the station from everything else. */
  const paced = (one: Terminal) => {
    let read = 0;
    let since = performance.now();
    return (bytes: Buffer): void => {
      one.tail.add(bytes);
      const now = performance.now();
      if (now - since > restMs) [read, since] = [0, now];
      read += bytes.length;
      if (read < burstBytes) return;
      one.running?.pause();
      setTimeout(() => one.running?.resume(), restMs).unref();
    };
  };

  const start = async (one: Terminal, command: TerminalCommand, cwd: string): Promise<Result<void>> => {
    const started = await ports.processes.start({
      alias: command.command.slice(0, 200),
      command: command.command,
      args: command.args,
      cwd,
      env: environment(one.owner.program, command),
      onLines: () => {},
      onBytes: paced(one),
      onExit: ({ code, signal }) => {
        one.exit = { code, signal };
        forgetIfDone(one);
        if (!one.disowned) ports.ended(one.owner, one.id, one.exit);
      },
    });
    if (!started.ok) return started;
    one.running = started.value;
    return ok(undefined);
  };

  return {
    create: async (owner, command, cwd) => {
      if (of(owner.process).filter(({ released }) => !released).length >= mostTerminals)
        return refuse('process/too-many-terminals', { subject: owner.program, evidence: `${mostTerminals}` });
      const most = Math.min(command.outputBytes ?? mostOutput, mostOutput);
      const tail = openTail(most, ports.redact);
      const one: Terminal = { id: ports.newId(), owner, tail, released: false, disowned: false };
      known.set(one.id, one);
      const key = handling(owner.component, owner.message);
      unsettled.set(key, [...(unsettled.get(key) ?? []), one]);
      const started = await start(one, command, cwd);
      if (!started.ok) {
        known.delete(one.id);
        return started;
      }
      // Rolled back, or its process ended, while it was starting.
      if (one.disowned) void end(one);
      return ok(one.id);
    },
    output: (component, terminal) => {
      const one = known.get(terminal);
      if (one === undefined || one.released || one.owner.component !== component)
        return refuse('process/terminal-unknown', { subject: terminal });
      return ok({ ...one.tail.read(), exit: one.exit ?? null });
    },
    owns: (component, terminal) => known.get(terminal)?.owner.component === component,
    kill: (terminal) => {
      const one = known.get(terminal);
      if (one !== undefined) void end(one);
    },
    release: (terminal) => {
      const one = known.get(terminal);
      if (one === undefined) return;
      one.released = true;
      forgetIfDone(one);
      void end(one);
    },
    settle: (component, message, kept) => {
      const key = handling(component, message);
      if (!kept) for (const one of unsettled.get(key) ?? []) void disown(one);
      unsettled.delete(key);
    },
    endOf: (process) => {
      const its = of(process);
      return its.length === 0 ? undefined : Promise.all(its.map(disown)).then(() => undefined);
    },
  };
};
