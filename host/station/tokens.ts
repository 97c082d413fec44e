/**
 * The token of a session, where it is put in: a provider writes a place for it into what it tells its agent
 * (`bearpunch.agents.open.v3`), and the station fills that place as the text goes to the agent's process. No component
 * ever holds it, and only the provider of a session has it put in. It is good as long as that process lives.
 */
import type { Gateway } from '../mcp/index.ts';

export interface TokensOptions {
  /** Undefined while no gateway is open. */
  readonly gateway: () => Pick<Gateway, 'admit' | 'dismiss'> | undefined;
  /** Whether this component is the provider of the session's agent. */
  readonly provides: (component: string, session: string) => boolean;
}
export interface Tokens {
  readonly filled: (component: string, process: string, text: string) => string;
  /** The one a process was given. */
  readonly of: (process: string) => string | undefined;
  /** The process is gone. */
  readonly ended: (process: string) => void;
}

/**
 * That header and that variable and nothing else: text of a prompt cannot look like this in JSON, and the value of an
 * option is no such place either.
 */
const place =
  /"name":"(Authorization","value":"Bearer |JUPITER_GATEWAY_TOKEN","value":")\$\{jupiter\.token:([A-Za-z0-9-]{1,64})\}"/g;

export const openTokens = ({ gateway, provides }: TokensOptions): Tokens => {
  /** By the process that was given it. */
  const held = new Map<string, { readonly session: string; readonly token: string }>();

  const tokenFor = (component: string, process: string, session: string): string | undefined => {
    const open = gateway();
    if (open === undefined || !provides(component, session)) return undefined;
    const known = held.get(process);
    // A process works for one session: that of another one is not its to have.
    if (known !== undefined) return known.session === session ? known.token : undefined;
    const token = open.admit(session);
    held.set(process, { session, token });
    return token;
  };

  return {
    filled: (component, process, text) => {
      if (!text.includes('{jupiter.token:')) return text;
      // A hundred servers of one session are a hundred places for one token.
      const found = new Map<string, string | undefined>();
      return text.replace(place, (whole, name: string, session: string) => {
        if (!found.has(session)) found.set(session, tokenFor(component, process, session));
        const token = found.get(session);
        return token === undefined ? whole : `"name":"${name}${token}"`;
      });
    },
    of: (process) => held.get(process)?.token,
    ended: (process) => {
      const known = held.get(process);
      if (known === undefined) return;
      held.delete(process);
      // A session that was taken up again has the token of its new process.
      if (![...held.values()].some(({ session }) => session === known.session))
        gateway()?.dismiss(known.session);
    },
  };
};
