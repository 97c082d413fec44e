/** What an agent says it offers: slash commands, modes, options. Within the bounds of the topic. */
import type { FirstParty } from '../guest/index.ts';
import { bounded } from '../guest/problems.ts';
import { textOf } from './blocks.ts';
import { isRecord } from './frames.ts';

export type Announced = Omit<FirstParty['bearpunch.agents.announced']['event'], 'session'>;
export type Mode = NonNullable<Announced['mode']>;
export type SessionOption = NonNullable<Announced['options']>[number];

const commandsKept = 200;
const optionsKept = 50;
const valuesKept = 100;

const records = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

export const commandsIn = (value: unknown): Announced =>
  Array.isArray(value)
    ? {
        commands: records(value)
          .filter(({ name }) => typeof name === 'string' && name !== '')
          .slice(0, commandsKept)
          .map(({ name, description, input }) => {
            const hint = isRecord(input) ? textOf(input.hint) : undefined;
            return {
              name: bounded(String(name), 200),
              description: bounded(textOf(description) ?? '', 500),
              ...(hint === undefined ? {} : { hint: bounded(hint, 500) }),
            };
          }),
      }
    : {};

export interface Modes {
  readonly current: string;
  readonly available: readonly (Mode & { readonly description: string })[];
}
/** The `modes` of a session, where it has any. */
export const modesOf = (value: unknown): Modes | undefined => {
  if (!isRecord(value) || typeof value.currentModeId !== 'string') return undefined;
  return {
    current: value.currentModeId,
    available: records(value.availableModes)
      .filter(({ id }) => typeof id === 'string')
      .map(({ id, name, description }) => ({
        id: bounded(String(id), 500),
        name: bounded(textOf(name) ?? String(id), 500),
        description: bounded(textOf(description) ?? '', 300),
      })),
  };
};

export const modeIn = (value: unknown): Announced => {
  const modes = modesOf(value);
  if (modes === undefined) return {};
  const known = modes.available.find(({ id }) => id === modes.current);
  return { mode: { id: bounded(modes.current, 500), name: known?.name ?? bounded(modes.current, 500) } };
};

const optionIn = (option: Readonly<Record<string, unknown>>): SessionOption[] => {
  const { id, name, currentValue } = option;
  if (typeof id !== 'string' || currentValue === undefined || currentValue === null) return [];
  // Groups of values are told flat.
  const values = records(option.options).flatMap((each) =>
    Array.isArray(each.options) ? records(each.options) : [each],
  );
  return [
    {
      id: bounded(id, 200),
      name: bounded(textOf(name) ?? id, 500),
      value: bounded(String(currentValue), 1_000),
      values: values.slice(0, valuesKept).map(({ value }) => bounded(String(value), 1_000)),
    },
  ];
};

/** The options of a session; the one of the category `mode` is its mode as well. */
export const optionsIn = (value: unknown): Announced => {
  if (!Array.isArray(value)) return {};
  const mode = records(value).find(({ category }) => category === 'mode');
  const chosen = records(mode?.options).find((each) => each.value === mode?.currentValue);
  const id = textOf(mode?.currentValue);
  return {
    options: records(value).slice(0, optionsKept).flatMap(optionIn),
    ...(id === undefined
      ? {}
      : { mode: { id: bounded(id, 500), name: bounded(textOf(chosen?.name) ?? id, 500) } }),
  };
};
