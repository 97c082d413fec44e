/**
 * Index spaces while a component is read. A component, and the body of an instance or component type, is a scope; what
 * it declares is pushed into the space of its sort and found again by number, in an outer scope too.
 */
import type { CoreModule } from './core.ts';
import { externName, nameBytes } from './names.ts';
import { fault, type Reader } from './reader.ts';
import type { Exports, Item, TypeAt } from './types.ts';

/** Entries of one index space. */
const spaceCap = 50_000;

export interface ComponentTree {
  readonly start: number;
  readonly end: number;
  readonly modules: readonly CoreModule[];
  readonly components: readonly ComponentTree[];
  /** Every core module this component instantiates directly, once for each time. */
  readonly instantiated: readonly CoreModule[];
  /** The same for components. */
  readonly composed: readonly ComponentTree[];
  readonly imports: ReadonlyMap<string, Item>;
  readonly exports: Exports;
}

/** Something the reader does not follow. */
export const unknown: Item = { sort: 'unknown' };

/** One scope: a component, or the body of an instance or component type. */
export interface Scope {
  readonly outer: Scope | undefined;
  readonly types: Item[];
  readonly funcs: Item[];
  readonly instances: Item[];
  readonly components: { item: Item; tree: ComponentTree | undefined }[];
  readonly modules: (CoreModule | undefined)[];
  readonly imports: Map<string, Item>;
  readonly exports: Map<string, Item>;
}
export const scope = (outer: Scope | undefined): Scope => ({
  outer,
  types: [],
  funcs: [],
  instances: [],
  components: [],
  modules: [],
  imports: new Map(),
  exports: new Map(),
});

// Typed so that the compiler knows nothing comes after a call.
export const malformed: (evidence: string) => never = (evidence) => fault('sandbox/malformed', { evidence });
export const unsupported: (evidence: string) => never = (evidence) =>
  fault('sandbox/unsupported', { evidence });

export const typeAt =
  (within: Scope): TypeAt =>
  (index) => {
    const found = within.types[index];
    return found?.sort === 'type' ? found.text : malformed(`type ${index} is no value type`);
  };

/** Puts an item into the index space of its sort. */
export const define = (within: Scope, sort: number, item: Item, tree?: ComponentTree): void => {
  const space =
    sort === 1 ? within.funcs : sort === 3 ? within.types : sort === 5 ? within.instances : undefined;
  if (space !== undefined) space.push(item);
  else if (sort === 4) within.components.push({ item, tree });
  else unsupported(`an item of sort ${sort}`);
  if ((space ?? within.components).length > spaceCap) malformed('an index space is too large');
};

export const lookUp = (within: Scope, sort: number, index: number): Item => {
  const found =
    sort === 1
      ? within.funcs[index]
      : sort === 3
        ? within.types[index]
        : sort === 4
          ? within.components[index]?.item
          : sort === 5
            ? within.instances[index]
            : unsupported(`an item of sort ${sort}`);
  return found ?? malformed(`index ${index} of sort ${sort} does not exist`);
};

/** Name of an import or export; its spelling decides only how it is encoded. */
export const readExternName = (from: Reader): string => {
  const kind = from.byte();
  if (kind > 1) unsupported(`a name of kind ${kind}`);
  return externName(from.name(nameBytes));
};

/** A sort index: the sort's number (a core sort is 0x100 and more) and the index. */
export const readSortIndex = (from: Reader): readonly [number, number] => {
  const sort = from.byte();
  const whole = sort === 0 ? 0x100 + from.byte() : sort;
  return [whole, from.u32()];
};
