/** `store`: the reads a guest blocks on. Writes are effects, committed by the bus. */

import type { SyncAnswer, SyncCall } from '../sandbox/index.ts';
import type { ComponentStore } from '../state/index.ts';

type StoreCall = Extract<SyncCall, { call: `store.${string}` }>;

export const answerStore = (store: ComponentStore, component: string, call: StoreCall): SyncAnswer => ({
  ok: true,
  value:
    call.call === 'store.get'
      ? (store.get(component, call.key) ?? null)
      : store.scan(component, call.prefix, call.after, call.limit),
});
