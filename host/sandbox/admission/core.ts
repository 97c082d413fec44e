/**
 * Core modules: their names, memories and tables are read, and the module is written again with maxima for every
 * memory and table it defines and without its custom sections (nothing the host does with it reads those).
 *
 * A memory or table it imports is one that another module of the same component defines, so bounding definitions
 * bounds all of them.
 */
import { coreName, nameBytes } from './names.ts';
import { fault, leb128, type Reader, reader } from './reader.ts';

export const wasmPage = 65_536;
/** Sections of one module or component; toolchains write at most some hundreds. */
const sectionCap = 10_000;

/** Units are pages for a memory and elements for a table. */
export interface Range {
  readonly minimum: number;
  readonly maximum: number | undefined;
}
export interface CoreModule {
  readonly start: number;
  readonly end: number;
  readonly memories: readonly Range[];
  readonly tables: readonly Range[];
}
export interface ModuleMaxima {
  /** Maximum of each memory defined, pages, in order. */
  readonly memories: readonly number[];
  /** Maximum of every table, elements. */
  readonly table: number;
}

const section = { custom: 0, import: 2, table: 4, memory: 5, export: 7 } as const;
const importKinds = 5;

const range = (from: Reader, what: string): Range => {
  const flags = from.byte();
  if (flags > 1) {
    return fault('sandbox/unsupported', {
      evidence: `a ${what} with limit flags ${flags}: shared, 64-bit or custom page size`,
    });
  }
  const minimum = from.u32();
  return { minimum, maximum: flags === 1 ? from.u32() : undefined };
};

const referenceType = (from: Reader): void => {
  const kind = from.byte();
  // funcref, externref and their null forms stand alone; (ref null? ht) has a heap type behind it.
  if (kind === 0x63 || kind === 0x64) from.s33();
};

const table = (from: Reader): Range => {
  if (from.peek() !== 0x40) {
    referenceType(from);
    return range(from, 'table');
  }
  return fault('sandbox/unsupported', { evidence: 'a table with an initialiser expression' });
};

const skipImportType = (from: Reader): void => {
  const kind = from.byte();
  if (kind >= importKinds) fault('sandbox/unsupported', { evidence: `a core import of kind ${kind}` });
  if (kind === 0) from.u32();
  else if (kind === 1) table(from);
  else if (kind === 2) range(from, 'memory');
  else if (kind === 3) {
    referenceType(from);
    from.byte();
  } else {
    from.byte();
    from.u32();
  }
};

interface Section {
  readonly id: number;
  readonly start: number;
  readonly body: Reader;
}

/** The sections after an eight-byte preamble. */
export function* sections(bytes: Uint8Array, start: number, end: number): Generator<Section> {
  const from = reader(bytes, start + 8, end);
  for (let count = 0; !from.done(); count += 1) {
    if (count === sectionCap) fault('sandbox/malformed', { evidence: `more than ${sectionCap} sections` });
    const at = from.at();
    const id = from.byte();
    yield { id, start: at, body: from.slice(from.u32()) };
  }
}

const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** Reads one module; every import and export name is held to an alphabet, by default the one for components. */
export const readCoreModule = (
  bytes: Uint8Array,
  start: number,
  end: number,
  name: (name: string) => string = coreName,
): CoreModule => {
  if (end - start < 8 || preamble.some((byte, index) => bytes[start + index] !== byte)) {
    fault('sandbox/malformed', { evidence: `no core module at byte ${start}` });
  }
  let memories: readonly Range[] = [];
  let tables: readonly Range[] = [];
  for (const { id, body } of sections(bytes, start, end)) {
    if (id === section.import) {
      body.vector(() => {
        name(body.name(nameBytes));
        name(body.name(nameBytes));
        skipImportType(body);
      });
    } else if (id === section.export) {
      body.vector(() => {
        name(body.name(nameBytes));
        body.byte();
        body.u32();
      });
    } else if (id === section.memory) memories = [...memories, ...body.vector(() => range(body, 'memory'))];
    else if (id === section.table) tables = [...tables, ...body.vector(() => table(body))];
    else continue;
    if (!body.done()) fault('sandbox/malformed', { evidence: `bytes left in core section ${id}` });
  }
  return { start, end, memories, tables };
};

const lower = (declared: number | undefined, cap: number): number => Math.min(declared ?? cap, cap);

const limited = (from: Reader, prefix: number[], cap: number, what: string): number[] => {
  const { minimum, maximum } = range(from, what);
  return [...prefix, 0x01, ...leb128(minimum), ...leb128(lower(maximum, cap))];
};

const rewritten = (
  bytes: Uint8Array,
  id: number,
  body: Reader,
  maxima: ModuleMaxima,
  seen: number,
): number[] => {
  const entries = body.vector((index) => {
    if (id === section.memory) return limited(body, [], maxima.memories[seen + index] ?? 0, 'memory');
    const start = body.at();
    referenceType(body);
    return limited(body, [...bytes.subarray(start, body.at())], maxima.table, 'table');
  });
  return [...leb128(entries.length), ...entries.flat()];
};

/** The module's bytes with the maxima written in and its custom sections left out. */
export const limitCoreModule = (
  bytes: Uint8Array,
  module: CoreModule,
  maxima: ModuleMaxima,
): Uint8Array[] => {
  const out: Uint8Array[] = [bytes.subarray(module.start, module.start + 8)];
  let memories = 0;
  for (const { id, start, body } of sections(bytes, module.start, module.end)) {
    if (id === section.custom) continue;
    if (id !== section.memory && id !== section.table) {
      out.push(bytes.subarray(start, body.end));
      continue;
    }
    const content = rewritten(bytes, id, body, maxima, memories);
    if (id === section.memory) memories += module.memories.length;
    out.push(Uint8Array.from([id, ...leb128(content.length), ...content]));
  }
  return out;
};
