/**
 * Reads a component: what it imports and exports, each with its type written out, and every module in it. Nothing is
 * generated or run. What the reader does not follow becomes `unknown`; faults are thrown (`reader.ts`).
 *
 * Binary format: component-model, `design/mvp/Binary.md`, the part WASI 0.2 toolchains emit.
 */
import { type CoreModule, readCoreModule, sections } from './core.ts';
import { declarationReader } from './declarations.ts';
import { coreName, externName, nameBytes } from './names.ts';
import { fault, type Reader } from './reader.ts';
import {
  type ComponentTree,
  define,
  lookUp,
  malformed,
  readExternName,
  readSortIndex,
  type Scope,
  scope,
  unknown,
  unsupported,
} from './scope.ts';
import type { Item } from './types.ts';

/** Components inside components; a composed one has three or four levels. */
const depthCap = 8;
/** Core modules and components of one component, at all depths. */
const partCap = 500;

const magic = [0x00, 0x61, 0x73, 0x6d];
/** Version 13, layer 1: what components have carried since WASI 0.2. */
const componentVersion = [0x0d, 0x00, 0x01, 0x00];

const isComponent = (bytes: Uint8Array, start = 0): boolean =>
  [...magic, ...componentVersion].every((byte, index) => bytes[start + index] === byte);

const treeReader = () => {
  const { described, alias, type } = declarationReader({ spent: 0 });
  let parts = 0;

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
        if (tree === undefined) unsupported('an instance of a component that is not part of this one');
        composed.push(tree);
        define(within, 5, {
          sort: 'instance',
          exports: item.sort === 'component' ? item.exports : new Map(),
        });
        return;
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
        if (module === undefined) unsupported('an instance of a module that is not part of the component');
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
      if (sort >= 0x100) unsupported('an export of a core item');
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
          const tree = component(bytes, from, body.end, within, depth + 1);
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
    };
  };
  return component;
};

/** The whole component as a tree, or a fault. */
export const readComponent = (bytes: Uint8Array): ComponentTree => {
  if (!isComponent(bytes)) {
    fault('sandbox/not-a-component', {
      evidence: 'the first eight bytes are not those of a binary component',
    });
  }
  return treeReader()(bytes, 0, bytes.length, undefined, 0);
};
