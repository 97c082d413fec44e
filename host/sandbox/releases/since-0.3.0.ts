/**
 * `bearpunch:station@0.3.0`: what 0.2.0 has, and servers behind the station's gateway, asked for session by session.
 */
import { longest, name, optionalText } from '../worker/arguments.ts';
import { gatewayProvision, resultOf } from '../worker/shapes.ts';
import type { Interface, Release } from './release.ts';
import { since020 } from './since-0.2.0.ts';

const option = 'option<string>';
const problem = `record{code:string,message:string,subject:${option},evidence:${option},fix:${option}}`;
const gateway = 'record{url:string,command:string,args:list<string>}';

const before = since020.imports['session-context'] ?? { types: {}, funcs: {} };
const { stdio = '', http = '', withheld = '', approve = '' } = before.types;
const transport = `variant{stdio(${stdio}),http(${http}),gateway(${gateway})}`;
const offered = `record{name:string,rule:string,transport:${transport}}`;
const provision = `record{policy-revision:string,program:${option},provider:${option},approve:${approve},sink:${option},offered:list<${offered}>,withheld:list<${withheld}>}`;

const context: Interface = {
  types: { ...before.types, gateway, transport, offered, provision },
  funcs: {
    ...before.funcs,
    servers: `func(agent:string) -> result<${provision},${problem}>`,
    'servers-for': `func(session:string,agent:string,cwd:string,mcp-config:${option}) -> result<${provision},${problem}>`,
  },
};

const serve: Release['serve'] = (ledger, ask) => {
  const served = since020.serve(ledger, ask);
  const place = 'session-context.servers-for';
  return {
    ...served,
    'bearpunch:station/session-context': {
      ...served['bearpunch:station/session-context'],
      serversFor: (session: unknown, agent: unknown, cwd: unknown, mcpConfig: unknown): unknown => {
        const call = {
          call: place,
          session: name(session, `${place} session`, longest.id),
          agent: name(agent, `${place} agent`, longest.agent),
          cwd: name(cwd, `${place} cwd`, longest.path),
          mcpConfig: optionalText(mcpConfig, `${place} mcp-config`, longest.path),
        } as const;
        return gatewayProvision(resultOf(ask(call)));
      },
    },
  };
};

export const since030: Release = {
  version: '0.3.0',
  imports: { ...since020.imports, 'session-context': context },
  component: since020.component,
  serve,
};
