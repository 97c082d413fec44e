/**
 * The dialling side against what nobody here wrote: the client scenarios of the conformance suite, each check passed or
 * not applicable, and the two best known servers from npm.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Answered, Json } from '../../host/mcp/index.ts';
import { openDialled, program } from '../mcp/dialled.ts';
import { installed } from './installed.ts';
import { checksOf } from './suite.ts';

const command = `"${process.execPath}" "${join(import.meta.dirname, 'dialling-client.ts')}"`;

for (const scenario of [
  'initialize',
  'tools_call',
  'sse-retry',
  'request-metadata',
  'http-standard-headers',
  'http-custom-headers',
  'http-invalid-tool-headers',
  'elicitation-sep1034-client-defaults',
  'sep-2322-client-request-state',
  'json-schema-ref-no-deref',
]) {
  test(`client scenario ${scenario}: every check`, async (t) => {
    const { code, checks } = await checksOf(t, ['client', '--command', command, '--scenario', scenario]);
    assert.equal(code, 0);
    const wrong = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    assert.deepEqual(
      wrong.map(({ id }) => id),
      [],
    );
    assert.ok(checks.some(({ status }) => status === 'SUCCESS'));
  });
}

/** The one executable of a package. */
const executable = async (name: string, version: string): Promise<string> => {
  const folder = await installed(name, version);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  return join(folder, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
};
const resultOf = (answered: Answered): Json => {
  assert.ok('result' in answered, JSON.stringify(answered));
  return answered.result;
};

test('server-everything: tools, structured content, images, progress, resources, prompts, and what it asks', async (t) => {
  const file = await executable('@modelcontextprotocol/server-everything', '2026.8.31');
  const desk = await openDialled(t, () => [program('everything', process.execPath, [file, 'stdio'])]);
  const connection = await desk.connected('everything');
  const names = connection.tools().map(({ name }) => name);
  const call = async (name: string, args: Json = {}, options = {}) => {
    assert.ok(names.includes(name), `${name} is not in ${names.join()}`);
    return resultOf(await connection.request('tools/call', { name, arguments: args }, options));
  };
  assert.deepEqual((await call('echo', { message: 'hello' }))['content'], [
    { type: 'text', text: 'Echo: hello' },
  ]);
  assert.ok(
    JSON.stringify((await call('get-structured-content', { location: 'New York' }))['structuredContent']),
  );
  assert.match(JSON.stringify((await call('get-tiny-image'))['content']), /"mimeType":"image\/png"/);
  const progress: Json[] = [];
  await call(
    'trigger-long-running-operation',
    { duration: 0.2, steps: 4 },
    { onProgress: (made: Json) => progress.push(made) },
  );
  assert.deepEqual(
    progress.map(({ progress: step }) => step),
    [1, 2, 3, 4],
  );
  const asked: string[] = [];
  const onAsk = async ({ method }: { method: string }) => {
    asked.push(method);
    return method === 'elicitation/create'
      ? { action: 'decline' }
      : { model: 'none', role: 'assistant', content: { type: 'text', text: 'sampled words' } };
  };
  await call('trigger-elicitation-request', {}, { onAsk });
  assert.match(
    JSON.stringify(await call('trigger-sampling-request', { prompt: 'x', maxTokens: 10 }, { onAsk })),
    /sampled words/,
  );
  assert.deepEqual(asked, ['elicitation/create', 'sampling/createMessage']);
  const { resources } = resultOf(await connection.request('resources/list', {})) as { resources: Json[] };
  const read = resultOf(await connection.request('resources/read', { uri: resources[0]?.['uri'] }));
  assert.equal((read['contents'] as Json[]).length, 1);
  const { prompts } = resultOf(await connection.request('prompts/list', {})) as { prompts: Json[] };
  assert.ok(prompts.length > 0);
});

test('server-filesystem: it reads and writes where it may, and its refusals come as they are', async (t) => {
  const file = await executable('@modelcontextprotocol/server-filesystem', '2026.8.31');
  const desk = await openDialled(t, ({ dir }) => [program('files', process.execPath, [file, dir])]);
  const connection = await desk.connected('files');
  writeFileSync(join(desk.dir, 'a.txt'), 'the bytes');
  const call = async (name: string, args: Json) =>
    resultOf(await connection.request('tools/call', { name, arguments: args }));
  assert.match(JSON.stringify(await call('read_text_file', { path: join(desk.dir, 'a.txt') })), /the bytes/);
  await call('write_file', { path: join(desk.dir, 'b.txt'), content: 'written' });
  assert.equal(readFileSync(join(desk.dir, 'b.txt'), 'utf8'), 'written');
  const refused = await call('read_text_file', { path: '/etc/hostname' });
  assert.equal(refused['isError'], true);
  assert.match(JSON.stringify(refused), /Access denied/);
});
