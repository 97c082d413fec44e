/**
 * What an entry is started or called with. `${NAME}` is read at use and must be set: a server is never given the
 * literal, nor an empty token. A program gets the few variables every program has, the names it may inherit, and what
 * its entry sets; nothing else of the station's environment.
 */
import { variableReferences } from '../../policy/index.ts';
import { failed, ok, type Problem, problem, type Result } from '../../problems/index.ts';
import type { ServerEntry } from './edge.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Without these most programs do not find their tools, their settings or the operator's language. */
const everyProgram =
  process.platform === 'win32'
    ? 'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR'.split(
        ' ',
      )
    : 'HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TMPDIR TZ USER'.split(' ');

const unset = (entry: ServerEntry, name: string, where: string): Problem =>
  problem('connections/variable-unset', { subject: entry.name, evidence: `${name}, named by ${where}` });

export const filled = (entry: ServerEntry, text: string, where: string, env: Env): Result<string> => {
  let missing: string | undefined;
  const value = text.replaceAll(variableReferences, (_whole, name: string) => {
    const found = env[name] ?? '';
    if (found === '') missing ??= name;
    return found;
  });
  return missing === undefined ? ok(value) : failed(unset(entry, missing, where));
};

const filledTable = (
  entry: ServerEntry,
  table: Readonly<Record<string, string>>,
  where: string,
  env: Env,
): Result<Record<string, string>> => {
  const out: Record<string, string> = {};
  for (const [name, text] of Object.entries(table)) {
    const value = filled(entry, text, `${where} ${name}`, env);
    if (!value.ok) return value;
    out[name] = value.value;
  }
  return ok(out);
};

type Stdio = Extract<ServerEntry['transport'], { type: 'stdio' }>;
type Http = Extract<ServerEntry['transport'], { type: 'http' }>;

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

export const launchOf = (entry: ServerEntry, transport: Stdio, env: Env): Result<Launch> => {
  const command = filled(entry, transport.command, 'its command', env);
  if (!command.ok) return command;
  const args: string[] = [];
  for (const text of transport.args) {
    const value = filled(entry, text, 'its arguments', env);
    if (!value.ok) return value;
    args.push(value.value);
  }
  const own = filledTable(entry, transport.env, 'env', env);
  if (!own.ok) return own;
  const cwd = transport.cwd === undefined ? undefined : filled(entry, transport.cwd, 'its cwd', env);
  if (cwd?.ok === false) return cwd;
  const inherited: Record<string, string> = {};
  for (const name of [...everyProgram, ...(transport.inherit ?? [])]) {
    const value = env[name];
    if (value !== undefined) inherited[name] = value;
  }
  return ok({ command: command.value, args, cwd: cwd?.value, env: { ...inherited, ...own.value } });
};

/** What `fetch` takes as the value of a header. */
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

export const headersOf = (
  entry: ServerEntry,
  transport: Http,
  env: Env,
): Result<Readonly<Record<string, string>>> => {
  const headers = filledTable(entry, transport.headers, 'header', env);
  if (!headers.ok) return headers;
  if (entry.bearer !== undefined) {
    const token = env[entry.bearer] ?? '';
    if (token === '') return failed(unset(entry, entry.bearer, 'its bearer'));
    headers.value['Authorization'] = `Bearer ${token}`;
  }
  for (const [name, value] of Object.entries(headers.value))
    if (!headerValue.test(value))
      return failed(
        problem('connections/variable-unfit', { subject: entry.name, evidence: `header ${name}` }),
      );
  return headers;
};

export const urlOf = (entry: ServerEntry, transport: Http, env: Env): Result<URL> => {
  const text = filled(entry, transport.url, 'its url', env);
  if (!text.ok) return text;
  const url = URL.parse(text.value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return failed(
      problem('connections/bad-url', { subject: entry.name, evidence: `written as ${transport.url}` }),
    );
  return ok(url);
};
