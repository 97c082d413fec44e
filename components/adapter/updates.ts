/**
 * ACP's `session/update` and permission requests as what the topics say. Agents leave out what they may, send null
 * where they should send nothing, and invent kinds: what is there is taken, the rest is left out, and a kind nobody
 * knows becomes a note of its own instead of disappearing.
 */
import type { FirstParty } from '../guest/index.ts';
import { bounded } from '../guest/problems.ts';
import { isRecord } from './frames.ts';

type UpdateEvent = FirstParty['bearpunch.agents.update']['event'];
export type Update = Omit<UpdateEvent, 'session' | 'turn'>;
export type Read =
  | { readonly as: 'update'; readonly update: Update }
  /** Belongs to the agent's own bookkeeping: logged. */
  | { readonly as: 'quiet'; readonly kind: string }
  | { readonly as: 'usage'; readonly usage: Readonly<Record<string, unknown>> }
  | { readonly as: 'malformed'; readonly reason: string };

/** Longest text of one update, UTF-16 units; a longer one says how much is missing. */
export const textUnits = 262_144;
const idUnits = 500;
const titleUnits = 4_000;
const noteUnits = 2_000;

const states = new Set(['pending', 'in_progress', 'completed', 'failed']);
const quiet = new Set([
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
]);

const cutText = (text: string): string =>
  text.length <= textUnits
    ? text
    : `${text.slice(0, textUnits)}\n[cut: ${text.length - textUnits} of ${text.length} characters]`.toWellFormed();

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A content block in words. */
const blockText = (block: unknown): string => {
  if (!isRecord(block)) return textOf(block) ?? '';
  switch (block.type) {
    case 'text':
      return textOf(block.text) ?? '';
    case 'resource_link':
      return `[${textOf(block.name) ?? 'resource'}](${textOf(block.uri) ?? ''})`;
    case 'resource': {
      const resource = isRecord(block.resource) ? block.resource : {};
      return textOf(resource.text) ?? `[resource ${textOf(resource.uri) ?? ''}]`;
    }
    default:
      return textOf(block.text) ?? `[${textOf(block.type) ?? 'content'}]`;
  }
};

const toolPart = (part: unknown): string => {
  if (!isRecord(part)) return textOf(part) ?? '';
  if (part.type === 'content') return blockText(part.content);
  if (part.type === 'diff') return `[changed ${textOf(part.path) ?? 'a file'}]`;
  if (part.type === 'terminal') return `[terminal ${textOf(part.terminalId) ?? ''}]`;
  return blockText(part);
};

const partsText = (parts: unknown): string =>
  Array.isArray(parts)
    ? parts
        .map(toolPart)
        .filter((text) => text !== '')
        .join('\n')
    : '';

/** `rawOutput` in the forms agents were seen to use; only read where the update has no content. */
const outputText = (raw: unknown): string => {
  if (typeof raw === 'string') return raw;
  if (Array.isArray(raw)) return partsText(raw);
  if (!isRecord(raw)) return '';
  const inner = raw.output ?? raw.content ?? (isRecord(raw.result) ? raw.result.content : undefined);
  return inner === undefined || inner === null ? '' : outputText(inner);
};

const toolUpdate = (update: Readonly<Record<string, unknown>>): Update => {
  const content = partsText(update.content);
  const { status } = update;
  const title = textOf(update.title);
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
  };
};

const planText = (entries: unknown): string =>
  Array.isArray(entries)
    ? entries
        .filter(isRecord)
        .map((entry) => `[${textOf(entry.status) ?? 'pending'}] ${textOf(entry.content) ?? ''}`)
        .join('\n')
    : '';

const chunk = (role: Update['role'], update: Readonly<Record<string, unknown>>): Read => ({
  as: 'update',
  update: {
    role,
    ...(typeof update.messageId === 'string' ? { id: bounded(update.messageId, idUnits) } : {}),
    text: cutText(blockText(update.content)),
  },
});

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
      return { as: 'update', update: { role: 'plan', text: cutText(planText(update.entries)) } };
    case 'usage_update': {
      const { sessionUpdate: _kind, _meta, ...usage } = update;
      return { as: 'usage', usage };
    }
    default:
      return quiet.has(kind)
        ? { as: 'quiet', kind }
        : { as: 'update', update: { role: 'note', text: bounded(JSON.stringify(update), noteUnits) } };
  }
};

export type Option = FirstParty['bearpunch.agents.permission']['event']['options'][number];
export interface Asked {
  readonly tool?: string;
  readonly title?: string;
  readonly options: Option[];
  /** What the request tells of the tool call: some agents announce it nowhere else. */
  readonly update?: Update;
}
/** Options kept of one request, as the topic allows. */
const optionsKept = 50;

export const readPermission = (params: Readonly<Record<string, unknown>>): Asked => {
  const call = isRecord(params.toolCall) ? params.toolCall : {};
  const update = toolUpdate(call);
  const options = Array.isArray(params.options) ? params.options : [];
  return {
    ...(update.id === undefined ? {} : { tool: update.id, update }),
    ...(update.title === undefined ? {} : { title: update.title }),
    options: options
      .filter(isRecord)
      .filter((option) => typeof option.optionId === 'string')
      .slice(0, optionsKept)
      .map((option) => ({
        id: String(option.optionId),
        kind: textOf(option.kind) ?? '',
        name: bounded(textOf(option.name) ?? String(option.optionId), titleUnits),
      })),
  };
};

/** The option to choose, by kind and never by its ID: once before always. Undefined where none fits. */
export const optionFor = (options: readonly Option[], allow: boolean): string | undefined => {
  const kinds = allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return found.id;
  }
  return undefined;
};

/**
 * A turn's usage as the agent reported it: in the result, else in the last `usage_update` of the turn, else in the
 * result's `_meta.quota`. Undefined is "not reported", which is not zero.
 */
export const reportedUsage = (
  result: unknown,
  lastUpdate: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined => {
  if (!isRecord(result)) return lastUpdate;
  if (isRecord(result.usage)) return result.usage;
  if (lastUpdate !== undefined) return lastUpdate;
  const quota = isRecord(result._meta) ? result._meta.quota : undefined;
  return isRecord(quota) ? quota : undefined;
};
