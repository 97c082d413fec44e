/**
 * How many attempts begin at once. A turn is given back when the attempt is over, or after a while in any case: a
 * server that is slow must not keep others from being dialled. Who was never dialled goes before who is tried again.
 */
export interface Turns {
  /** Resolves with the way to give it back; at once, with nothing taken, when the signal aborts. */
  readonly take: (signal: AbortSignal, again: boolean) => Promise<() => void>;
}

export const openTurns = (atOnce: number, turnMs: number): Turns => {
  const first: (() => void)[] = [];
  const later: (() => void)[] = [];
  let taken = 0;
  const next = (): void => {
    while (taken < atOnce) {
      const begin = first.shift() ?? later.shift();
      if (begin === undefined) return;
      begin();
    }
  };
  return {
    take: (signal, again) =>
      new Promise((resolve) => {
        const line = again ? later : first;
        const begin = (): void => {
          signal.removeEventListener('abort', leave);
          taken += 1;
          let given = false;
          const give = (): void => {
            if (given) return;
            given = true;
            clearTimeout(timer);
            taken -= 1;
            next();
          };
          const timer = setTimeout(give, turnMs);
          resolve(give);
        };
        const leave = (): void => {
          const at = line.indexOf(begin);
          if (at >= 0) line.splice(at, 1);
          resolve(() => {});
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        line.push(begin);
        next();
      }),
  };
};
