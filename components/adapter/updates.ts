/**
 * ACP's `session/update` as what the topics say. Agents leave out what they may, send null where they should send
 * nothing, and invent kinds: what is there is taken, the rest is left out, and a kind nobody knows becomes a note of
 * its own instead of disappearing.
 */
import type { FirstParty } from '../guest/index.ts';
import { bounded } from '../guest/problems.ts';
import { type Announced, commandsIn, modeIn, optionsIn } from './announced.ts';
import { blockData, blockText, cutText, outputText, partsText, textOf, toolData } from './blocks.ts';
import { isRecord } from './frames.ts';
import { reports } from './usage.ts';

type Fields = Readonly<Record<string, unknown>>;
type UpdateEvent = FirstParty['bearpunch.agents.update']['event'];
export type Update = Omit<UpdateEvent, 'session' | 'turn' | 'server'>;
export type Read =
  | { readonly as: 'update'; readonly update: Update }
  /** `update` is what the transcript says of it. */
  | { readonly as: 'usage'; readonly usage: Fields; readonly update: Update }
  | { readonly as: 'announced'; readonly announced: Announced }
  /** Undefined: nothing said of the title; null: taken back. */
  | { readonly as: 'titled'; readonly title: string | null }
  /** Belongs to the agent's own bookkeeping: logged. */
  | { readonly as: 'quiet'; readonly kind: string }
  | { readonly as: 'malformed'; readonly reason: string };

const idUnits = 500;
const titleUnits = 4_000;
const noteUnits = 2_000;
const planEntriesKept = 100;
/** Larger figures, or updates of unknown kinds, are kept as text alone, UTF-16 units of JSON. */
const dataUnits = 16_384;

const states = new Set(['pending', 'in_progress', 'completed', 'failed']);
const sessionTitleUnits = 500;

const fitting = (data: Fields): { data?: Record<string, unknown> } =>
  JSON.stringify(data).length <= dataUnits ? { data: { ...data } } : {};

export const toolUpdate = (update: Fields): Update => {
  const content = partsText(update.content);
  const { status } = update;
  const title = textOf(update.title);
  const data = toolData(update);
  return {
    role: 'tool',
    ...(typeof update.toolCallId === 'string' || typeof update.toolCallId === 'number'
      ? { id: bounded(String(update.toolCallId), idUnits) }
      : {}),
    ...(typeof status === 'string' && states.has(status)
      ? { state: status as NonNullable<Update['state']> }
      : {}),
    ...(title === undefined || title === '' ? {} : { title: bounded(title, titleUnits) }),
    text: cutText(content === '' ? outputText(update.rawOutput) : content),
    ...(data === undefined ? {} : { data }),
  };
};

const planUpdate = (value: unknown): Update => {
  const entries = (Array.isArray(value) ? value : [])
    .filter(isRecord)
    .slice(0, planEntriesKept)
    .map(({ content, status, priority }) => ({
      content: bounded(textOf(content) ?? '', titleUnits),
      status: bounded(textOf(status) ?? 'pending', 100),
      ...(typeof priority === 'string' ? { priority: bounded(priority, 100) } : {}),
    }));
  const text = entries.map(({ status, content }) => `[${status}] ${content}`).join('\n');
  return { role: 'plan', text: cutText(text), data: { entries } };
};

/** A number, also where an agent sends it as text. */
const isFigure = (value: unknown): value is number | string =>
  typeof value === 'number' ||
  (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)));

/** Figures in words: those of the protocol first, anything else by its name. */
const usageText = ({ used, size, cost, ...others }: Fields): string =>
  [
    ...(isFigure(used) ? [`context ${used}${isFigure(size) ? ` of ${size}` : ''} tokens`] : []),
    ...(isRecord(cost) && isFigure(cost.amount)
      ? [`cost ${cost.amount} ${textOf(cost.currency) ?? ''}`.trim()]
      : []),
    ...Object.entries(others)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  ].join(', ');

const chunk = (role: Update['role'], update: Fields): Read => {
  const data = blockData(update.content);
  return {
    as: 'update',
    update: {
      role,
      ...(typeof update.messageId === 'string' ? { id: bounded(update.messageId, idUnits) } : {}),
      text: cutText(blockText(update.content)),
      ...(data === undefined ? {} : { data: { ...data } }),
    },
  };
};

const announcedOr = (kind: string, announced: Announced): Read =>
  Object.keys(announced).length === 0
    ? { as: 'malformed', reason: `${kind} names nothing` }
    : { as: 'announced', announced };

/** What the `update` of a `session/update` says. */
export const readUpdate = (update: unknown): Read => {
  if (!isRecord(update)) return { as: 'malformed', reason: 'the update is not an object' };
  const kind = update.sessionUpdate;
  if (typeof kind !== 'string') return { as: 'malformed', reason: 'the update names no kind' };
  switch (kind) {
    case 'agent_message_chunk':
      return chunk('agent', update);
    case 'agent_thought_chunk':
      return chunk('thought', update);
    case 'user_message_chunk':
      return chunk('user', update);
    case 'tool_call':
    case 'tool_call_update':
      return { as: 'update', update: toolUpdate(update) };
    case 'plan':
      return { as: 'update', update: planUpdate(update.entries) };
    case 'usage_update': {
      const { sessionUpdate: _kind, _meta, ...usage } = update;
      if (!reports(usage)) return { as: 'quiet', kind };
      return {
        as: 'usage',
        usage,
        update: { role: 'usage', text: bounded(usageText(usage), noteUnits), ...fitting(usage) },
      };
    }
    case 'available_commands_update':
      return announcedOr(kind, commandsIn(update.availableCommands));
    case 'current_mode_update':
      return announcedOr(kind, modeIn({ currentModeId: update.currentModeId ?? update.modeId }));
    case 'config_option_update':
      return announcedOr(kind, optionsIn(update.configOptions));
    case 'session_info_update': {
      const title = textOf(update.title)?.trim();
      if (update.title !== null && title === undefined) return { as: 'quiet', kind };
      return { as: 'titled', title: title ? bounded(title, sessionTitleUnits) : null };
    }
    default:
      return {
        as: 'update',
        update: {
          role: 'note',
          text: bounded(JSON.stringify(update), noteUnits),
          ...fitting({ update }),
        },
      };
  }
};
