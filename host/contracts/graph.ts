/**
 * One schema as a graph: a node for each place that says something, references followed, annotations gone. What no
 * reference reaches is not in it, and neither is the name of anything that was reached.
 */
import { isObject, type Json, type JsonObject, pointer } from './json.ts';
import { applicators, dialect, facts, patternFault, refused } from './keywords.ts';
import { references } from './references.ts';

export type Part =
  | { readonly key: string; readonly form: 'fact'; readonly text: string }
  | { readonly key: string; readonly form: 'one'; readonly child: Node }
  | { readonly key: string; readonly form: 'list' | 'set' | 'bag'; readonly children: readonly Node[] }
  | { readonly key: string; readonly form: 'map'; readonly entries: readonly (readonly [string, Node])[] };

export interface Node {
  /** Sorted by keyword. Empty: every value is valid. */
  parts: readonly Part[];
}

export interface Fault {
  /** Keys and indexes below the schema. */
  readonly at: readonly (string | number)[];
  readonly wrong: string;
  readonly rule: 'invalid' | 'unsupported' | 'reference' | 'too-large';
}

export interface Graph {
  readonly root: Node;
  readonly cyclic: boolean;
  /** Whether `unevaluated…` stands anywhere: then what merely looks at a property can change what is valid. */
  readonly unevaluated: boolean;
}

/** Deepest nesting of the JSON, longest path through references, in keys, and most places, of one schema. */
export const schemaLimits = { nesting: 400, path: 1_000, nodes: 20_000 } as const;

const anything: Node = { parts: [] };
const nothing: Node = { parts: [{ key: 'not', form: 'one', child: anything }] };
const wrappers = new Set(['allOf', 'anyOf', 'oneOf']);

/** The one schema that `schema` is another spelling of: it holds a lone reference or a union of one. */
const onlyTarget = (schema: JsonObject): Json | '$ref' | '$dynamicRef' | undefined => {
  const telling = Object.keys(schema).filter(
    (key) => key === '$ref' || key === '$dynamicRef' || facts.has(key) || applicators.has(key),
  );
  const [only] = telling;
  if (telling.length !== 1 || only === undefined) return undefined;
  if (only === '$ref' || only === '$dynamicRef') return only;
  const value = schema[only];
  return wrappers.has(only) && Array.isArray(value) && value.length === 1 ? value[0] : undefined;
};

export const schemaGraph = (schema: Json): { readonly graph: Graph } | { readonly fault: Fault } => {
  const refs = references(schema);
  const nodes = new Map<JsonObject, Node>();
  const open = new Set<Node>();
  let fault: Fault | undefined;
  let cyclic = false;
  let unevaluated = false;

  const refuse = (at: Fault['at'], rule: Fault['rule'], wrong: string): Node => {
    fault ??= { at, rule, wrong };
    return anything;
  };
  const led = (holder: JsonObject, keyword: '$ref' | '$dynamicRef', at: Fault['at']): Json => {
    const found = refs.resolve(holder, keyword);
    if ('target' in found) return found.target;
    refuse(
      [...at, keyword],
      'reference',
      `${found.wrong} (${JSON.stringify(holder[keyword])?.slice(0, 200)})`,
    );
    return true;
  };

  const nodeOf = (from: Json, at: Fault['at']): Node => {
    let here = from;
    const passed = new Set<Json>();
    while (isObject(here)) {
      const unfit = dialectFault(here);
      if (unfit !== undefined) return refuse([...at, unfit[0]], 'unsupported', unfit[1]);
      const target = onlyTarget(here);
      if (target === undefined) break;
      if (passed.has(here)) return refuse(at, 'reference', 'refers to itself and says nothing else');
      passed.add(here);
      here = target === '$ref' || target === '$dynamicRef' ? led(here, target, at) : target;
    }
    if (here === true) return anything;
    if (here === false) return nothing;
    if (!isObject(here)) return refuse(at, 'invalid', 'must be a schema: an object, true or false');
    const known = nodes.get(here);
    if (known !== undefined) {
      if (open.has(known)) cyclic = true;
      return known;
    }
    if (at.length > schemaLimits.path || nodes.size >= schemaLimits.nodes)
      return refuse(
        at,
        'too-large',
        `is deeper than ${schemaLimits.path} keys or has more than ${schemaLimits.nodes} places`,
      );
    const node: Node = { parts: [] };
    nodes.set(here, node);
    open.add(node);
    node.parts = partsOf(here, at);
    open.delete(node);
    return node;
  };

  const partsOf = (holder: JsonObject, at: Fault['at']): Part[] => {
    const parts: Part[] = [];
    const joined: Node[] = [];
    for (const key of Object.keys(holder)) {
      const value = holder[key] as Json;
      const fact = facts.get(key)?.(value);
      const form = applicators.get(key);
      if (fact !== undefined) {
        if ('wrong' in fact) refuse([...at, key], 'invalid', fact.wrong);
        else if (fact.text !== undefined) parts.push({ key, form: 'fact', text: fact.text });
      } else if (key === '$ref' || key === '$dynamicRef') {
        joined.push(nodeOf(led(holder, key, at), [...at, key]));
      } else if (form === 'one') {
        if (key === 'unevaluatedProperties' || key === 'unevaluatedItems') unevaluated = true;
        parts.push({ key, form, child: nodeOf(value, [...at, key]) });
      } else if (form === 'map') {
        if (!isObject(value)) refuse([...at, key], 'invalid', 'must be an object of schemas');
        else parts.push({ key, form, entries: entriesOf(key, value, at) });
      } else if (form !== undefined) {
        if (!Array.isArray(value) || value.length === 0)
          refuse([...at, key], 'invalid', 'must be a list of at least one schema');
        else parts.push({ key, form, children: value.map((item, i) => nodeOf(item, [...at, key, i])) });
      }
    }
    return settled(parts, joined);
  };

  const entriesOf = (key: string, value: JsonObject, at: Fault['at']): [string, Node][] => {
    const names = Object.keys(value).sort();
    if (key === 'patternProperties')
      for (const name of names) {
        const wrong = patternFault(name);
        if (wrong !== undefined) refuse([...at, key, name], 'invalid', wrong);
      }
    return names.map((name) => [name, nodeOf(value[name] as Json, [...at, key, name])]);
  };

  const root = nodeOf(schema, []);
  return fault === undefined ? { graph: { root, cyclic, unevaluated } } : { fault };
};

const dialectFault = (schema: JsonObject): readonly [string, string] | undefined => {
  for (const [key, instead] of refused)
    if (Object.hasOwn(schema, key)) return [key, `is not a keyword of JSON Schema 2020-12: ${instead}`];
  if (Object.hasOwn(schema, '$schema') && String(schema.$schema).replace(/#$/, '') !== dialect)
    return ['$schema', `must be ${dialect}`];
  return undefined;
};

/** The parts of one place, sorted; those that another keyword must be there for are dropped without it. */
const settled = (parts: readonly Part[], joined: readonly Node[]): Part[] => {
  const has = (key: string): boolean => parts.some((part) => part.key === key);
  const idle = new Set<string>();
  if (!has('if')) for (const key of ['then', 'else']) idle.add(key);
  if (!has('contains')) for (const key of ['minContains', 'maxContains']) idle.add(key);
  const kept = parts.filter((part) => !idle.has(part.key));
  // `enum` of one value and `const` say the same.
  if (!has('const'))
    kept.forEach((part, place) => {
      if (part.key !== 'enum' || part.form !== 'fact') return;
      const listed = JSON.parse(part.text) as readonly Json[];
      if (listed.length === 1) kept[place] = { key: 'const', form: 'fact', text: part.text.slice(1, -1) };
    });
  if (joined.length > 0) {
    const place = kept.findIndex((part) => part.key === 'allOf');
    const before = kept[place];
    const children = before?.form === 'set' ? [...before.children, ...joined] : joined;
    if (before !== undefined) kept.splice(place, 1);
    kept.push({ key: 'allOf', form: 'set', children });
  }
  return kept.sort((a, b) => (a.key < b.key ? -1 : 1));
};

/** A fault as a person reads it. */
export const faultPlace = (fault: Fault): string => pointer(fault.at);
