/**
 * What of the entries must never be shown: the values of variables they refer to, and texts somebody wrote into them
 * instead. Values under `headers` are all taken for secrets; of `env`, options and queries those whose name or form says so, since
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
/** For texts without a name beside them, where packages, versions and dates stand too. */
const looksDrawn = (value: string): boolean =>
  value.length >= 20 &&
  /^[\w.~-]+$/.test(value) &&
  value.split(/[._~-]/).some((part) => /[A-Za-z]/.test(part) && (part.match(/\d/g) ?? []).length >= 3);
const hasPassword = /:\/\/[^/\s:@]*:([^/\s@]+)@/;
const plainHeader = /^(accept|accept-language|content-type|user-agent|host)$/i;
const scheme = /^(?:bearer|basic|token|apikey|digest)\s+/i;

/** The texts between references, which are no variable's. */
const ownTexts = (text: string): readonly string[] =>
  text.split(new RegExp(variableReferences.source)).filter((_part, at) => at % 2 === 0);

/** `Authorization: Bearer VALUE`, as programs that pass on to an address take it, alone or behind `--header=`. */
const headerIn = (arg: string): readonly [name: string, value: string] | undefined => {
  const [, name, value] = /^(?:-[^=\s]{0,64}=)?([A-Za-z][\w-]{0,64}):\s*(?!\/\/)(\S.*)$/s.exec(arg) ?? [];
  return name === undefined || value === undefined || !secretName.test(name)
    ? undefined
    : [name, value.replace(scheme, '')];
};

/** `--api-key=VALUE`, `TOKEN=VALUE`, a header, and `--api-key VALUE` in two arguments. */
const optionsOf = (args: readonly string[]): readonly (readonly [name: string, value: string])[] =>
  args.flatMap((arg, at) => {
    const header = headerIn(arg);
    if (header !== undefined) return [header];
    const [, name, value] = /^([^=\s]{1,64})=(.+)$/s.exec(arg) ?? [];
    if (name !== undefined && value !== undefined) return [[name, value] as const];
    const before = args[at - 1] ?? '';
    return /^--?[A-Za-z][\w-]*$/.test(before) && !arg.startsWith('-')
      ? [[before, arg] as const]
      : [['', arg] as const];
  });

/** The query of a URL as it is written, and the parts of its path. */
const partsOf = (url: string): readonly (readonly [name: string, value: string])[] => {
  const [place = '', query = ''] = url.replace(/#.*$/s, '').split(/\?(.*)/s);
  return [
    ...query.split('&').map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      return [name, value] as const;
    }),
    ...place
      .split('/')
      .slice(3)
      .map((part) => ['', part] as const),
  ];
};

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
  const keepNamed = (label: string, pairs: readonly (readonly [name: string, value: string])[]): void => {
    for (const [named, value] of pairs) {
      const password = hasPassword.exec(value)?.[1];
      if (password !== undefined && !password.startsWith('$')) keep(label, password);
      else if (named === '' ? looksDrawn(value) : secretName.test(named) || looksMade(value))
        for (const own of ownTexts(value)) keep(label, own);
    }
  };
  for (const { name, transport, bearer } of entries) {
    if (bearer !== undefined) names.add(bearer);
    if (transport === undefined) continue;
    if (transport.type === 'http') {
      refer(transport.url);
      keepNamed(`${name}.url`, partsOf(transport.url));
      for (const [header, text] of Object.entries(transport.headers)) {
        refer(text);
        if (plainHeader.test(header)) continue;
        for (const own of ownTexts(text.replace(scheme, ''))) keep(`${name}.headers.${header}`, own);
      }
      continue;
    }
    for (const text of [transport.command, transport.cwd ?? '', ...transport.args]) refer(text);
    keepNamed(`${name}.args`, optionsOf(transport.args));
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
