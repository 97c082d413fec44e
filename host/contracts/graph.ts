/**
 * One schema as a graph: a node for each place that says something, references followed, annotations gone. What no
 * reference reaches is not in it, and neither is the name of anything that was reached.
 */
import { isObject, type Json, type JsonObject, pointer, sortBy, sortNames } from './json.ts';
import { dialect, patternFault, roles } from './keywords.ts';
import { type References, references } from './references.ts';

export type Part =
  | { readonly key: string; readonly form: 'fact'; readonly text: string }
  | { readonly key: string; readonly form: 'one'; readonly child: Node }
  | { readonly key: string; readonly form: 'list' | 'set' | 'bag'; readonly children: readonly Node[] }
  | { readonly key: string; readonly form: 'map'; readonly entries: readonly (readonly [string, Node])[] };

export interface Node {
  /** Sorted by keyword. Empty: every value is valid. */
  parts: readonly Part[];
  /** There where the place says the same in every graph: its text, once it was written, and what writing it cost. */
  common?: { text?: string; work: number };
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
  /** Whether a place may be reached on two ways; without references none is. */
  readonly shared: boolean;
  /** Whether `unevaluated…` stands anywhere: then what merely looks at a property can change what is valid. */
  readonly unevaluated: boolean;
}

/** Longest way into one schema, references followed, in keys, and most places it may have. */
export const schemaLimits = { path: 1_000, nodes: 20_000 } as const;

/** Where one is, as the way back; most ways are never told. */
interface Way {
  readonly up: Way | undefined;
  readonly key: string | number;
  readonly depth: number;
}
const below = (up: Way | undefined, key: string | number): Way => ({ up, key, depth: (up?.depth ?? 0) + 1 });
const keysOf = (way: Way | undefined): (string | number)[] => {
  const keys: (string | number)[] = [];
  for (let here = way; here !== undefined; here = here.up) keys.unshift(here.key);
  return keys;
};

/** A property's schema that stands for itself wherever it is: built once for all shapes that have it. */
interface Common {
  readonly node: Node;
  readonly count: number;
}
// Protocols repeat their properties, from the first topics on; keeping more costs more memory than it saves time. The
// bounds: length of one as JSON, how many are kept (the first ones), how deep they are looked for.
const commonLimits = { text: 500, kept: 500, depth: 100 } as const;
const common = new Map<string, Common>();

/** Its JSON where nothing in it depends on what is around it: references, names for them, `unevaluated…`. */
const commonText = (schema: Json, way: Way): string | undefined => {
  if (!isObject(schema) || way.depth > commonLimits.depth) return undefined;
  const text = JSON.stringify(schema);
  return text.length > commonLimits.text || text.includes('"$') || text.includes('"unevaluated')
    ? undefined
    : text;
};

const anything: Node = { parts: [] };
const nothing: Node = { parts: [{ key: 'not', form: 'one', child: anything }] };
const tooLarge = `is deeper than ${schemaLimits.path} keys or has more than ${schemaLimits.nodes} places`;

/** The keyword that alone says something in a schema, if it leads to another one: a reference or a union of one. */
const onlyKeyword = (schema: JsonObject): string | undefined => {
  let only: string | undefined;
  for (const key of Object.keys(schema)) {
    if (!roles.has(key)) continue;
    if (only !== undefined) return undefined;
    only = key;
  }
  if (only === undefined) return undefined;
  const role = roles.get(only)?.role;
  if (role === 'reference') return only;
  const value = schema[only];
  return (role === 'set' || role === 'bag') && Array.isArray(value) && value.length === 1 ? only : undefined;
};

type Built = { readonly graph: Graph } | { readonly fault: Fault };

/** The graph of one schema, or the first thing that is wrong with it. */
export const schemaGraph = (schema: Json): Built => {
  // Most schemas refer to nothing; only where one does, each place is remembered.
  const built = buildGraph(schema, false);
  return 'graph' in built && built.graph.shared ? buildGraph(schema, true) : built;
};

const buildGraph = (schema: Json, remember: boolean): Built => {
  let refs: References | undefined;
  let shared = false;
  let count = 0;
  const places = remember ? { nodes: new Map<JsonObject, Node>(), open: new Set<Node>() } : undefined;
  let fault: Fault | undefined;
  let cyclic = false;
  let unevaluated = false;

  const refuse = (way: Way | undefined, rule: Fault['rule'], wrong: string): Node => {
    fault ??= { at: keysOf(way), rule, wrong };
    return anything;
  };
  const led = (holder: JsonObject, keyword: string, way: Way | undefined): Json => {
    shared = true;
    if (!remember) return true;
    refs ??= references(schema);
    const found = refs.resolve(holder, keyword === '$ref' ? '$ref' : '$dynamicRef');
    if ('target' in found) return found.target;
    const text = JSON.stringify(holder[keyword])?.slice(0, 200);
    refuse(below(way, keyword), 'reference', `${found.wrong} (${text})`);
    return true;
  };

  /** Follows what is only another spelling: a reference or a union of one that stands alone. */
  const meant = (from: JsonObject, way: Way | undefined): Json => {
    let here: Json = from;
    const passed = new Set<Json>();
    while (isObject(here)) {
      const only = onlyKeyword(here);
      if (only === undefined) break;
      if (passed.has(here)) {
        refuse(way, 'reference', 'refers to itself and says nothing else');
        return true;
      }
      passed.add(here);
      refuseDialect(here, way);
      here =
        roles.get(only)?.role === 'reference'
          ? led(here, only, way)
          : ((here[only] as readonly Json[])[0] as Json);
    }
    return here;
  };

  const refuseDialect = ({ $schema }: JsonObject, way: Way | undefined): void => {
    if ($schema !== undefined && String($schema).replace(/#$/, '') !== dialect)
      refuse(below(way, '$schema'), 'unsupported', `must be ${dialect}`);
  };

  const nodeOf = (from: Json, way: Way | undefined): Node => {
    const here = isObject(from) && onlyKeyword(from) !== undefined ? meant(from, way) : from;
    if (here === true) return anything;
    if (here === false) return nothing;
    if (!isObject(here)) return refuse(way, 'invalid', 'must be a schema: an object, true or false');
    const known = places?.nodes.get(here);
    if (known !== undefined) {
      if (places?.open.has(known) === true) cyclic = true;
      return known;
    }
    count += 1;
    if ((way?.depth ?? 0) > schemaLimits.path || count > schemaLimits.nodes)
      return refuse(way, 'too-large', tooLarge);
    if (places === undefined) return { parts: partsOf(here, way) };
    const node: Node = { parts: [] };
    places.nodes.set(here, node);
    places.open.add(node);
    node.parts = partsOf(here, way);
    places.open.delete(node);
    return node;
  };

  /** A property, taken from what is known where it can be. */
  const propertyOf = (from: Json, way: Way): Node => {
    const text = remember ? undefined : commonText(from, way);
    if (text === undefined) return nodeOf(from, way);
    const known = common.get(text);
    if (known !== undefined) {
      count += known.count;
      return count > schemaLimits.nodes ? refuse(way, 'too-large', tooLarge) : known.node;
    }
    const before = count;
    const node = nodeOf(from, way);
    if (fault !== undefined || common.size >= commonLimits.kept) return node;
    common.set(text, { node, count: count - before });
    node.common ??= { work: 0 };
    return node;
  };

  const partsOf = (holder: JsonObject, way: Way | undefined): Part[] => {
    refuseDialect(holder, way);
    const parts: Part[] = [];
    const joined: Node[] = [];
    for (const key of Object.keys(holder)) {
      const known = roles.get(key);
      if (known === undefined) continue;
      const value = holder[key] as Json;
      if (known.role === 'fact') {
        const fact = known.read(value);
        if ('wrong' in fact) refuse(below(way, key), 'invalid', fact.wrong);
        else if (fact.text !== undefined) parts.push({ key, form: 'fact', text: fact.text });
        continue;
      }
      const here = below(way, key);
      if (known.role === 'one') {
        if (key === 'unevaluatedProperties' || key === 'unevaluatedItems') unevaluated = true;
        parts.push({ key, form: 'one', child: nodeOf(value, here) });
      } else if (known.role === 'map') {
        if (!isObject(value)) refuse(here, 'invalid', 'must be an object of schemas');
        else parts.push({ key, form: 'map', entries: entriesOf(key, value, here) });
      } else if (known.role === 'reference') {
        joined.push(nodeOf(led(holder, key, way), here));
      } else if (known.role === 'refused') {
        refuse(here, 'unsupported', `is not a keyword of JSON Schema 2020-12: ${known.instead}`);
      } else if (!Array.isArray(value) || value.length === 0) {
        refuse(here, 'invalid', 'must be a list of at least one schema');
      } else {
        const list = value as readonly Json[];
        parts.push({ key, form: known.role, children: list.map((item, i) => nodeOf(item, below(here, i))) });
      }
    }
    return settled(parts, joined);
  };

  const entriesOf = (key: string, value: JsonObject, way: Way): [string, Node][] => {
    const names = sortNames(Object.keys(value));
    if (key === 'patternProperties')
      for (const name of names) {
        const wrong = patternFault(name);
        if (wrong !== undefined) refuse(below(way, name), 'invalid', wrong);
      }
    const child = key === 'properties' ? propertyOf : nodeOf;
    return names.map((name) => [name, child(value[name] as Json, below(way, name))]);
  };

  const root = nodeOf(schema, undefined);
  return fault === undefined ? { graph: { root, cyclic, shared, unevaluated } } : { fault };
};

// What stands for nothing without another keyword.
const needs: ReadonlyMap<string, string> = new Map([
  ['then', 'if'],
  ['else', 'if'],
  ['minContains', 'contains'],
  ['maxContains', 'contains'],
]);

/** The parts of one place, sorted: `enum` of one value as `const`, references among `allOf`, nothing idle. */
const settled = (parts: Part[], joined: readonly Node[]): Part[] => {
  if (joined.length === 0 && !parts.some(({ key }) => key === 'enum' || needs.has(key)))
    return sortBy(parts, keyOf);
  const has = (key: string): boolean => parts.some((part) => part.key === key);
  const kept: Part[] = [];
  let all = joined;
  for (const part of parts) {
    const needed = needs.get(part.key);
    if (needed !== undefined && !has(needed)) continue;
    if (part.key === 'allOf' && part.form === 'set' && joined.length > 0) all = [...joined, ...part.children];
    else if (part.key === 'enum' && part.form === 'fact' && !has('const')) kept.push(constOrEnum(part.text));
    else kept.push(part);
  }
  if (joined.length > 0) kept.push({ key: 'allOf', form: 'set', children: all });
  return sortBy(kept, keyOf);
};

const keyOf = ({ key }: Part): string => key;

const constOrEnum = (text: string): Part => {
  const one = (JSON.parse(text) as readonly Json[]).length === 1;
  return { key: one ? 'const' : 'enum', form: 'fact', text: one ? text.slice(1, -1) : text };
};

/** A fault as a person reads it. */
export const faultPlace = (fault: Fault): string => pointer(fault.at);
