/** `clock.wake`: one `station.woke {token}` a token, forgotten when the station stops. */

/** Wake-ups one component may have pending; the oldest asked for again moves, a new one beyond is dropped with a log. */
const most = 1_000;

/** Longest wait of one timer, ms: Node lets a longer one end at once. */
const longestMs = 2 ** 31 - 1;

export interface Wakes {
  readonly wake: (component: string, token: string, afterMs: number) => void;
  readonly forget: (component: string) => void;
  readonly close: () => void;
}

export const openWakes = (
  woke: (component: string, token: string) => void,
  refused: (component: string, token: string) => void,
): Wakes => {
  const pending = new Map<string, Map<string, NodeJS.Timeout>>();
  const forget = (component: string) => {
    for (const timer of pending.get(component)?.values() ?? []) clearTimeout(timer);
    pending.delete(component);
  };
  return {
    wake: (component, token, afterMs) => {
      const own = pending.get(component) ?? new Map<string, NodeJS.Timeout>();
      pending.set(component, own);
      clearTimeout(own.get(token));
      if (!own.has(token) && own.size >= most) return refused(component, token);
      const waitFor = (leftMs: number) => {
        const timer = setTimeout(
          () => {
            if (leftMs > longestMs) return waitFor(leftMs - longestMs);
            own.delete(token);
            woke(component, token);
          },
          Math.min(leftMs, longestMs),
        );
        timer.unref();
        own.set(token, timer);
      };
      waitFor(afterMs);
    },
    forget,
    close: () => {
      for (const component of [...pending.keys()]) forget(component);
    },
  };
};
