/** What is shown beside an answer: hints that can be pasted, verdicts, tables. Pure; the real commands are below. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { uninstalledText, verdicts } from '../../host/cli/bundle-text.ts';
import { sessionRows, sessionText } from '../../host/cli/session-text.ts';
import { typed, withHome } from '../../host/cli/typed.ts';
import { problem } from '../../host/problems/index.ts';
import { openBench, probePolicy, repository, skillBundle, skillText } from '../e2e/harness.ts';
import { run, temporary } from './fixtures/command.ts';

test('a hint repeats the home that was given, for commands that have one', () => {
  const rows: readonly (readonly [command: string, given: string | undefined, text: string])[] = [
    ['up', undefined, 'jupiter up'],
    ['up', './h', 'jupiter up --home ./h'],
    ['up', 'my home', "jupiter up --home 'my home'"],
    ['session show ID', 'h', 'jupiter session show ID --home h'],
    ['bundle grant a', 'h', 'jupiter bundle grant a --home h'],
    ['mcp list', 'h', 'jupiter mcp list --home h'],
    ['bundle pack DIR', 'h', 'jupiter bundle pack DIR'],
    ['session say --help', 'h', 'jupiter session say --help'],
    ['contracts check', 'h', 'jupiter contracts check'],
  ];
  for (const [command, given, text] of rows) assert.equal(typed(command, given), text);
  assert.equal(
    withHome('Do `jupiter init`, then `jupiter up`, not `rm`.', 'h'),
    'Do `jupiter init --home h`, then `jupiter up --home h`, not `rm`.',
  );
});

test('init and a station that does not run name the home; a second init says what to do', async (t) => {
  const home = join(temporary(t), 'home');
  assert.ok((await run(['init', '--home', home])).out.includes(`Now: jupiter up --home ${home}\n`));
  assert.ok((await run(['status', '--home', home])).err.includes(`\`jupiter up --home ${home}\``));
  const json = JSON.parse((await run(['--json', '--home', home, 'status'])).out);
  assert.ok(json.problem.fix.includes(`--home ${home}`));
  assert.match(
    (await run(['init'], { env: { JUPITER_HOME: home } })).err,
    /fix: +Start it with `jupiter up`/,
  );
});

test('bundle verify: a verdict for each, in columns', () => {
  const damage = problem('bundle/package-damaged');
  const place = { bundle: 'b', revision: 'r', cwd: '/w', sink: '.claude/skills', name: 'deploy' };
  const found = verdicts({
    bundles: [{ id: 'a' }, { id: 'long.name', problem: damage }],
    placed: [{ ...place, problems: [] }],
  } as unknown as Parameters<typeof verdicts>[0]);
  assert.equal(found.damaged, true);
  assert.deepEqual(
    [...found.json.bundles, ...found.json.placed].map(({ verdict }) => verdict),
    ['intact', 'damaged', 'intact'],
  );
  const lines = found.plain.split('\n').filter((line) => / {2}(intact|damaged)$/.test(line));
  assert.equal(new Set(lines.map((line) => line.search(/ {2}(intact|damaged)$/))).size, 1, found.plain);
});

test('uninstalling what ships with the station says what stops and how to get it back', () => {
  const gone = (id: string) =>
    uninstalledText({ id, revision: 'r', places: [] }, { typed: (text) => typed(text, 'h') });
  assert.match(gone('bearpunch.sessions'), /no session can be created/);
  for (const name of ['adapter', 'contracts', 'echo', 'sessions'])
    assert.ok(
      gone(`bearpunch.${name}`).includes(
        `bundle install ${join(repository, 'dist', 'bundles', name)} --home`,
      ),
    );
  assert.equal(gone('example.notes'), 'example.notes r uninstalled');
});

test('one station: sessions in a table, a cancel of nothing, skills in explain, one word for an offered server', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const explain = ['policy', 'explain', '--agent', 'listed'];
  assert.match((await bench.jupiter(...explain)).stdout, /^skills +not known/m);
  await bench.ask('up');
  const folder = await skillBundle(temporary(t), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
  });
  await bench.ask('bundle', 'install', folder);
  assert.match((await bench.jupiter(...explain)).stdout, /^skills\n {2}deploy {2}test\.skills$/m);
  const { skills } = await bench.ask<{ skills: unknown }>(...explain);
  assert.deepEqual(skills, [{ name: 'deploy', bundle: 'test.skills' }]);

  const create = ['session', 'create', '--agent', 'echo', '--title', 'My work', '--cwd', bench.workspace];
  const session = await bench.ask<Parameters<typeof sessionText>[0]>(...create);
  const list = (await bench.jupiter('session', 'list')).stdout;
  assert.match(list, /^session +state +agent +created +title +workspace\n/);
  assert.match(list, /idle +echo .* My work +\//);
  assert.equal(sessionRows([]).length, 1);
  assert.match(sessionText(session), /^approve +echo does nothing/m, 'the column says what it is');
  assert.equal(
    (await bench.jupiter('session', 'cancel', session.id)).stdout,
    'no turn is running: the session is idle\n',
  );
  const offered = { name: 'probe', decision: 'offered', stage: 'offered', rule: 'r' } as const;
  const servers = { ...session, provisioning: { ...session.provisioning, servers: [offered] } };
  assert.match(sessionText(servers as typeof session), /^ {2}probe {2}offered {2}- {2}r$/m);
  const told = sessionText({ ...session, approval: 'approval manual: the agent decides' });
  assert.match(told, /^approve +manual: the agent decides$/m, 'said once');
});
