/**
 * What of the entries must never be shown: the values of variables they refer to, and texts somebody wrote into them
 * instead. Values under `headers` are all taken for secrets; of `env` those whose name or form says so, since
 * `NODE_ENV=production` is none and would spoil every text that holds the word.
 */
import { variableReferences } from '../../policy/index.ts';
import type { ServerEntry } from './edge.ts';

export interface Secrets {
  /** NAMES of variables. */
  readonly names: ReadonlySet<string>;
  /** Value by what it is called where it is redacted: `probe.headers.X-Key`. */
  readonly literals: ReadonlyMap<string, string>;
}

/** Shorter ones would match ordinary words; the redactor leaves them too. */
const shortest = 6;
const secretName = /key|token|secret|passw|passphrase|pwd|auth|cred|bearer|cookie|private|signature|dsn/i;
/** Without spaces, and of more kinds of characters than words and paths have. */
const looksMade = (value: string): boolean =>
  value.length >= 16 &&
  /^[A-Za-z0-9+/_=.~-]+$/.test(value) &&
  /[0-9]/.test(value) &&
  /[A-Za-z]/.test(value) &&
  !value.includes('/');
const hasPassword = /:\/\/[^/\s:@]*:([^/\s@]+)@/;
const plainHeader = /^(accept|accept-language|content-type|user-agent|host)$/i;
const scheme = /^(?:bearer|basic|token|apikey|digest)\s+/i;

/** The texts between references, which are no variable's. */
const ownTexts = (text: string): readonly string[] =>
  text.split(new RegExp(variableReferences.source)).filter((_part, at) => at % 2 === 0);

export const secretsOf = (entries: readonly ServerEntry[]): Secrets => {
  const names = new Set<string>();
  const literals = new Map<string, string>();
  const refer = (text: string): void => {
    for (const [, name] of text.matchAll(variableReferences)) if (name !== undefined) names.add(name);
  };
  const keep = (label: string, value: string): void => {
    const text = value.trim();
    if (text.length < shortest || [...literals.values()].includes(text)) return;
    literals.set(literals.has(label) ? `${label} (${literals.size})` : label, text);
  };
  for (const { name, transport, bearer } of entries) {
    if (bearer !== undefined) names.add(bearer);
    if (transport === undefined) continue;
    if (transport.type === 'http') {
      refer(transport.url);
      for (const [header, text] of Object.entries(transport.headers)) {
        refer(text);
        if (plainHeader.test(header)) continue;
        for (const own of ownTexts(text.replace(scheme, ''))) keep(`${name}.headers.${header}`, own);
      }
      continue;
    }
    for (const text of [transport.command, transport.cwd ?? '', ...transport.args]) refer(text);
    for (const variable of transport.inherit ?? []) names.add(variable);
    for (const [variable, text] of Object.entries(transport.env)) {
      refer(text);
      const password = hasPassword.exec(text)?.[1];
      if (password !== undefined && !password.startsWith('$')) keep(`${name}.env.${variable}`, password);
      else if (secretName.test(variable) || looksMade(text))
        for (const own of ownTexts(text)) keep(`${name}.env.${variable}`, own);
    }
  }
  return { names, literals };
};
