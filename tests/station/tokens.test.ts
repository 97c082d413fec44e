/** Where a session's token is put in, for whom, and how long it is good. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTokens } from '../../host/station/tokens.ts';

const desk = () => {
  const calls: string[] = [];
  let open = true;
  let made = 0;
  const tokens = openTokens({
    gateway: () =>
      open
        ? {
            admit: (session) => {
              made += 1;
              calls.push(`admit ${session}`);
              return `secret-${made}`;
            },
            dismiss: (session) => void calls.push(`dismiss ${session}`),
          }
        : undefined,
    provides: (component, session) => component === 'a.b:provider' && session !== 's-2',
  });
  const close = () => {
    open = false;
  };
  return { tokens, calls, close };
};
const header = `{"name":"Authorization","value":"Bearer $\{jupiter.token:s-1}"}`;
const variable = `{"name":"JUPITER_GATEWAY_TOKEN","value":"$\{jupiter.token:s-1}"}`;

test('a header and a variable are filled, with the same token in one process', () => {
  const { tokens, calls } = desk();
  assert.equal(
    tokens.filled('a.b:provider', 'p-1', `[${header},${variable}]`),
    '[{"name":"Authorization","value":"Bearer secret-1"},{"name":"JUPITER_GATEWAY_TOKEN","value":"secret-1"}]',
  );
  assert.deepEqual(calls, ['admit s-1']);
});

test('nobody but the provider of the session has it put in, and no other place is one', () => {
  const { tokens, calls } = desk();
  for (const [component, text] of [
    ['evil.bundle:thing', header],
    ['a.b:provider', header.replaceAll('s-1', 's-2')],
    ['a.b:provider', JSON.stringify({ text: header })],
    ['a.b:provider', `{"text":"$\{jupiter.token:s-1}"}`],
    ['a.b:provider', header.replace('Bearer ', 'x ')],
    ['a.b:provider', header.replace('}"', '} more"')],
    ['a.b:provider', `{"configId":"mode","value":"$\{jupiter.token:s-1}"}`],
    ['a.b:provider', header.replace('Authorization', 'mode')],
  ] as const)
    assert.equal(tokens.filled(component, 'p-1', text), text);
  assert.deepEqual(calls, []);
});

test('a process that was given the token of one session is not given that of another', () => {
  const { tokens, calls } = desk();
  tokens.filled('a.b:provider', 'p-1', header);
  const other = header.replace('s-1', 's-3');
  assert.equal(tokens.filled('a.b:provider', 'p-1', other), other);
  assert.deepEqual(calls, ['admit s-1']);
});

test('it ends with its process, but not the one of the process that took the session up', () => {
  const { tokens, calls } = desk();
  tokens.filled('a.b:provider', 'p-1', header);
  tokens.filled('a.b:provider', 'p-2', header);
  tokens.ended('p-1');
  tokens.ended('p-9');
  assert.deepEqual(calls, ['admit s-1', 'admit s-1']);
  tokens.ended('p-2');
  assert.deepEqual(calls, ['admit s-1', 'admit s-1', 'dismiss s-1']);
});

test('without a gateway nothing is put in', () => {
  const { tokens, close } = desk();
  close();
  assert.equal(tokens.filled('a.b:provider', 'p-1', header), header);
});
