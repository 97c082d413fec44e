import assert from 'node:assert/strict';
import test from 'node:test';
import { answerCalls } from '../../host/capabilities/index.ts';
import { readPolicy } from '../../host/policy/index.ts';
import { ok, refuse } from '../../host/problems/index.ts';
import type { SyncCall } from '../../host/sandbox/index.ts';
import { openComponentStore } from '../../host/state/index.ts';
import { opened } from '../state/fixture.ts';

const every = ['store:own', 'bus:publish', 'process:spawn', 'session-context:provision'];
const agents = {
  full: { program: 'prog', host: { files: 'write', terminals: true } },
  reader: { program: 'prog', host: { files: 'read' } },
  plain: { program: 'prog' },
  // What another program's agent may is nothing to this one's process.
  stranger: { program: 'other', host: { files: 'write', terminals: true } },
};
const granting = (...permissions: readonly string[]) =>
  readPolicy(
    Buffer.from(JSON.stringify({ grants: { 'test.bundle': permissions, other: every }, agents })),
    'p',
  );

const command = { command: 'c', args: [], env: [], cwd: null, outputBytes: null };
const calls: readonly (readonly [call: SyncCall, permission: string, answer: unknown])[] = [
  [{ call: 'store.get', key: 'k' }, 'store:own', 'mine'],
  [{ call: 'store.get', key: 'not there' }, 'store:own', null],
  [{ call: 'store.scan', prefix: 'k', after: null, limit: 1 }, 'store:own', [{ key: 'k', value: 'mine' }]],
  [{ call: 'store.scan', prefix: 'k', after: 'k', limit: 9 }, 'store:own', [{ key: 'k2', value: 'too' }]],
  [{ call: 'process.spawn', program: 'p', cwd: '/w' }, 'process:spawn', 'test.bundle:one m-1 p /w'],
  [{ call: 'session-context.servers', agent: 'a' }, 'session-context:provision', 'servers of a'],
  [
    { call: 'session-context.servers-for', session: 's', agent: 'a', cwd: '/w', mcpConfig: null },
    'session-context:provision',
    'test.bundle:one s a',
  ],
  [
    { call: 'workspace.offered', process: 'p-1', agent: 'full' },
    'process:spawn',
    { read: true, write: true, terminals: true },
  ],
  [
    { call: 'workspace.offered', process: 'p-1', agent: 'stranger' },
    'process:spawn',
    { read: false, write: false, terminals: false },
  ],
  [
    { call: 'workspace.read', process: 'p-1', agent: 'full', path: 'a', line: 2, limit: null },
    'process:spawn',
    '/w a 2',
  ],
  [
    { call: 'workspace.write', process: 'p-1', agent: 'full', path: 'a', content: 'b' },
    'process:spawn',
    null,
  ],
  [
    { call: 'terminals.create', process: 'p-1', agent: 'full', command: { ...command, cwd: 'src' } },
    'process:spawn',
    JSON.stringify([
      { component: 'test.bundle:one', message: 'm-1', process: 'p-1', program: 'prog' },
      { ...command, cwd: 'src' },
      '/w/src',
    ]),
  ],
  [{ call: 'terminals.output', terminal: 't' }, 'process:spawn', { text: 't', truncated: false, exit: null }],
  [
    { call: 'session-context.place-skills', cwd: '/w', sink: 's' },
    'session-context:provision',
    'placed in /w s',
  ],
];
for (const [call, permission, answer] of calls)
  test(`${call.call} ${JSON.stringify(Object.values(call).slice(1))} is answered while ${permission} is granted to its bundle`, async (t) => {
    const store = openComponentStore(opened(t).db);
    store.put('test.bundle:one', 'k', 'mine');
    store.put('test.bundle:one', 'k2', 'too');
    store.put('test.bundle:two', 'k', 'not mine');
    let policy = granting(permission);
    const answerTo = answerCalls({
      policy: () => policy,
      store,
      process: {
        spawn: async (...asked) => ({ ok: true, value: asked.join(' ') }),
        runs: (component, process) =>
          component === 'test.bundle:one' && process === 'p-1' ? { program: 'prog', cwd: '/w' } : undefined,
        terminals: {
          create: async (...asked) => ok(JSON.stringify(asked)),
          output: (_component, terminal) => ok({ text: terminal, truncated: false, exit: null }),
          owns: () => false,
          kill: () => undefined,
          release: () => undefined,
          settle: () => undefined,
          endOf: async () => undefined,
        },
      },
      files: {
        read: ({ cwd, path, line }) => ok(`${cwd} ${path} ${line}`),
        write: ({ cwd, path, content }) =>
          cwd === '/w' && path === 'a' && content === 'b' ? ok(undefined) : refuse('context/twin'),
        folder: (cwd, path) => ok(`${cwd}/${path}`),
      },
      context: {
        servers: (agent) => `servers of ${agent}`,
        serversFor: async (component, { session, agent }) => ok(`${component} ${session} ${agent}`),
        outside: (cwd, paths) => ok(`outside ${cwd} ${paths.join(' ')}`),
        placeSkills: async (cwd, sink) =>
          cwd === '/w' ? ok(`placed in ${cwd} ${sink}`) : refuse('bus/no-handler'),
      },
    });
    const ask = () => answerTo('test.bundle:one', call, 'm-1');
    assert.deepEqual(await ask(), { ok: true, value: answer });
    policy = granting(...every.filter((one) => one !== permission));
    const refused = await ask();
    assert.equal(refused.ok ? 'ok' : refused.problem.code, 'bus/not-granted');
    assert.deepEqual(refused.ok ? [] : [refused.problem.subject, refused.problem.evidence], [
      'test.bundle:one',
      permission,
    ]);
    policy = readPolicy(Buffer.from('{'), 'p');
    assert.equal((await ask()).ok, false, 'a policy that cannot be read grants nothing');
  });

test('an agent gets what policy offers it, for a process that runs its program and is the caller’s', async (t) => {
  const done = () => ok(undefined);
  const answerTo = answerCalls({
    policy: () => granting('process:spawn'),
    store: openComponentStore(opened(t).db),
    process: {
      spawn: async () => ({ ok: true, value: '' }),
      runs: (component, process) =>
        component === 'test.bundle:one' && process === 'p-1' ? { program: 'prog', cwd: '/w' } : undefined,
      terminals: {
        create: async () => ok('t'),
        output: () => refuse('process/terminal-unknown'),
        owns: () => false,
        kill: () => undefined,
        release: () => undefined,
        settle: () => undefined,
        endOf: async () => undefined,
      },
    },
    context: {
      servers: () => null,
      serversFor: async () => ok(null),
      outside: done,
      placeSkills: async () => ok(undefined),
    },
    files: { read: () => ok('text'), write: done, folder: () => ok('/w') },
  });
  const three = (component: string, process: string, agent: string) =>
    Promise.all(
      [
        { call: 'workspace.read' as const, process, agent, path: 'a', line: null, limit: null },
        { call: 'workspace.write' as const, process, agent, path: 'a', content: '' },
        { call: 'terminals.create' as const, process, agent, command },
      ].map(async (call) => {
        const answer = await answerTo(component, call, 'm-1');
        return answer.ok ? 'done' : answer.problem.code;
      }),
    );
  const no = 'process/not-offered';
  const one = 'test.bundle:one';
  assert.deepEqual(await three(one, 'p-1', 'full'), ['done', 'done', 'done']);
  assert.deepEqual(await three(one, 'p-1', 'reader'), ['done', no, no]);
  for (const [component, process, agent] of [
    [one, 'p-1', 'plain'],
    [one, 'p-1', 'stranger'],
    [one, 'p-1', 'unknown'],
    [one, 'p-2', 'full'],
    ['test.bundle:two', 'p-1', 'full'],
  ] as const)
    assert.deepEqual(
      await three(component, process, agent),
      [no, no, no],
      `${component} ${process} ${agent}`,
    );
});
