/**
 * The part of WASI 0.2 that exists in the sandbox: clocks, random numbers, standard streams. Environment, arguments,
 * exit, files, sockets and HTTP do not: a component that imports them is refused. Types as in the WASI 0.2 WIT.
 */
import type { Interface } from '../releases/index.ts';

const streamError = 'variant{last-operation-failed(own<error>),closed}';
const bytes = 'list<u8>';
const input = 'self:borrow<input-stream>';
const output = 'self:borrow<output-stream>';
const datetime = 'record{seconds:u64,nanoseconds:u32}';
const written = `result<_,${streamError}>`;
const counted = `result<u64,${streamError}>`;
const readBytes = `result<${bytes},${streamError}>`;
const resource = (name: string): Readonly<Record<string, string>> => ({ [name]: name });
const method = (owner: string, funcs: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(funcs).map(([name, text]) => [`[method]${owner}.${name}`, text]));

const standard = (name: string, stream: string): Interface => ({
  types: resource(stream),
  funcs: { [`get-${name}`]: `func() -> own<${stream}>` },
});
const terminal = (name: string, kind: string): Interface => ({
  types: resource(kind),
  funcs: { [`get-terminal-${name}`]: `func() -> option<own<${kind}>>` },
});

export const wasi02: Readonly<Record<string, Interface>> = {
  'io/error': {
    types: resource('error'),
    funcs: method('error', { 'to-debug-string': 'func(self:borrow<error>) -> string' }),
  },
  'io/poll': {
    types: resource('pollable'),
    funcs: {
      ...method('pollable', {
        ready: 'func(self:borrow<pollable>) -> bool',
        block: 'func(self:borrow<pollable>)',
      }),
      poll: 'func(in:list<borrow<pollable>>) -> list<u32>',
    },
  },
  'io/streams': {
    types: {
      ...resource('error'),
      ...resource('pollable'),
      ...resource('input-stream'),
      ...resource('output-stream'),
      'stream-error': streamError,
    },
    funcs: {
      ...method('input-stream', {
        read: `func(${input},len:u64) -> ${readBytes}`,
        'blocking-read': `func(${input},len:u64) -> ${readBytes}`,
        skip: `func(${input},len:u64) -> ${counted}`,
        'blocking-skip': `func(${input},len:u64) -> ${counted}`,
        subscribe: `func(${input}) -> own<pollable>`,
      }),
      ...method('output-stream', {
        'check-write': `func(${output}) -> ${counted}`,
        write: `func(${output},contents:${bytes}) -> ${written}`,
        'blocking-write-and-flush': `func(${output},contents:${bytes}) -> ${written}`,
        flush: `func(${output}) -> ${written}`,
        'blocking-flush': `func(${output}) -> ${written}`,
        subscribe: `func(${output}) -> own<pollable>`,
        'write-zeroes': `func(${output},len:u64) -> ${written}`,
        'blocking-write-zeroes-and-flush': `func(${output},len:u64) -> ${written}`,
        splice: `func(${output},src:borrow<input-stream>,len:u64) -> ${counted}`,
        'blocking-splice': `func(${output},src:borrow<input-stream>,len:u64) -> ${counted}`,
      }),
    },
  },
  'cli/stdin': standard('stdin', 'input-stream'),
  'cli/stdout': standard('stdout', 'output-stream'),
  'cli/stderr': standard('stderr', 'output-stream'),
  'cli/terminal-input': { types: resource('terminal-input'), funcs: {} },
  'cli/terminal-output': { types: resource('terminal-output'), funcs: {} },
  'cli/terminal-stdin': terminal('stdin', 'terminal-input'),
  'cli/terminal-stdout': terminal('stdout', 'terminal-output'),
  'cli/terminal-stderr': terminal('stderr', 'terminal-output'),
  'clocks/monotonic-clock': {
    types: { instant: 'u64', duration: 'u64', ...resource('pollable') },
    funcs: {
      now: 'func() -> u64',
      resolution: 'func() -> u64',
      'subscribe-instant': 'func(when:u64) -> own<pollable>',
      'subscribe-duration': 'func(when:u64) -> own<pollable>',
    },
  },
  'clocks/wall-clock': {
    types: { datetime },
    funcs: { now: `func() -> ${datetime}`, resolution: `func() -> ${datetime}` },
  },
  'random/random': {
    types: {},
    funcs: { 'get-random-bytes': `func(len:u64) -> ${bytes}`, 'get-random-u64': 'func() -> u64' },
  },
  'random/insecure': {
    types: {},
    funcs: {
      'get-insecure-random-bytes': `func(len:u64) -> ${bytes}`,
      'get-insecure-random-u64': 'func() -> u64',
    },
  },
  'random/insecure-seed': { types: {}, funcs: { 'insecure-seed': 'func() -> tuple<u64,u64>' } },
};
