import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitted, codeOf, message1, running, temporaryFolder, watGuest } from './guests.ts';

const one = '(data (i32.const 8) "\\00\\02\\00\\00\\01\\00\\00\\00")';
const streams = `
  (import "wasi:io/error@0.2.3" (instance $ioerror (export "error" (type (sub resource)))))
  (alias export $ioerror "error" (type $error))
  (import "wasi:io/streams@0.2.3" (instance $streams
    (export "output-stream" (type $os (sub resource)))
    (export "error" (type $e (eq $error)))
    (type $se (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $see (eq $se)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $os)) (param "contents" (list u8)) (result (result (error $see)))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stdout@0.2.3" (instance $stdout
    (export "output-stream" (type $o (eq $output-stream)))
    (export "get-stdout" (func (result (own $o))))))
  (core module $memory (memory (export "memory") 1) (data (i32.const 64) "hello\\nworld\\n"))
  (core instance $mem (instantiate $memory))
  (core func $get (canon lower (func $stdout "get-stdout")))
  (core func $put (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory (core memory $mem "memory"))))
  (core instance $wasi (export "get" (func $get)) (export "put" (func $put)))`;

test('standard output becomes log effects of the message, a line each', async (t) => {
  const bytes = await watGuest({
    imports: streams,
    with: '(with "wasi" (instance $wasi))',
    core: one,
    wasm: '(import "wasi" "get" (func $get (result i32))) (import "wasi" "put" (func $put (param i32 i32 i32 i32)))',
    handle: '(call $put (call $get) (i32.const 64) (i32.const 12) (i32.const 128)) i32.const 8',
  });
  const { send } = await running(await admitted(bytes, temporaryFolder(t)), t);
  const result = await send([message1('m1')]);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.handled[0]?.effects, [
    { kind: 'log', level: 'info', text: 'hello' },
    { kind: 'log', level: 'info', text: 'world' },
  ]);
});

test('clocks and random numbers are served; random bytes are bounded', async (t) => {
  const bytes = await watGuest({
    imports: `
      (import "wasi:random/random@0.2.3" (instance $random (export "get-random-u64" (func (result u64)))))
      (import "wasi:clocks/monotonic-clock@0.2.3" (instance $clock
        (type $i u64) (export "instant" (type $in (eq $i))) (export "now" (func (result $in)))))
      (core func $random64 (canon lower (func $random "get-random-u64")))
      (core func $now (canon lower (func $clock "now")))
      (core instance $wasi (export "random" (func $random64)) (export "now" (func $now)))`,
    with: '(with "wasi" (instance $wasi))',
    core: one,
    wasm: '(import "wasi" "random" (func $random (result i64))) (import "wasi" "now" (func $now (result i64)))',
    handle:
      '(if (i64.eq (call $random) (call $random)) (then unreachable)) (if (i64.eqz (call $now)) (then unreachable)) i32.const 8',
  });
  const { send } = await running(await admitted(bytes, temporaryFolder(t)), t);
  assert.equal(codeOf(await send([message1('m1')])), 'ok');
});
