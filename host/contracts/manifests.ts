/** Topics as manifests declare them. A `bundle.json` that is no manifest of ours declares nothing and is left alone. */
import { type Finding, finding } from './findings.ts';
import { ambiguity, isObject, type Json, lineOf, pointerSegments } from './json.ts';
import { idFault } from './lock.ts';
import type { Declared } from './rules.ts';
import { canonicalShape, type Topic } from './shape.ts';

export interface ReadManifest {
  readonly declared: readonly Declared[];
  readonly findings: readonly Finding[];
  readonly isManifest: boolean;
}

// Deeper JSON is no manifest; shapes have their own, lower limit.
const nesting = 1_000;

/** Reads one manifest. Everything but `topics` is left to `bundle diagnose`. */
export const readManifest = (file: string, bytes: Uint8Array): ReadManifest => {
  const refuse = (evidence: string, line = 1): ReadManifest => ({
    declared: [],
    findings: [finding('contract/manifest-unreadable', { file, line }, { subject: file, evidence })],
    isManifest: true,
  });
  let text: string;
  let value: Json;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuse('it is not UTF-8');
  }
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : 'it is not JSON');
  }
  if (!isObject(value) || !(Object.hasOwn(value, 'manifest') || Object.hasOwn(value, 'topics')))
    return { declared: [], findings: [], isManifest: false };
  const unclear = ambiguity(text, value, nesting);
  if (unclear !== undefined) return refuse(unclear);
  const topics = Object.hasOwn(value, 'topics') ? value.topics : [];
  if (!Array.isArray(topics)) return refuse('`topics` must be a list', lineOf(text, ['topics']));
  const declared: Declared[] = [];
  const findings: Finding[] = [];
  (topics as readonly Json[]).forEach((topic, index) => {
    const line = (path = ''): number => lineOf(text, ['topics', index, ...inTopic(path)]);
    const wrong = topicFault(topic);
    if (wrong !== undefined || !isObject(topic)) {
      findings.push(
        finding(
          'contract/manifest-unreadable',
          { file, line: line() },
          { subject: file, evidence: `topics[${index}] ${wrong}` },
        ),
      );
      return;
    }
    const read = topic as unknown as Topic;
    const shape = canonicalShape(read);
    if (shape.ok) {
      declared.push({
        entry: { id: read.id, kind: read.kind, ...shape.value },
        place: (path) => ({ file, line: line(path) }),
      });
      return;
    }
    const { code, ...detail } = shape.problem;
    const at = detail.evidence?.split(' ', 1)[0] ?? '';
    findings.push({
      ...finding('contract/shape-invalid', { file, line: line(at.startsWith('/') ? at : '') }, detail),
      code,
    });
  });
  return { declared, findings, isManifest: true };
};

const inTopic = (path: string): (string | number)[] =>
  path === ''
    ? ['id']
    : path === '/kind'
      ? ['kind']
      : ['shape', ...pointerSegments(path).map((part) => (/^\d+$/.test(part) ? Number(part) : part))];

const topicFault = (topic: Json): string | undefined => {
  if (!isObject(topic)) return 'must be an object';
  const id = idFault(topic.id);
  if (id !== undefined) return `: "id" ${id}`;
  if (topic.kind !== 'command' && topic.kind !== 'event')
    return `("${topic.id}"): "kind" must be command or event`;
  return isObject(topic.shape) ? undefined : `("${topic.id}"): "shape" must be an object`;
};
