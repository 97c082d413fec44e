import assert from 'node:assert/strict';
import test from 'node:test';
import { answerCalls } from '../../host/capabilities/index.ts';
import { readPolicy } from '../../host/policy/index.ts';
import { ok, refuse } from '../../host/problems/index.ts';
import type { SyncCall } from '../../host/sandbox/index.ts';
import { openComponentStore } from '../../host/state/index.ts';
import { opened } from '../state/fixture.ts';

const every = ['store:own', 'bus:publish', 'process:spawn', 'session-context:provision'];
const granting = (...permissions: readonly string[]) =>
  readPolicy(Buffer.from(JSON.stringify({ grants: { 'test.bundle': permissions, other: every } })), 'p');

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
