/** Where two canonical shapes differ, as places and both values. */
import { canonicalJson, isObject, type Json, pointer } from './json.ts';

export interface Difference {
  /** JSON pointer inside the shape: `/request/properties/text/maxLength`. */
  readonly path: string;
  /** JSON text; undefined where there is nothing. */
  readonly before?: string;
  readonly after?: string;
}

/** Most differences of one shape that are told. */
export const differenceLimit = 20;
/** Longest text of a value in a report, characters. */
const valueLimit = 200;

// Lists whose order says nothing: their members are matched by value.
const unordered = new Set(['allOf', 'anyOf', 'oneOf', 'enum', 'required', 'type']);

const shown = (value: Json | undefined): string | undefined => {
  if (value === undefined) return undefined;
  const text = canonicalJson(value);
  return text.length > valueLimit ? `${text.slice(0, valueLimit)}…` : text;
};

export const differences = (before: Json | undefined, after: Json | undefined): readonly Difference[] => {
  const found: Difference[] = [];
  const tell = (path: readonly string[], left: Json | undefined, right: Json | undefined): void => {
    const [was, is] = [shown(left), shown(right)];
    found.push({
      path: pointer(path),
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    });
  };
  const walk = (path: readonly string[], left: Json | undefined, right: Json | undefined): void => {
    if (found.length >= differenceLimit) return;
    if (isObject(left) && isObject(right)) {
      for (const key of [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()) {
        const own = (value: typeof left): Json | undefined =>
          Object.hasOwn(value, key) ? value[key] : undefined;
        walk([...path, key], own(left), own(right));
      }
    } else if (Array.isArray(left) && Array.isArray(right)) {
      lists(path, left as readonly Json[], right as readonly Json[]);
    } else if (left === undefined || right === undefined || canonicalJson(left) !== canonicalJson(right)) {
      if (left !== right) tell(path, left, right);
    }
  };
  const lists = (path: readonly string[], left: readonly Json[], right: readonly Json[]): void => {
    if (!unordered.has(path.at(-1) ?? '')) {
      for (let i = 0; i < Math.max(left.length, right.length); i += 1)
        walk([...path, String(i)], left[i], right[i]);
      return;
    }
    const texts = (values: readonly Json[]): Set<string> => new Set(values.map(canonicalJson));
    const [was, is] = [texts(left), texts(right)];
    const gone = left.flatMap((value, i) => (is.has(canonicalJson(value)) ? [] : [[i, value] as const]));
    const come = right.flatMap((value, i) => (was.has(canonicalJson(value)) ? [] : [[i, value] as const]));
    const [[place, only] = []] = gone;
    if (gone.length === 1 && come.length === 1 && isObject(only)) {
      walk([...path, String(place)], only, come[0]?.[1]);
      return;
    }
    if (gone.length === 0 && come.length === 0) {
      const sorted = (values: readonly Json[]): string => values.map(canonicalJson).sort().join();
      if (sorted(left) !== sorted(right)) tell(path, left, right);
      return;
    }
    tell(path, left, right);
  };
  walk([], before, after);
  return found.slice(0, differenceLimit);
};
