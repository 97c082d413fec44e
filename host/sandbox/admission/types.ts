/**
 * Component types, written out as text: two types are the same exactly if their texts are. A type's own name is no
 * part of it, so `record{code:string}` is one type wherever it is declared; a resource is known by its export name.
 *
 * Written out, a type of n bytes can be 2^n long; every text and all of them together are bounded while they grow.
 */
import { label, nameBytes } from './names.ts';
import { fault, type Reader } from './reader.ts';

/** Longest written-out type, characters; the platform's longest has about 900. */
const typeText = 16_384;
/** All types of a component together, characters. */
const typeTextTotal = 4_000_000;

export type Exports = ReadonlyMap<string, Item>;
/** What an index space holds. `unknown` is something the reader does not follow; it may not reach the outside. */
export type Item =
  | { readonly sort: 'type'; readonly text: string }
  | { readonly sort: 'func'; readonly text: string }
  | { readonly sort: 'instance'; readonly exports: Exports }
  | { readonly sort: 'component'; readonly exports: Exports }
  | { readonly sort: 'unknown' };

export interface TypeBudget {
  spent: number;
}

const primitives: Readonly<Record<number, string>> = {
  127: 'bool',
  126: 's8',
  125: 'u8',
  124: 's16',
  123: 'u16',
  122: 's32',
  121: 'u32',
  120: 's64',
  119: 'u64',
  118: 'f32',
  117: 'f64',
  116: 'char',
  115: 'string',
};

/** A type by its index: its text, or a fault where that index holds something else. */
export type TypeAt = (index: number) => string;

const spend = (text: string, budget: TypeBudget): string => {
  budget.spent += text.length;
  if (text.length > typeText || budget.spent > typeTextTotal) {
    fault('sandbox/type-too-large', {
      evidence: `at most ${typeText} characters for one type and ${typeTextTotal} for all`,
    });
  }
  return text;
};

export const typeReader = (budget: TypeBudget) => {
  const valueType = (from: Reader, at: TypeAt): string => {
    const primitive = primitives[from.peek()];
    if (primitive !== undefined) {
      from.byte();
      return primitive;
    }
    const index = from.s33();
    return index < 0 ? unsupported(`value type ${index}`) : at(index);
  };
  const unsupported = (what: string): never =>
    fault('sandbox/unsupported', { evidence: `an interface type outside WASI 0.2: ${what}` });
  const optional = (from: Reader, at: TypeAt): string => {
    const present = from.byte();
    return present === 0 ? '_' : present === 1 ? valueType(from, at) : unsupported('option flag');
  };
  /** Joins while it watches the length, so that a list of long types is stopped early. */
  const joined = (from: Reader, one: () => string): string => {
    let text = '';
    from.vector((index) => {
      text = `${text}${index === 0 ? '' : ','}${one()}`;
      if (text.length > typeText) spend(text, budget);
    });
    return text;
  };
  const labelled = (from: Reader, at: TypeAt): string =>
    joined(from, () => `${label(from.name(nameBytes))}:${valueType(from, at)}`);
  const labels = (from: Reader): string => joined(from, () => label(from.name(nameBytes)));

  const defined = (code: number, from: Reader, at: TypeAt): string => {
    const primitive = primitives[code];
    if (primitive !== undefined) return primitive;
    switch (code) {
      case 0x72:
        return `record{${labelled(from, at)}}`;
      case 0x71:
        return `variant{${joined(from, () => {
          const name = label(from.name(nameBytes));
          const payload = optional(from, at);
          if (from.byte() !== 0) unsupported('a refined case');
          return payload === '_' ? name : `${name}(${payload})`;
        })}}`;
      case 0x70:
        return `list<${valueType(from, at)}>`;
      case 0x6f:
        return `tuple<${joined(from, () => valueType(from, at))}>`;
      case 0x6e:
        return `flags{${labels(from)}}`;
      case 0x6d:
        return `enum{${labels(from)}}`;
      case 0x6b:
        return `option<${valueType(from, at)}>`;
      case 0x6a: {
        const good = optional(from, at);
        return `result<${good},${optional(from, at)}>`;
      }
      case 0x69:
        return `own<${at(from.u32())}>`;
      case 0x68:
        return `borrow<${at(from.u32())}>`;
      default:
        return unsupported(`0x${code.toString(16)}`);
    }
  };
  return {
    /** A value type's definition after its first byte, as an item. */
    defined: (code: number, from: Reader, at: TypeAt): Item => ({
      sort: 'type',
      text: spend(defined(code, from, at), budget),
    }),
    /** A function type after its first byte. */
    func: (from: Reader, at: TypeAt): Item => {
      const parameters = labelled(from, at);
      const kind = from.byte();
      const result =
        kind === 0
          ? ` -> ${valueType(from, at)}`
          : kind === 1 && from.byte() === 0
            ? ''
            : unsupported('named results');
      return { sort: 'func', text: spend(`func(${parameters})${result}`, budget) };
    },
  };
};
