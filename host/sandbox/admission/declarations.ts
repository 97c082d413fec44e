/** Reads declarations: types with their bodies, aliases, and what an import or export is said to be. */
import { coreName, externName, nameBytes } from './names.ts';
import type { Reader } from './reader.ts';
import {
  define,
  lookUp,
  malformed,
  readExternName,
  type Scope,
  scope,
  typeAt,
  unknown,
  unsupported,
} from './scope.ts';
import { type Exports, type Item, type TypeBudget, typeReader } from './types.ts';

/** Types inside types; WIT needs one level. */
const depthCap = 8;

export const declarationReader = (budget: TypeBudget) => {
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
      if (owner === undefined) malformed('alias beyond the root');
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

  return { described, alias, type };
};
