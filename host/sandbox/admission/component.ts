/**
 * Reads a component: what it imports and exports, each with its type written out, and every module in it. Nothing is
 * generated or run. What the reader does not follow becomes `unknown`; faults are thrown (`reader.ts`).
 *
 * Binary format: component-model, `design/mvp/Binary.md`, the part WASI 0.2 toolchains emit.
 */
import { type CoreModule, readCoreModule, sections } from './core.ts';
import { coreName, externName, nameBytes } from './names.ts';
import { fault, type Reader } from './reader.ts';
import { type Exports, type Item, type TypeAt, type TypeBudget, typeReader } from './types.ts';

/** Components inside components; a composed one has three or four levels. */
const depthCap = 8;
/** Core modules and components of one component, at all depths. */
const partCap = 500;
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

const unknown: Item = { sort: 'unknown' };
const magic = [0x00, 0x61, 0x73, 0x6d];
/** Version 13, layer 1: what components have carried since WASI 0.2. */
const componentVersion = [0x0d, 0x00, 0x01, 0x00];

export const isComponent = (bytes: Uint8Array, start = 0): boolean =>
  [...magic, ...componentVersion].every((byte, index) => bytes[start + index] === byte);

/** One scope: a component, or the body of an instance or component type. */
interface Scope {
  readonly outer: Scope | undefined;
  readonly types: Item[];
  readonly funcs: Item[];
  readonly instances: Item[];
  readonly components: { item: Item; tree: ComponentTree | undefined }[];
  readonly modules: (CoreModule | undefined)[];
  readonly imports: Map<string, Item>;
  readonly exports: Map<string, Item>;
}
const scope = (outer: Scope | undefined): Scope => ({
  outer,
  types: [],
  funcs: [],
  instances: [],
  components: [],
  modules: [],
  imports: new Map(),
  exports: new Map(),
});

const malformed = (evidence: string): never => fault('sandbox/malformed', { evidence });
const unsupported = (evidence: string): never => fault('sandbox/unsupported', { evidence });

const typeAt =
  (within: Scope): TypeAt =>
  (index) => {
    const found = within.types[index];
    return found?.sort === 'type' ? found.text : malformed(`type ${index} is no value type`);
  };

/** Puts an item into the index space of its sort. */
const define = (within: Scope, sort: number, item: Item, tree?: ComponentTree): void => {
  const space =
    sort === 1 ? within.funcs : sort === 3 ? within.types : sort === 5 ? within.instances : undefined;
  if (space !== undefined) space.push(item);
  else if (sort === 4) within.components.push({ item, tree });
  else unsupported(`an item of sort ${sort}`);
  if ((space ?? within.components).length > spaceCap) malformed('an index space is too large');
};

const lookUp = (within: Scope, sort: number, index: number): Item => {
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
const readExternName = (from: Reader): string => {
  const kind = from.byte();
  if (kind > 1) unsupported(`a name of kind ${kind}`);
  return externName(from.name(nameBytes));
};

/** A sort index: the sort's number (a core sort is 0x100 and more) and the index. */
const readSortIndex = (from: Reader): readonly [number, number] => {
  const sort = from.byte();
  const whole = sort === 0 ? 0x100 + from.byte() : sort;
  return [whole, from.u32()];
};

const inner = (budget: TypeBudget) => {
  const types = typeReader(budget);

  /** What an import or export is declared to be. */
  const described = (from: Reader, within: Scope, name: string): readonly [number, Item] => {
    const sort = from.byte();
    if (sort === 0) return unsupported('an import or export of a core module');
    if (sort === 3) {
      const bound = from.byte();
      if (bound === 1) return [3, { sort: 'type', text: name }];
      return bound === 0 ? [3, lookUp(within, 3, from.u32())] : malformed('type bound');
    }
    const found = lookUp(within, 3, from.u32());
    const wanted = sort === 1 ? 'func' : sort === 4 ? 'component' : sort === 5 ? 'instance' : undefined;
    return wanted !== undefined && found.sort === wanted ? [sort, found] : malformed(`type of "${name}"`);
  };

  const alias = (from: Reader, within: Scope): void => {
    const sort = from.byte();
    const core = sort === 0 ? from.byte() : undefined;
    const target = from.byte();
    if (target === 0) {
      const instance = lookUp(within, 5, from.u32());
      const name = externName(from.name(nameBytes));
      if (core === 0x11) within.modules.push(undefined);
      else if (core === undefined) {
        define(
          within,
          sort,
          (instance.sort === 'instance' ? instance.exports.get(name) : undefined) ?? unknown,
        );
      }
    } else if (target === 1) {
      from.u32();
      coreName(from.name(nameBytes));
    } else if (target === 2) {
      const levels = from.u32();
      const index = from.u32();
      let owner: Scope | undefined = within;
      for (let level = 0; level < levels && owner !== undefined; level += 1) owner = owner.outer;
      if (owner === undefined) return malformed('alias beyond the root');
      if (core === 0x11) within.modules.push(owner.modules[index]);
      else if (core === undefined)
        define(within, sort, lookUp(owner, sort, index), owner.components[index]?.tree);
      else unsupported('an outer alias of a core type');
    } else malformed('alias target');
  };

  /** The body of an instance type (`withImports` for a component type). */
  const declarations = (from: Reader, outer: Scope, depth: number, withImports: boolean): Exports => {
    const within = scope(outer);
    from.vector(() => {
      const kind = from.byte();
      if (kind === 0x01) type(from, within, depth + 1);
      else if (kind === 0x02) alias(from, within);
      else if (kind === 0x04 || (kind === 0x03 && withImports)) {
        const name = readExternName(from);
        const [sort, item] = described(from, within, name);
        define(within, sort, item);
        if (kind === 0x04) within.exports.set(name, item);
      } else unsupported(`declaration 0x${kind.toString(16)}`);
    });
    return within.exports;
  };

  const type = (from: Reader, within: Scope, depth: number): void => {
    if (depth > depthCap) malformed('types nested too deep');
    const code = from.byte();
    let found: Item;
    if (code === 0x40) found = types.func(from, typeAt(within));
    else if (code === 0x41) found = { sort: 'component', exports: declarations(from, within, depth, true) };
    else if (code === 0x42) found = { sort: 'instance', exports: declarations(from, within, depth, false) };
    else if (code === 0x3f) {
      if (from.byte() !== 0x7f) malformed('resource representation');
      if (from.byte() === 1) from.u32();
      found = { sort: 'type', text: `local-${from.at()}` };
    } else found = types.defined(code, from, typeAt(within));
    define(within, 3, found);
  };

  const component = (
    bytes: Uint8Array,
    start: number,
    end: number,
    outer: Scope | undefined,
    depth: number,
  ) => {
    if (depth > depthCap) malformed('components nested too deep');
    if (end - start < 8 || !isComponent(bytes, start)) return malformed(`no component at byte ${start}`);
    const within = scope(outer);
    const modules: CoreModule[] = [];
    const components: ComponentTree[] = [];
    const instantiated: CoreModule[] = [];
    const composed: ComponentTree[] = [];
    const part = (): void => {
      parts += 1;
      if (parts > partCap) malformed(`more than ${partCap} modules and components`);
    };

    const instance = (body: Reader): void => {
      if (body.byte() === 0) {
        const index = body.u32();
        const item = lookUp(within, 4, index);
        body.vector(() => {
          externName(body.name(nameBytes));
          const [sort, at] = readSortIndex(body);
          if (sort < 0x100) lookUp(within, sort, at);
        });
        const tree = within.components[index]?.tree;
        if (tree === undefined) return unsupported('an instance of a component that is not part of this one');
        composed.push(tree);
        return define(within, 5, {
          sort: 'instance',
          exports: item.sort === 'component' ? item.exports : new Map(),
        });
      }
      const exports = new Map<string, Item>();
      body.vector(() => {
        const name = readExternName(body);
        const [sort, at] = readSortIndex(body);
        exports.set(name, sort < 0x100 ? lookUp(within, sort, at) : unknown);
      });
      define(within, 5, { sort: 'instance', exports });
    };

    const coreInstance = (body: Reader): void => {
      if (body.byte() === 0) {
        const module = within.modules[body.u32()];
        if (module === undefined)
          return unsupported('an instance of a module that is not part of the component');
        instantiated.push(module);
        body.vector(() => {
          coreName(body.name(nameBytes));
          body.byte();
          body.u32();
        });
      } else {
        body.vector(() => {
          coreName(body.name(nameBytes));
          body.byte();
          body.u32();
        });
      }
    };

    const canonical = (body: Reader): void => {
      const kind = body.byte();
      if (kind === 0x00 || kind === 0x01) {
        if (body.byte() !== 0) malformed('canonical function');
        body.u32();
        body.vector(() => {
          const option = body.byte();
          if (option > 0x05) unsupported('an asynchronous canonical function');
          if (option > 0x02) body.u32();
        });
        if (kind === 0x00) define(within, 1, lookUp(within, 3, body.u32()));
      } else if (kind >= 0x02 && kind <= 0x04) body.u32();
      else unsupported(`canonical function 0x${kind.toString(16)}`);
    };

    const exported = (body: Reader): void => {
      const name = readExternName(body);
      const [sort, index] = readSortIndex(body);
      if (sort >= 0x100) return unsupported('an export of a core item');
      const actual = lookUp(within, sort, index);
      let item = actual;
      if (body.byte() === 1) {
        const [, declared] = described(body, within, name);
        if (actual.sort === 'unknown') item = declared;
      }
      define(within, sort, item, sort === 4 ? within.components[index]?.tree : undefined);
      if (within.exports.has(name)) malformed('two exports with one name');
      within.exports.set(name, item);
    };

    const imported = (body: Reader): void => {
      const name = readExternName(body);
      const [sort, item] = described(body, within, name);
      define(within, sort, item);
      if (within.imports.has(name)) malformed('two imports with one name');
      within.imports.set(name, item);
    };

    for (const { id, body } of sections(bytes, start, end)) {
      const from = body.at();
      switch (id) {
        case 0x00:
          continue;
        case 0x01: {
          part();
          const module = readCoreModule(bytes, from, body.end);
          modules.push(module);
          within.modules.push(module);
          continue;
        }
        case 0x04: {
          part();
          const tree: ComponentTree = component(bytes, from, body.end, within, depth + 1);
          components.push(tree);
          define(within, 4, { sort: 'component', exports: tree.exports }, tree);
          continue;
        }
        case 0x02:
          body.vector(() => coreInstance(body));
          break;
        case 0x05:
          body.vector(() => instance(body));
          break;
        case 0x06:
          body.vector(() => alias(body, within));
          break;
        case 0x07:
          body.vector(() => type(body, within, 0));
          break;
        case 0x08:
          body.vector(() => canonical(body));
          break;
        case 0x0a:
          body.vector(() => imported(body));
          break;
        case 0x0b:
          body.vector(() => exported(body));
          break;
        default:
          unsupported(`component section ${id}`);
      }
      if (!body.done()) malformed(`bytes left in component section ${id}`);
    }
    return {
      start,
      end,
      modules,
      components,
      instantiated,
      composed,
      imports: within.imports,
      exports: within.exports,
    } satisfies ComponentTree;
  };
  let parts = 0;
  return component;
};

/** The whole component as a tree, or a fault. */
export const readComponent = (bytes: Uint8Array): ComponentTree => {
  if (!isComponent(bytes)) {
    fault('sandbox/not-a-component', {
      evidence: 'the first eight bytes are not those of a binary component',
    });
  }
  return inner({ spent: 0 })(bytes, 0, bytes.length, undefined, 0);
};
