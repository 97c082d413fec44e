/**
 * Where a `$ref` leads inside one schema: by JSON pointer, `$anchor`, or the `$id` of a schema embedded in it. A
 * shape stands alone, so a reference that leads outside has no answer.
 */
import { isObject, type Json, type JsonObject, pointerSegments } from './json.ts';
import { applicators, shelves } from './keywords.ts';

// Never fetched: gives relative references something to be relative to.
const nowhere = 'shape://shape/';

interface Places {
  /** Absolute URI, with its fragment, of every resource and anchor. */
  readonly byUri: Map<string, Json>;
  /** The URI of the resource each schema belongs to. */
  readonly baseOf: Map<JsonObject, string>;
  /** Dynamic anchors by name, each with the schemas that carry it. */
  readonly dynamic: Map<string, JsonObject[]>;
}

const absolute = (reference: string, base: string): string | undefined => {
  const url = URL.parse(reference, base);
  if (url === null) return undefined;
  return url.href.replace(/#$/, '');
};

// Deepest nesting that is looked through for names; the graph of a schema ends before it.
const depthLimit = 1_000;

const index = (schema: Json, base: string, places: Places, depth = 0): void => {
  if (!isObject(schema) || places.baseOf.has(schema) || depth > depthLimit) return;
  const id = typeof schema.$id === 'string' ? absolute(schema.$id, base) : undefined;
  const own = id ?? base;
  if (id !== undefined) places.byUri.set(id, schema);
  places.baseOf.set(schema, own);
  if (typeof schema.$anchor === 'string') places.byUri.set(`${own}#${schema.$anchor}`, schema);
  if (typeof schema.$dynamicAnchor === 'string') {
    const name = schema.$dynamicAnchor;
    places.byUri.set(`${own}#${name}`, schema);
    places.dynamic.set(name, [...(places.dynamic.get(name) ?? []), schema]);
  }
  for (const key of Object.keys(schema)) {
    const value = schema[key] as Json;
    const form = shelves.has(key) ? 'map' : applicators.get(key);
    if (form === undefined) continue;
    if (form === 'one') index(value, own, places, depth + 1);
    else if (Array.isArray(value)) for (const item of value) index(item, own, places, depth + 1);
    else if (isObject(value))
      for (const name of Object.keys(value)) index(value[name] as Json, own, places, depth + 1);
  }
};

const follow = (from: Json, path: string): Json | undefined => {
  let here: Json | undefined = from;
  for (const segment of pointerSegments(path)) {
    if (Array.isArray(here)) here = /^(0|[1-9]\d*)$/.test(segment) ? here[Number(segment)] : undefined;
    else here = isObject(here) && Object.hasOwn(here, segment) ? here[segment] : undefined;
  }
  return here;
};

export interface References {
  /** The schema a reference of `holder` leads to, or why it leads nowhere. */
  readonly resolve: (
    holder: JsonObject,
    keyword: '$ref' | '$dynamicRef',
  ) => { readonly target: Json } | { readonly wrong: string };
}

/** The references of one schema. Nothing is read before the first one is followed. */
export const references = (root: Json): References => {
  let known: Places | undefined;
  const placesOf = (): Places => {
    if (known === undefined) {
      known = { byUri: new Map([[nowhere, root]]), baseOf: new Map(), dynamic: new Map() };
      index(root, nowhere, known);
    }
    return known;
  };
  return {
    resolve: (holder, keyword) => {
      const reference = holder[keyword];
      if (typeof reference !== 'string') return { wrong: 'must be a string' };
      const places = placesOf();
      const base = places.baseOf.get(holder) ?? nowhere;
      const uri = absolute(reference, base);
      const [resource = '', fragment = ''] = uri?.split('#') ?? [];
      const home = places.byUri.get(resource);
      let name = fragment;
      try {
        name = decodeURIComponent(fragment);
      } catch {
        return { wrong: 'is not a URI reference' };
      }
      const target =
        name === ''
          ? home
          : name.startsWith('/')
            ? follow(home ?? null, name)
            : places.byUri.get(`${resource}#${name}`);
      if (target === undefined || (typeof target !== 'boolean' && !isObject(target)))
        return { wrong: 'leads to no schema of this shape' };
      if (keyword === '$dynamicRef' && (places.dynamic.get(name)?.length ?? 0) > 1)
        return { wrong: 'leads to more than one place, so that the shape has no one meaning' };
      // A target under an unknown keyword was not seen by the index; it belongs to the resource it was named from.
      if (isObject(target)) index(target, resource, places);
      return { target };
    },
  };
};
