/**
 * The tools of one server as one session is shown them: those policy narrows it to, under names every client takes,
 * everything else of each as the server listed it.
 */
import type { Json } from '../connections/edge.ts';
import { toolNames } from '../gate/names.ts';

export interface Offer {
  /** As listed to the agent. */
  readonly tools: readonly Json[];
  /** By the name the agent calls. */
  readonly byName: ReadonlyMap<string, { readonly original: string; readonly tool: Json }>;
}

/** Pure. `allowed`: the server's own names; undefined: all. */
export const offerOf = (alias: string, tools: readonly Json[], allowed?: readonly string[]): Offer => {
  const named = tools.filter((tool) => typeof tool['name'] === 'string');
  const first = new Map<string, Json>();
  for (const tool of named) {
    const name = tool['name'] as string;
    if (!first.has(name)) first.set(name, tool);
  }
  // Names are mapped before any is left out: what one is called must not depend on what policy narrows.
  const byName = new Map<string, { original: string; tool: Json }>();
  const wanted = allowed === undefined ? undefined : new Set(allowed);
  const shown: Json[] = [];
  for (const { original, exposed } of toolNames(alias, [...first.keys()])) {
    const tool = first.get(original);
    if (tool === undefined || (wanted !== undefined && !wanted.has(original))) continue;
    const seen = exposed === original ? tool : { ...tool, name: exposed };
    shown.push(seen);
    byName.set(exposed, { original, tool: seen });
  }
  return { tools: shown, byName };
};

/** Whether an agent that was shown the one need not be told of the other. */
export const isSame = (a: Offer, b: Offer): boolean =>
  a === b ||
  (a.tools.length === b.tools.length &&
    a.tools.every(
      (tool, at) => tool === b.tools[at] || JSON.stringify(tool) === JSON.stringify(b.tools[at]),
    ));

/** Offers remembered of one list of tools: two readings of policy, and a few aliases. */
const rememberedOfList = 32;

/** Offers made before, by the list they were made of; a connection keeps its list while nothing changed. */
export const rememberOffers = () => {
  const known = new WeakMap<readonly Json[], Map<string, Offer>>();
  return (alias: string, tools: readonly Json[], allowed?: readonly string[]): Offer => {
    const of = known.get(tools) ?? new Map<string, Offer>();
    known.set(tools, of);
    const key = JSON.stringify([alias, allowed]);
    const offer = of.get(key) ?? offerOf(alias, tools, allowed);
    if (of.size > rememberedOfList) of.clear();
    of.set(key, offer);
    return offer;
  };
};
