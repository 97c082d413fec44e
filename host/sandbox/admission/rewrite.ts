/**
 * Writes a component again for the transpiler: every memory and table it defines has a maximum, and no custom section
 * is left (they carry names and documentation that nothing here needs).
 *
 * The bound on memory is for all memories of all instances together. The one that starts largest, a guest's heap,
 * may grow into what the others leave; each other one gets an equal small share.
 */
import { ok, type Result, refuse } from '../../problems/index.ts';
import type { ComponentLimits } from '../limits.ts';
import { type CoreModule, limitCoreModule, type ModuleMaxima, sections, wasmPage } from './core.ts';
import { leb128 } from './reader.ts';
import type { ComponentTree } from './scope.ts';

/** Core instances of one component, composed ones included. */
const instanceCap = 200;
/** Of the bound, what a memory beside the main one gets at most. */
const sideShare = 8;

/** How often each module is instantiated; undefined where that is more than `instanceCap` altogether. */
const instanceCounts = (root: ComponentTree): ReadonlyMap<CoreModule, number> | undefined => {
  const counts = new Map<CoreModule, number>();
  let total = 0;
  const visit = (tree: ComponentTree): boolean => {
    for (const module of tree.instantiated) counts.set(module, (counts.get(module) ?? 0) + 1);
    total += tree.instantiated.length + 1;
    return total <= instanceCap && tree.composed.every(visit);
  };
  return visit(root) ? counts : undefined;
};

/** Maxima for every module, by the rule above. */
export const memoryPlan = (
  root: ComponentTree,
  limits: ComponentLimits,
): Result<ReadonlyMap<CoreModule, ModuleMaxima>> => {
  const counts = instanceCounts(root);
  if (counts === undefined) {
    return refuse('sandbox/unsupported', { evidence: `more than ${instanceCap} instances of modules` });
  }
  const memories = [...counts].flatMap(([module, instances]) =>
    module.memories.map((memory, index) => ({ module, index, instances, ...memory })),
  );
  const pages = Math.floor(limits.memoryBytes / wasmPage);
  // A module with two instances cannot be the one heap: it would count twice.
  const main = memories
    .filter(({ instances }) => instances === 1)
    .reduce<(typeof memories)[number] | undefined>(
      (best, memory) => (best === undefined || memory.minimum > best.minimum ? memory : best),
      undefined,
    );
  const others = memories.filter((memory) => memory !== main);
  const sides = others.reduce((sum, { instances }) => sum + instances, 0);
  const share = Math.min(Math.floor(pages / sideShare), Math.floor(pages / 2 / Math.max(1, sides)));
  const wanted = (memory: (typeof memories)[number]): number =>
    Math.min(memory.maximum ?? Number.POSITIVE_INFINITY, Math.max(memory.minimum, share));
  const taken = others.reduce((sum, memory) => sum + wanted(memory) * memory.instances, 0);
  const left = pages - taken;
  if (left < (main?.minimum ?? 0)) {
    return refuse('sandbox/memory-minimum', {
      evidence: `it starts with ${taken + (main?.minimum ?? 0)} pages of 64 KiB; ${pages} are allowed (memoryBytes)`,
    });
  }
  const tables = [...counts].flatMap(([module]) => module.tables);
  const table = tables.find(({ minimum }) => minimum > limits.tableElements);
  if (table !== undefined) {
    return refuse('sandbox/table-minimum', {
      evidence: `a table of ${table.minimum} elements; ${limits.tableElements} are allowed (tableElements)`,
    });
  }
  const plan = new Map<CoreModule, ModuleMaxima>();
  for (const module of counts.keys()) {
    const maxima = memories
      .filter((memory) => memory.module === module)
      .map((memory) => (memory === main ? left : wanted(memory)));
    plan.set(module, { memories: maxima, table: limits.tableElements });
  }
  return ok(plan);
};

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
};

/** The component's bytes under a plan; a module nothing instantiates is held to one page. */
export const limitComponent = (
  bytes: Uint8Array,
  tree: ComponentTree,
  plan: ReadonlyMap<CoreModule, ModuleMaxima>,
): Uint8Array => {
  const out: Uint8Array[] = [bytes.subarray(tree.start, tree.start + 8)];
  let modules = 0;
  let components = 0;
  const nested = (id: number, content: Uint8Array): void => {
    out.push(Uint8Array.from([id, ...leb128(content.length)]), content);
  };
  for (const { id, start, body } of sections(bytes, tree.start, tree.end)) {
    const module = id === 0x01 ? tree.modules[modules] : undefined;
    const component = id === 0x04 ? tree.components[components] : undefined;
    if (id === 0x00) continue;
    if (module !== undefined) {
      modules += 1;
      const maxima = plan.get(module) ?? {
        memories: module.memories.map(({ minimum }) => Math.max(minimum, 1)),
        table: Math.max(0, ...module.tables.map(({ minimum }) => minimum)),
      };
      nested(id, joined(limitCoreModule(bytes, module, maxima)));
    } else if (component !== undefined) {
      components += 1;
      nested(id, limitComponent(bytes, component, plan));
    } else out.push(bytes.subarray(start, body.end));
  }
  return joined(out);
};
