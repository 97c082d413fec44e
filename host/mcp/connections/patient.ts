/**
 * `fetch` gives an answer five minutes to begin and five between any two parts of it. A call that waits for a person
 * takes longer, and has a time of its own; so requests of calls go through an agent without these bounds. The runtime
 * hands out its own agent by a symbol only; where that is not to be had, the five minutes stay.
 */
type Agent = object;
type AgentMaker = new (options: { readonly headersTimeout: number; readonly bodyTimeout: number }) => Agent;

let made: Agent | undefined;

const isAgentMaker = (value: unknown): value is AgentMaker =>
  typeof value === 'function' && value.name === 'Agent';

/** For the option `dispatcher` of `fetch`. One for all connections: it keeps sockets open for the next request. */
export const patientAgent = async (): Promise<Agent | undefined> => {
  if (made !== undefined) return made;
  // The runtime makes its agent when something is fetched first.
  await fetch('data:,');
  const symbols = [Symbol.for('undici.globalDispatcher.2'), Symbol.for('undici.globalDispatcher.1')];
  for (const symbol of symbols) {
    const maker: unknown = (globalThis as { [key: symbol]: { constructor?: unknown } | undefined })[symbol]
      ?.constructor;
    if (isAgentMaker(maker)) made ??= new maker({ headersTimeout: 0, bodyTimeout: 0 });
  }
  return made;
};
