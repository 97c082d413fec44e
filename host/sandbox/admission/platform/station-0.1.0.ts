/**
 * `bearpunch:station@0.1.0` as admission reads it: everything an interface has, with its type written out. It says
 * what `wit/0.1.0/station.wit` says; a test builds a component from that file and compares.
 */
import type { Interface } from './table.ts';

const option = 'option<string>';
const problem = `record{code:string,message:string,subject:${option},evidence:${option},fix:${option}}`;
const message = 'record{id:string,topic:string,payload:string,source:string,at:u64}';
const outcome = `variant{done,replied(string),failed(${problem})}`;
const level = 'enum{debug,info,warn,error}';
const entry = 'record{key:string,value:string}';
const stdio = 'record{command:string,args:list<string>}';
const http = 'record{url:string}';
const transport = `variant{stdio(${stdio}),http(${http})}`;
const offered = `record{name:string,rule:string,transport:${transport}}`;
const withheld = 'record{name:string,rule:string,reason:string}';
const approve = 'enum{manual,auto,workspace}';
const provision = `record{policy-revision:string,program:${option},provider:${option},approve:${approve},sink:${option},offered:list<${offered}>,withheld:list<${withheld}>}`;
const decision = 'enum{placed,unchanged,refused}';
const placement = `record{bundle:string,revision:string,name:string,decision:${decision},reason:${option},files:u32}`;

const component: Interface = {
  types: { message, outcome },
  funcs: { handle: `func(batch:list<${message}>) -> list<${outcome}>` },
};

const imports: Readonly<Record<string, Interface>> = {
  types: { types: { problem, message, outcome }, funcs: {} },
  log: { types: { level }, funcs: { write: `func(level:${level},text:string)` } },
  clock: { types: {}, funcs: { now: 'func() -> u64', wake: 'func(token:string,after-ms:u32)' } },
  random: { types: {}, funcs: { bytes: 'func(count:u32) -> list<u8>' } },
  store: {
    types: { entry },
    funcs: {
      get: `func(key:string) -> ${option}`,
      scan: `func(prefix:string,after:${option},limit:u32) -> list<${entry}>`,
      put: 'func(key:string,value:string)',
      remove: 'func(key:string)',
    },
  },
  bus: {
    types: {},
    funcs: {
      begin: 'func(message-id:string)',
      publish: `func(topic:string,payload:string,to:${option},token:${option})`,
    },
  },
  process: {
    types: { problem },
    funcs: {
      spawn: `func(program:string,cwd:string) -> result<string,${problem}>`,
      write: 'func(process:string,text:string)',
      kill: 'func(process:string)',
    },
  },
  'session-context': {
    types: {
      problem,
      stdio,
      http,
      transport,
      offered,
      withheld,
      approve,
      provision,
      decision,
      placement,
    },
    funcs: {
      servers: `func(agent:string) -> result<${provision},${problem}>`,
      'place-skills': `func(cwd:string,sink:string) -> result<list<${placement}>,${problem}>`,
      outside: `func(cwd:string,paths:list<string>) -> result<list<string>,${problem}>`,
    },
  },
};

export const station010 = { version: '0.1.0', imports, component };
