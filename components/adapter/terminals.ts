/**
 * `terminal/*`: commands that run for an agent in its workspace. Each belongs to the agent that asked for it; a request
 * that waits for its end is answered when the station tells it, also after it was released.
 */
import type { Exit } from '../guest/index.ts';
import { type Agent, enterTerminal, findByTerminal, type Host, leaveTerminal, save, send } from './agents.ts';
import { type Ask, refuseRequest, rpc, sentence, settle, tell, u32, who } from './asked.ts';
import { textOf } from './blocks.ts';
import { type FrameId, isRecord } from './frames.ts';

/** Requests of one agent that may wait for the end of one command. */
const mostWaits = 50;
const argumentsKept = 1_000;

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, argumentsKept) : [];
const variables = (value: unknown): { name: string; value: string }[] =>
  (Array.isArray(value) ? value : [])
    .filter(isRecord)
    .flatMap(({ name, value: text }) =>
      typeof name === 'string' && typeof text === 'string' ? [{ name, value: text }] : [],
    )
    .slice(0, argumentsKept);

export const createTerminal: Ask = (station, agent, params, id) => {
  const command = textOf(params.command);
  const bytes = u32(params.outputByteLimit);
  if (command === undefined || command === '' || bytes === undefined)
    return refuseRequest(station, agent, id, rpc.invalid, 'Expected command, and a whole number of bytes');
  const args = texts(params.args);
  const cwd = textOf(params.cwd);
  const created = station.terminals.create(who(agent), {
    command,
    args,
    env: variables(params.env),
    cwd,
    outputBytes: bytes.value,
  });
  const done = settle(station, agent, id, 'terminal/create', created, (terminalId) => ({ terminalId }));
  const line = [command, ...args].join(' ');
  const data = { method: 'terminal/create', command, args, ...(cwd === undefined ? {} : { cwd }) };
  const place = cwd === undefined ? '' : ` in ${cwd}`;
  if (done) {
    enterTerminal(station, agent, created.value);
    tell(station, agent, `terminal ${created.value}: ${line}${place}`, { ...data, terminal: created.value });
  } else if (!created.ok)
    tell(station, agent, `the agent ran ${line}${place}: refused: ${sentence(created.problem)}`, {
      ...data,
      refused: created.problem.code,
    });
};

const exitOf = ({ code, signal }: Exit) => ({ exitCode: code ?? null, signal: signal ?? null });

/** The terminal a request names, if this agent has it: another session's is none of its business. */
const withTerminal =
  (then: (station: Host, agent: Agent, terminal: string, id: FrameId) => void): Ask =>
  (station, agent, params, id) => {
    const terminal = textOf(params.terminalId) ?? '';
    const known = agent.terminals?.[terminal];
    if (known === undefined || known.released === true)
      refuseRequest(
        station,
        agent,
        id,
        rpc.missing,
        'The agent has no such terminal. (process/terminal-unknown)',
      );
    else then(station, agent, terminal, id);
  };

export const outputOf = withTerminal((station, agent, terminal, id) => {
  settle(station, agent, id, 'terminal/output', station.terminals.output(terminal), (output) => ({
    output: output.text,
    truncated: output.truncated,
    ...(output.exit === undefined ? {} : { exitStatus: exitOf(output.exit) }),
  }));
});

export const waitFor = withTerminal((station, agent, terminal, id) => {
  const now = station.terminals.output(terminal);
  const waits = agent.terminals?.[terminal]?.waits ?? [];
  if (now.ok && now.value.exit !== undefined) send(station, agent, { id, result: exitOf(now.value.exit) });
  else if (!now.ok) settle(station, agent, id, 'terminal/wait_for_exit', now, () => ({}));
  else if (waits.length >= mostWaits)
    refuseRequest(station, agent, id, rpc.internal, `${mostWaits} requests wait for this terminal already`);
  else {
    agent.terminals = { ...agent.terminals, [terminal]: { waits: [...waits, id] } };
    save(station, agent);
  }
});

export const endWith = (release: boolean) =>
  withTerminal((station, agent, terminal, id) => {
    if (release) station.terminals.release(terminal);
    else station.terminals.kill(terminal);
    send(station, agent, { id, result: {} });
    if (!release) return;
    const { waits = [], exited = false } = agent.terminals?.[terminal] ?? {};
    if (exited) leaveTerminal(station, agent, terminal);
    else {
      agent.terminals = { ...agent.terminals, [terminal]: { waits, released: true } };
      save(station, agent);
    }
  });

const exitText = ({ code, signal }: Exit): string =>
  typeof code === 'number' ? `exit code ${code}` : `signal ${signal ?? 'unknown'}`;

export const onTerminalExit = (station: Host, terminal: string, exit: Exit): void => {
  const agent = findByTerminal(station, terminal);
  const known = agent?.terminals?.[terminal];
  if (agent === undefined || known === undefined) return;
  for (const id of known.waits) send(station, agent, { id, result: exitOf(exit) });
  tell(station, agent, `terminal ${terminal}: ended with ${exitText(exit)}`, { terminal, ...exitOf(exit) });
  if (known.released === true) leaveTerminal(station, agent, terminal);
  else {
    agent.terminals = { ...agent.terminals, [terminal]: { waits: [], exited: true } };
    save(station, agent);
  }
};
