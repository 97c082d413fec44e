/**
 * The one text of a schema: two schemas with the same text accept the same values. It is itself a schema.
 *
 * References are written out where they stand. A schema that leads back to itself cannot be: what lies on a circle
 * becomes `$defs/1`, `$defs/2`, … in the order in which the text meets it, equal places being one (found by refining
 * a hash of each until no more can be told apart), so that neither names nor how far a circle was unrolled count.
 */
import { hash } from 'node:crypto';
import { type Fault, type Graph, type Node, type Part, schemaGraph, schemaLimits } from './graph.ts';
import { type Json, sortBy } from './json.ts';
import { objectText, sortedObjectText } from './keywords.ts';

/** Longest text of one schema, in UTF-16 code units; a shape that needs more is no message contract. */
const canonicalLimit = 256 * 1024;
// Most places of a schema that leads back to itself: comparing them costs their square.
const circleLimit = 1_000;
// Most text moved about while writing one schema; each character is moved once for each level above it.
const workLimit = 16 * canonicalLimit;

type TextOf = (node: Node) => string;

/** In the order of their texts; with `repeat`, what is equal stays as often as it is there. */
const uniqueSorted = (children: readonly Node[], orderOf: TextOf, repeat: boolean): readonly Node[] => {
  if (children.length === 1) return children;
  const ordered = sortBy(
    children.map((child) => [orderOf(child), child] as const),
    ([text]) => text,
  );
  return ordered
    .filter(([key], i) => repeat || i === 0 || ordered[i - 1]?.[0] !== key)
    .map(([, child]) => child);
};

/** Whether a part says nothing, given its text and the parts beside it. */
const isIdle = (part: Part, text: string, node: Node, unevaluated: boolean): boolean => {
  if (part.form === 'map') return text === '{}';
  if (unevaluated || part.form !== 'one') return false;
  if (part.key === 'additionalProperties' || part.key === 'items') return text === 'true';
  return part.key === 'if' && !node.parts.some(({ key }) => key === 'then' || key === 'else');
};

/** One place as text, given the text of each place below, and by what the members of a union are ordered. */
const render = (node: Node, unevaluated: boolean, textOf: TextOf, orderOf: TextOf): string => {
  let text = '';
  let count = 0;
  let last: Part | undefined;
  for (const part of node.parts) {
    const own = partText(part, textOf, orderOf);
    if (isIdle(part, own, node, unevaluated)) continue;
    text += `${text === '' ? '' : ','}"${part.key}":${own}`;
    count += 1;
    last = part;
  }
  if (count === 0) return 'true';
  if (text === '"not":true') return 'false';
  if (count === 1 && (last?.form === 'set' || last?.form === 'bag')) {
    const [alone, ...others] = uniqueSorted(last.children, orderOf, last.form === 'bag');
    if (alone !== undefined && others.length === 0) return textOf(alone);
  }
  return `{${text}}`;
};

const partText = (part: Part, textOf: TextOf, orderOf: TextOf): string => {
  switch (part.form) {
    case 'fact':
      return part.text;
    case 'one':
      return textOf(part.child);
    case 'map':
      return sortedObjectText(part.entries.map(([name, child]) => [name, textOf(child)] as const));
    case 'list':
      return `[${part.children.map(textOf).join(',')}]`;
    default:
      return `[${uniqueSorted(part.children, orderOf, part.form === 'bag')
        .map(textOf)
        .join(',')}]`;
  }
};

const childrenOf = (node: Node): Node[] =>
  node.parts.flatMap((part) => {
    if (part.form === 'one') return [part.child];
    if (part.form === 'map') return part.entries.map(([, child]) => child);
    return part.form === 'fact' ? [] : part.children;
  });

const reachable = (from: readonly Node[]): Set<Node> => {
  const seen = new Set(from);
  for (const node of seen) for (const child of childrenOf(node)) seen.add(child);
  return seen;
};

/** Writes places within bounds; with `remember`, each one once; with `keep`, what was written of a common place stays. */
const writer = (remember: boolean, write: (node: Node) => string, keep = false) => {
  const texts = remember ? new Map<Node, string>() : undefined;
  let work = 0;
  let depth = 0;
  const textOf = (node: Node): string => {
    if (depth > schemaLimits.path) work = Number.POSITIVE_INFINITY;
    if (work > workLimit) return '';
    const common = keep ? node.common : undefined;
    if (common?.text !== undefined) {
      work += common.work;
      return common.text;
    }
    const before = work;
    depth += 1;
    const text = texts?.get(node) ?? write(node);
    depth -= 1;
    texts?.set(node, text);
    work += text.length;
    if (common !== undefined && work <= workLimit) {
      common.text = text;
      common.work = work - before;
    }
    return text;
  };
  return { textOf, exceeded: () => work > workLimit };
};

const treeText = (graph: Graph): string | undefined => {
  // `unevaluated…` anywhere changes what a place says; then nothing is kept.
  const tree = writer(
    graph.shared,
    (node) => render(node, graph.unevaluated, tree.textOf, tree.textOf),
    !graph.unevaluated,
  );
  const text = tree.textOf(graph.root);
  return tree.exceeded() ? undefined : text;
};

const circleText = (graph: Graph): string | undefined => {
  const all = [...reachable([graph.root])];
  if (all.length > circleLimit) return undefined;
  const onCircle = new Set(all.filter((node) => reachable(childrenOf(node)).has(node)));
  const leading = all.filter((node) => [...reachable([node])].some((below) => onCircle.has(below)));
  const tree = writer(true, (node) => render(node, graph.unevaluated, tree.textOf, tree.textOf));

  let hashes = new Map<Node, string>(leading.map((node) => [node, '""']));
  const orderOf = (node: Node): string => hashes.get(node) ?? tree.textOf(node);
  for (let told = 0, before = -1; told !== before; ) {
    before = told;
    const refined = leading.map((node) => {
      const text = render(node, graph.unevaluated, orderOf, orderOf);
      return [node, JSON.stringify(hash('sha256', text))] as const;
    });
    hashes = new Map(refined);
    told = new Set(hashes.values()).size;
  }

  // Also a place before the circle that equals one on it, as an unrolled circle has.
  const circling = new Set([...onCircle].map(orderOf));
  const names = new Map<string, string>();
  const waiting: Node[] = [];
  const written = writer(true, (node) => renderOne(node));
  const textOf = (node: Node): string => {
    if (!hashes.has(node)) return tree.textOf(node);
    if (!circling.has(orderOf(node))) return written.textOf(node);
    const name = names.get(orderOf(node)) ?? `{"$ref":"#/$defs/${names.size + 1}"}`;
    if (!names.has(orderOf(node))) waiting.push(node);
    names.set(orderOf(node), name);
    return name;
  };
  const renderOne = (node: Node): string => render(node, graph.unevaluated, textOf, orderOf);
  const root = textOf(graph.root);
  const defs: [string, string][] = [];
  for (const node of waiting) defs.push([String(defs.length + 1), written.textOf(node)]);
  return tree.exceeded() || written.exceeded() ? undefined : `{"$defs":${objectText(defs)},${root.slice(1)}`;
};

/**
 * The canonical text of one schema, or what is wrong with it. Writing out may make more of it equal (a union whose
 * members turn out the same), so a circle is written until the text stays.
 */
export const canonicalSchema = (schema: Json): { readonly text: string } | { readonly fault: Fault } => {
  const tooLarge: Fault = {
    at: [],
    rule: 'too-large',
    wrong: `is longer than ${canonicalLimit} characters, or leads back to itself in more than ${circleLimit} places, once written out`,
  };
  let here = schema;
  for (let before = ''; ; ) {
    const built = schemaGraph(here);
    if ('fault' in built) return built;
    const text = built.graph.cyclic ? circleText(built.graph) : treeText(built.graph);
    if (text === undefined || text.length > canonicalLimit) return { fault: tooLarge };
    if (!built.graph.cyclic || text === before) return { text };
    before = text;
    here = JSON.parse(text) as Json;
  }
};
