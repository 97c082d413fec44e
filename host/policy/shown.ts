/**
 * The text of a policy as it may be shown: values under `env` and `headers` of an entry of `mcpServers` may be secrets
 * somebody wrote down, so that only their names and the variables they refer to are left. Everything else stays as it is.
 */
import { references } from './mcp-entry.ts';
import { readTree, walk } from './tree.ts';

const hidden = '…';

/** `Bearer ${TOKEN}` → `…${TOKEN}` */
const shownValue = (value: string): string =>
  value
    .split(new RegExp(`(${references.source.replace('(', '(?:')})`))
    .map((part, at) => (at % 2 === 1 || part === '' ? part : hidden))
    .join('');

export const shownPolicy = (text: string): string => {
  const { root } = readTree(text);
  if (root === undefined) return text;
  const edits: { readonly offset: number; readonly length: number; readonly text: string }[] = [];
  walk(root, (path, value) => {
    const [section, , table] = path;
    if (section !== 'mcpServers' || path.length !== 4 || (table !== 'env' && table !== 'headers')) return;
    // A value that is no text is wrong, and may be a secret all the same.
    const shown = typeof value.value === 'string' ? shownValue(value.value) : hidden;
    edits.push({ offset: value.offset, length: value.length, text: JSON.stringify(shown) });
  });
  return edits
    .sort((a, b) => b.offset - a.offset)
    .reduce(
      (shown, edit) => shown.slice(0, edit.offset) + edit.text + shown.slice(edit.offset + edit.length),
      text,
    );
};
