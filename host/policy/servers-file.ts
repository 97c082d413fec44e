/**
 * The `mcpServers` and `disabledMcpServers` of a file that is not the policy: a project's settings, or servers for one
 * session. Each entry is judged for itself, so that a wrong one stops nothing but itself; other keys are not looked at.
 * Pure.
 */
import { type Problem, problem, type Result } from '../problems/index.ts';
import { evidenceFor, shapeProblems } from './faults.ts';
import { type McpEntry, mcpEntry, mcpEntryFaults, mcpEntryFrom, mcpServerName } from './mcp-entry.ts';
import { dotted, type Place, placer, plainValue, policyBytes, readTree, walk } from './tree.ts';

/** Most servers of one file. */
const mostServers = 256;

export interface NamedEntry {
  readonly name: string;
  /** `.jupiter/settings.jsonc:3:5` */
  readonly place: string;
  /** `connections/entry`, with what is wrong and where. */
  readonly entry: Result<McpEntry>;
}
export interface ServersFile {
  /** Undefined where the key is not there. */
  readonly servers: readonly NamedEntry[] | undefined;
  readonly disabled: ReadonlySet<string>;
  /** What is wrong with the file as a whole, and with `disabledMcpServers`: code `connections/file-unreadable`. */
  readonly problems: readonly Problem[];
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `file` as it is shown to people. */
export const readServersFile = (text: string, file: string): ServersFile => {
  const wrong = (evidence: string): Problem =>
    problem('connections/file-unreadable', { subject: file, evidence });
  const nothing = (problems: readonly Problem[]): ServersFile => ({
    servers: undefined,
    disabled: new Set(),
    problems,
  });
  if (Buffer.byteLength(text) > policyBytes)
    return nothing([wrong(`${file}: expected at most ${policyBytes} bytes, found more`)]);
  const at = placer(text);
  const { root, faults } = readTree(text);
  const syntax = faults.find(({ kind }) => kind === 'syntax');
  if (root === undefined || syntax !== undefined) {
    const { offset, expected, found } = syntax ?? { offset: 0, expected: 'an object', found: 'nothing' };
    return nothing([wrong(evidenceFor(file, at(offset), expected, found))]);
  }
  const value = plainValue(root);
  if (!isTable(value))
    return nothing([wrong(evidenceFor(file, at(root.offset), 'an object', 'something else'))]);

  const places = new Map<string, Place>();
  walk(root, (path, _value, node) => {
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, at(node.offset));
  });
  const placeOf = (...path: readonly string[]): Place => places.get(JSON.stringify(path)) ?? at(root.offset);
  const dottedPlaces = new Map([...places].map(([key, place]) => [dotted(JSON.parse(key)), place]));
  const twice = new Map(faults.map((fault) => [fault.subject ?? '', at(fault.offset)]));

  const judged = (name: string, entry: unknown): NamedEntry => {
    const place = placeOf('mcpServers', name);
    const found = `${file}:${place.line}:${place.column}`;
    const refused = (evidence: readonly string[]): NamedEntry => ({
      name,
      place: found,
      entry: {
        ok: false,
        problem: problem('connections/entry', { subject: name.slice(0, 200), evidence: evidence.join('\n') }),
      },
    });
    const here = dotted(['mcpServers', name]);
    const again = [...twice].find(([path]) => path === here || path.startsWith(`${here}.`));
    if (again !== undefined) return refused([evidenceFor(file, again[1], 'each key once', 'it again')]);
    const called = mcpServerName.safeParse(name);
    if (!called.success || name === '__proto__')
      return refused([
        evidenceFor(file, place, called.error?.issues[0]?.message ?? 'another name', 'this name'),
      ]);
    const issues = mcpEntryFaults(entry).map((issue) => ({
      ...issue,
      path: ['mcpServers', name, ...issue.path],
    }));
    if (issues.length > 0) {
      const problems = shapeProblems(file, value, issues, (path) => dottedPlaces.get(path) ?? place);
      return refused(problems.map(({ subject, evidence }) => `${subject}: ${evidence}`));
    }
    return { name, place: found, entry: { ok: true, value: mcpEntryFrom(mcpEntry.parse(entry)) } };
  };

  const problems: Problem[] = [];
  const listed = value['mcpServers'];
  let servers: readonly NamedEntry[] | undefined;
  if (isTable(listed)) {
    const names = Object.keys(listed);
    servers = names.slice(0, mostServers).map((name) => judged(name, listed[name]));
    if (names.length > mostServers)
      problems.push(
        wrong(evidenceFor(file, placeOf('mcpServers'), `at most ${mostServers} servers`, `${names.length}`)),
      );
  } else if (listed !== undefined) {
    problems.push(wrong(evidenceFor(file, placeOf('mcpServers'), 'an object', 'something else')));
    servers = [];
  }
  const off = value['disabledMcpServers'];
  const names = Array.isArray(off) ? off.filter((name) => typeof name === 'string') : [];
  if (off !== undefined && (!Array.isArray(off) || names.length < off.length))
    problems.push(
      wrong(evidenceFor(file, placeOf('disabledMcpServers'), 'a list of names', 'something else')),
    );
  return { servers, disabled: new Set(names), problems };
};
