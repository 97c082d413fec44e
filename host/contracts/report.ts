/** Findings as a person, a script, a code scanner and GitHub read them. */
import { registry } from '../problems/index.ts';
import type { CheckReport } from './check.ts';
import type { Finding } from './findings.ts';
import type { Release } from './history.ts';

export const formats = ['text', 'json', 'sarif', 'github'] as const;
export type Format = (typeof formats)[number];

// What a file name or a value may not do to a terminal or a line-based format.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const plain = (text: string): string =>
  text.replace(control, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

const releaseText = ({ commit, at, path }: Release): string =>
  `commit ${commit.slice(0, 12)}${at === null ? '' : ` of ${new Date(at * 1_000).toISOString().slice(0, 10)}`} (${plain(path)})`;

const details = (found: Finding): string[] => {
  const lines = found.differences.map(
    ({ path, before, after }) =>
      `at ${plain(path) || '/'}: was ${plain(before ?? 'nothing')}, is ${plain(after ?? 'nothing')}`,
  );
  const [released, other] = found.releases;
  if (released !== undefined) lines.push(`released by ${releaseText(released)}`);
  if (other !== undefined) lines.push(`the other shape by ${releaseText(other)}`);
  if (found.evidence !== undefined) lines.push(plain(found.evidence));
  if (found.fix !== undefined) lines.push(`fix: ${plain(found.fix)}`);
  return lines;
};

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

const summary = ({ findings, more, seen }: CheckReport): string => {
  const looked = [
    count(seen.topics, 'topic'),
    ...(seen.interfaces === 0 ? [] : [count(seen.interfaces, 'interface version')]),
    `in ${count(seen.manifests, 'manifest')}`,
  ].join(seen.interfaces === 0 ? ' ' : ', ');
  const compared = `compared with ${count(seen.versions, 'version')} of the locks in ${count(seen.commits, 'commit')}`;
  const total = findings.length + more;
  return total === 0 ? `ok: ${looked}, ${compared}` : `${count(total, 'finding')}: ${looked}, ${compared}`;
};

/** `file:line: rule: sentence`, then what it rests on and the way out; a summary at the end. */
export const asText = (report: CheckReport): string => {
  const lines: string[] = [];
  for (const found of report.findings) {
    const subject =
      found.subject === undefined || found.message.includes(found.subject)
        ? ''
        : ` (${plain(found.subject)})`;
    lines.push(`${plain(found.file)}:${found.line}: ${found.code}: ${plain(found.message)}${subject}`);
    lines.push(...details(found).map((line) => `    ${line}`));
  }
  if (report.more > 0) lines.push(`and ${count(report.more, 'finding')} more`);
  for (const note of report.notes) {
    const about = [note.subject, note.evidence].filter((part) => part !== undefined).join(': ');
    lines.push(`note: ${note.code}: ${plain(note.message)}${about === '' ? '' : ` (${plain(about)})`}`);
  }
  return [...lines, summary(report), ''].join('\n');
};

/** The whole report as one document. */
export const asJson = (report: CheckReport): string =>
  `${JSON.stringify({ ok: report.findings.length === 0, ...report }, null, 2)}\n`;

const fullText = (found: Finding): string => [plain(found.message), ...details(found)].join('\n');
const uri = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** SARIF 2.1.0, one run; files relative to the folder that was checked. */
export const asSarif = (report: CheckReport): string => {
  const codes = [...new Set(report.findings.map(({ code }) => code))].sort();
  const known = registry as Readonly<Record<string, { message: string; fix?: string }>>;
  const results = report.findings.map((found) => ({
    ruleId: found.code,
    ruleIndex: codes.indexOf(found.code),
    level: 'error',
    message: { text: fullText(found) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uri(found.file), uriBaseId: '%SRCROOT%' },
          region: { startLine: found.line },
        },
        ...(found.subject === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: found.subject }] }),
      },
    ],
    partialFingerprints: {
      'jupiter/v1': [found.code, found.subject ?? found.file, found.differences[0]?.path ?? ''].join('|'),
    },
  }));
  const notifications = report.notes.map((note) => ({
    level: 'note',
    descriptor: { id: note.code },
    message: { text: note.message },
  }));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'jupiter contracts',
            rules: codes.map((code) => ({
              id: code,
              shortDescription: { text: known[code]?.message ?? code },
              help: { text: known[code]?.fix ?? '' },
              defaultConfiguration: { level: 'error' },
            })),
          },
        },
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: notifications }],
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
};

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** Workflow commands of GitHub Actions, one a line; `base` leads from the workspace to the folder that was checked. */
export const asGithub = (report: CheckReport, base = ''): string => {
  const errors = report.findings.map(
    (found) =>
      `::error file=${property(plain(base + found.file))},line=${found.line},title=${property(found.code)}::${data(fullText(found))}`,
  );
  const notices = report.notes.map(
    ({ code, message }) => `::notice title=${property(code)}::${data(plain(message))}`,
  );
  return [...errors, ...notices, data(summary(report)), ''].join('\n');
};

export const rendered = (report: CheckReport, format: Format, base = ''): string => {
  if (format === 'json') return asJson(report);
  if (format === 'sarif') return asSarif(report);
  return format === 'github' ? asGithub(report, base) : asText(report);
};
