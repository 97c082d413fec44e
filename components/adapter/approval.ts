/**
 * How the approval setting reaches the agent. Whoever answers, the agent has to ask first: it is put into the mode in
 * which it asks, where it offers one that is known to. Where it offers none, the record says that it decides by
 * itself what it asks about.
 */
import { type Modes, modesOf } from './announced.ts';
import { textOf } from './blocks.ts';
import { isRecord } from './frames.ts';

type Approve = 'manual' | 'auto' | 'workspace';

/**
 * Modes that ask, in the order of choice, as the agents describe them: `default` of Claude ("always ask"), Gemini
 * and Qwen; `read-only` of Codex asks before every edit, its `workspace-write` before what leaves the workspace.
 */
const asking: Readonly<Record<Approve, readonly string[]>> = {
  manual: ['default', 'read-only'],
  auto: ['default', 'read-only'],
  workspace: ['default', 'workspace-write', 'read-only'],
};
/** Options that switch asking off altogether, and the value that does not. */
const allowAll = new Map([['allow_all', 'off']]);

export interface Step {
  readonly method: 'session/set_mode' | 'session/set_config_option';
  readonly params: Readonly<Record<string, string>>;
}
export interface Handing {
  /** What is to be sent; nothing where the agent is so already. */
  readonly steps: readonly Step[];
  /** For the record. */
  readonly text: string;
}

interface Choice extends Modes {
  /** The option the modes are the values of; undefined where they are modes of the protocol. */
  readonly option?: string;
}

const records = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** The modes an answer to `session/new` offers: as an option, else the older way. */
const offeredModes = (session: Readonly<Record<string, unknown>>): Choice | undefined => {
  const option = records(session.configOptions).find(({ category }) => category === 'mode');
  const id = textOf(option?.id);
  const current = textOf(option?.currentValue);
  if (id === undefined || current === undefined) return modesOf(session.modes);
  const available = records(option?.options).flatMap(({ value, name, description }) =>
    typeof value === 'string'
      ? [{ id: value, name: textOf(name) ?? value, description: textOf(description) ?? '' }]
      : [],
  );
  return { option: id, current, available };
};

const allowAllSteps = (session: Readonly<Record<string, unknown>>): Step[] =>
  records(session.configOptions).flatMap(({ id, currentValue }) => {
    const wanted = allowAll.get(textOf(id) ?? '');
    return wanted === undefined || currentValue === wanted
      ? []
      : [{ method: 'session/set_config_option', params: { configId: String(id), value: wanted } }];
  });

export const handApproval = (approve: Approve, session: Readonly<Record<string, unknown>>): Handing => {
  const steps = allowAllSteps(session);
  const off = steps.length === 0 ? '' : '; its option to allow everything is switched off';
  const modes = offeredModes(session);
  if (modes === undefined)
    return {
      steps,
      text: `approval ${approve}: the agent offers no modes and decides by itself what it asks${off}`,
    };
  const wanted = asking[approve]
    .map((id) => modes.available.find((mode) => mode.id === id))
    .find((mode) => mode !== undefined);
  if (wanted === undefined) {
    const names = modes.available.map(({ id }) => id).join(', ');
    return {
      steps,
      text: `approval ${approve}: none of the agent's modes (${names}) is known to ask; it stays in ${modes.current} and decides by itself what it asks${off}`,
    };
  }
  const { id, description } = wanted;
  const set: Step =
    modes.option === undefined
      ? { method: 'session/set_mode', params: { modeId: id } }
      : { method: 'session/set_config_option', params: { configId: modes.option, value: id } };
  return {
    steps: modes.current === id ? steps : [...steps, set],
    text: `approval ${approve}: the agent is in its mode ${id}${description === '' ? '' : ` (${description})`}${off}`,
  };
};
