/** Components for the tests: QuickJS guests built from source, and small ones written as WAT to be hostile with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools';
import { componentize } from 'componentize-qjs';
import { permissions } from '../../host/policy/index.ts';
import type { Problem } from '../../host/problems/index.ts';
import {
  type Activation,
  type ActivationOptions,
  type AdmittedComponent,
  admitComponent,
  type BatchResult,
  type ComponentLimits,
  defaultLimits,
  type Message,
  startActivation,
} from '../../host/sandbox/index.ts';

/** A release to build guests against: its folder, and the interfaces in scope. */
export interface Against {
  readonly version: string;
  readonly witPath: string;
  readonly interfaces: readonly string[];
}
export const since010: Against = {
  version: '0.1.0',
  witPath: fileURLToPath(new URL('../../wit/0.1.0', import.meta.url)),
  interfaces: ['log', 'clock', 'random', 'store', 'bus', 'process', 'session-context'],
};

/** A QuickJS component whose `handle` has this body; `batch` and every platform interface are in scope. */
export const quickJs = async (body: string, against: Against = since010): Promise<Uint8Array> => {
  const { version, witPath, interfaces } = against;
  const imports = interfaces
    .map((name) => `import * as ${name.replace('-', '')} from 'bearpunch:station/${name}@${version}';`)
    .join('\n');
  const jsSource = `${imports}\nexport const component = { handle(batch) {\n${body}\n} };`;
  const options = { witPath, jsSource, world: 'plugin', stubWasi: true, sync: true, optSize: true };
  return (await componentize(options)).component;
};

export const wat = (text: string): Promise<Uint8Array> => parse(text);

const problem =
  '(record (field "code" string) (field "message" string) (field "subject" (option string)) (field "evidence" (option string)) (field "fix" (option string)))';
const message =
  '(record (field "id" string) (field "topic" string) (field "payload" string) (field "source" string) (field "at" u64))';
const outcome = (failure: string): string =>
  `(variant (case "done") (case "replied" string) (case "failed" ${failure}))`;

export interface WatGuest {
  /** Imports at component level. */
  readonly imports?: string;
  /** Body of the core function `handle`; the default returns an empty list. */
  readonly handle?: string;
  /** Imports of the core module. */
  readonly wasm?: string;
  /** Further fields of the core module. */
  readonly core?: string;
  /** Parameters of `instantiate`. */
  readonly with?: string;
  readonly memory?: string;
  /** Further fields of the component. */
  readonly extra?: string;
}

/** A whole small component; each part can be replaced by a hostile one. */
export const watGuest = (parts: WatGuest = {}): Promise<Uint8Array> =>
  wat(`(component
  (import "bearpunch:station/types@0.1.0" (instance $types
    (type $p ${problem}) (export "problem" (type $pe (eq $p)))
    (type $m ${message}) (export "message" (type (eq $m)))
    (type $o ${outcome('$pe')}) (export "outcome" (type (eq $o)))))
  (alias export $types "problem" (type $problem))
  (alias export $types "message" (type $message))
  (alias export $types "outcome" (type $outcome))
  ${parts.imports ?? ''}
  (core module $main
    ${parts.wasm ?? ''}
    (memory (export "memory") ${parts.memory ?? '1'})
    (global $free (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.set $free (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
      global.get $free
      (global.set $free (i32.add (global.get $free) (local.get 3))))
    (func (export "handle") (param i32 i32) (result i32) ${parts.handle ?? 'i32.const 8'})
    ${parts.core ?? ''})
  (core instance $i (instantiate $main ${parts.with ?? ''}))
  (func $handle (param "batch" (list $message)) (result (list $outcome))
    (canon lift (core func $i "handle") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
  (component $shim
    (type $p0 ${problem}) (import "import-type-problem" (type $p (eq $p0)))
    (type $m0 ${message}) (import "import-type-message" (type $m (eq $m0)))
    (type $o0 ${outcome('$p')}) (import "import-type-outcome" (type $o (eq $o0)))
    (import "import-func-handle" (func $h (param "batch" (list $m)) (result (list $o))))
    (export $me "message" (type $m))
    (export $oe "outcome" (type $o))
    (export "handle" (func $h) (func (param "batch" (list $me)) (result (list $oe)))))
  (instance $c (instantiate $shim
    (with "import-type-problem" (type $problem))
    (with "import-type-message" (type $message))
    (with "import-type-outcome" (type $outcome))
    (with "import-func-handle" (func $handle))))
  (export "bearpunch:station/component@0.1.0" (instance $c))
  ${parts.extra ?? ''})`);

/** A test, as far as cleaning up after it goes. */
export interface Lifetime {
  readonly after: (end: () => unknown) => void;
}

/** A folder that is gone when the test is. */
export const temporaryFolder = (t: Lifetime): string => {
  const folder = mkdtempSync(join(tmpdir(), 'jupiter-sandbox-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const limits = (some: Partial<ComponentLimits> = {}): ComponentLimits => ({
  ...defaultLimits,
  ...some,
});

export const admitted = async (
  bytes: Uint8Array,
  cache: string,
  some: Partial<ComponentLimits> = {},
): Promise<AdmittedComponent> => {
  const result = await admitComponent(bytes, { cache, permissions, limits: limits(some) });
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.value;
};

export const message1 = (id: string, payload = '{}', topic = 'test.topic'): Message => ({
  id,
  topic,
  payload,
  source: 'station',
  at: 1_700_000_000_000,
});

export interface Running {
  readonly activation: Activation;
  /** Sends a batch; its result. */
  readonly send: (messages: readonly Message[]) => Promise<BatchResult>;
  /** Resolves with the problem when the worker is gone by itself. */
  readonly gone: Promise<Problem>;
  /** What was called back, in order. */
  readonly events: string[];
}

export const running = async (
  component: AdmittedComponent,
  t: Lifetime,
  some: Partial<ComponentLimits> = {},
  onCall: ActivationOptions['onCall'] = () => ({ ok: true, value: null }),
): Promise<Running> => {
  const waiting = new Map<number, (result: BatchResult) => void>();
  const events: string[] = [];
  const { promise: gone, resolve: onGone } = Promise.withResolvers<Problem>();
  const started = await startActivation(component, {
    limits: limits(some),
    name: 'test:component',
    onCall: (call, during) => {
      events.push(`call ${call.call} ${during}`);
      return onCall(call, during);
    },
    onResult: (batch, result) => {
      events.push(`result ${batch} ${result.ok ? 'ok' : result.problem.code}`);
      waiting.get(batch)?.(result);
    },
    onGone: (reason) => {
      events.push(`gone ${reason.code}`);
      onGone(reason);
    },
  });
  if (!started.ok) throw new Error(JSON.stringify(started.problem));
  const activation = started.value;
  t.after(() => activation.stop());
  const send = (messages: readonly Message[]): Promise<BatchResult> => {
    const { promise, resolve } = Promise.withResolvers<BatchResult>();
    waiting.set(activation.handle(messages), resolve);
    return promise;
  };
  return { activation, send, gone, events };
};

/** The code of a failed result; `ok` for one that is not. */
export const codeOf = (result: {
  readonly ok: boolean;
  readonly problem?: { readonly code: string };
}): string => (result.ok ? 'ok' : (result.problem?.code ?? ''));
