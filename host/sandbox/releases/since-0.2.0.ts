/**
 * `bearpunch:station@0.2.0`: what 0.1.0 has, and what an agent may ask of the station: text files (`workspace`) and
 * commands (`terminals`), each for a process the component started.
 */
import {
  list,
  longest,
  mostArguments,
  name,
  optionalInteger,
  optionalText,
  record,
  text,
  texts,
} from '../worker/arguments.ts';
import { nothing, offered, resultOf, spawned, terminalOutput, textAnswer } from '../worker/shapes.ts';
import type { Interface, Release } from './release.ts';
import { since010 } from './since-0.1.0.ts';

const u32 = 2 ** 32 - 1;
const option = 'option<string>';
const problem = `record{code:string,message:string,subject:${option},evidence:${option},fix:${option}}`;
const offer = 'record{read:bool,write:bool,terminals:bool}';
const variable = 'record{name:string,value:string}';
const command = `record{command:string,args:list<string>,env:list<${variable}>,cwd:${option},output-bytes:option<u32>}`;
const exit = `record{code:option<u32>,signal:${option}}`;
const printed = `record{text:string,truncated:bool,exit:option<${exit}>}`;
const of = 'process:string,agent:string';

const workspace: Interface = {
  types: { problem, offer },
  funcs: {
    offered: `func(${of}) -> result<${offer},${problem}>`,
    'read-text-file': `func(${of},path:string,line:option<u32>,limit:option<u32>) -> result<string,${problem}>`,
    'write-text-file': `func(${of},path:string,content:string) -> result<_,${problem}>`,
  },
};
const terminals: Interface = {
  types: { problem, variable, command, exit, printed },
  funcs: {
    create: `func(${of},command:${command}) -> result<string,${problem}>`,
    output: `func(terminal:string) -> result<${printed},${problem}>`,
    kill: 'func(terminal:string)',
    release: 'func(terminal:string)',
  },
};

/** Whose files and commands a call is about. */
const owner = (process: unknown, agent: unknown, place: string) => ({
  process: name(process, `${place} process`, longest.id),
  agent: name(agent, `${place} agent`, longest.agent),
});

const commandOf = (value: unknown) => {
  const place = 'terminals.create command';
  const found = record(value, place);
  return {
    command: text(found['command'], place, longest.path),
    args: texts(found['args'], `${place} args`, mostArguments, longest.argument),
    env: list(found['env'], `${place} env`, mostArguments).map((each) => {
      const one = record(each, `${place} env`);
      return {
        name: text(one['name'], `${place} env name`, longest.id),
        value: text(one['value'], `${place} env value`, longest.argument),
      };
    }),
    cwd: optionalText(found['cwd'], `${place} cwd`, longest.path),
    outputBytes: optionalInteger(found['outputBytes'], `${place} output-bytes`, u32),
  };
};

const serve: Release['serve'] = (ledger, ask) => {
  const ended = (kind: 'kill' | 'release') => (terminal: unknown) => {
    const id = name(terminal, `terminals.${kind} terminal`, longest.id);
    ledger.add({ kind, process: id }, id.length);
  };
  return {
    ...since010.serve(ledger, ask),
    'bearpunch:station/workspace': {
      offered: (process: unknown, agent: unknown) =>
        offered(resultOf(ask({ call: 'workspace.offered', ...owner(process, agent, 'workspace.offered') }))),
      readTextFile: (process: unknown, agent: unknown, path: unknown, line: unknown, limit: unknown) => {
        const place = 'workspace.read-text-file';
        const call = {
          call: 'workspace.read' as const,
          ...owner(process, agent, place),
          path: text(path, `${place} path`, longest.path),
          line: optionalInteger(line, `${place} line`, u32),
          limit: optionalInteger(limit, `${place} limit`, u32),
        };
        return textAnswer(resultOf(ask(call)));
      },
      writeTextFile: (process: unknown, agent: unknown, path: unknown, content: unknown) => {
        const place = 'workspace.write-text-file';
        const call = {
          call: 'workspace.write' as const,
          ...owner(process, agent, place),
          path: text(path, `${place} path`, longest.path),
          content: text(content, `${place} content`, longest.content),
        };
        return nothing(resultOf(ask(call)));
      },
    },
    'bearpunch:station/terminals': {
      create: (process: unknown, agent: unknown, asked: unknown) => {
        const call = {
          call: 'terminals.create' as const,
          ...owner(process, agent, 'terminals.create'),
          command: commandOf(asked),
        };
        return spawned(resultOf(ask(call)));
      },
      output: (terminal: unknown) => {
        const id = name(terminal, 'terminals.output terminal', longest.id);
        return terminalOutput(resultOf(ask({ call: 'terminals.output', terminal: id })));
      },
      kill: ended('kill'),
      release: ended('release'),
    },
  };
};

export const since020: Release = {
  version: '0.2.0',
  imports: { ...since010.imports, workspace, terminals },
  component: since010.component,
  serve,
};
