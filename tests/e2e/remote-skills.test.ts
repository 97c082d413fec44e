/** A skill that one station publishes is listed, approved by its digest, and placed by another. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { writeFiles } from '../mcp/published.ts';
import { everyFile, openBench, probePolicy, skillBundle, skillText } from './harness.ts';

interface Skill {
  readonly address: string;
  readonly name: string;
  readonly state: string;
  readonly digest: string;
  readonly problem?: { readonly code: string };
}
interface Server {
  readonly label: string;
  readonly skills: readonly Skill[];
}
interface Created {
  readonly id: string;
  readonly state: string;
  readonly provisioning: {
    readonly skills: readonly {
      readonly bundle: string;
      readonly revision: string;
      readonly name: string;
      readonly decision: string;
      readonly reason?: string;
    }[];
  };
}

const canary = 'canary-remote-7f21c0';
const dangerous =
  '---\nname: deploy\ndescription: Ship it.\nallowed-tools: Bash(*)\nhooks:\n  stop: curl\n---\nRun scripts/go.sh with $1.\n';

test('a skill of another station: listed, approved by digest, retrieved when a session needs it, placed under its origin', async (t) => {
  const publisher = openBench(t, { policy: probePolicy(), env: { TEAM_TOKEN: canary } });
  const folder = join(dirname(publisher.workspace), 'published');
  writeFiles(folder, {
    'acme/deploy/SKILL.md': dangerous,
    'acme/deploy/scripts/go.sh': 'echo go\n',
    'acme/deploy/logo.png': new Uint8Array([0x89, 0, 255]),
    'review/SKILL.md': skillText('review'),
  });
  publisher.policy(
    JSON.stringify(probePolicy({ channel: { mcp: { skills: [folder], tokens: ['TEAM_TOKEN'] } } })),
  );
  const { port } = await publisher.ask<{ port: number }>('up', '--port', '0');
  const url = `http://127.0.0.1:${port}/v1/mcp`;

  const bench = openBench(t, { policy: probePolicy(), env: { TEAM_TOKEN: canary } });
  await bench.ask('up');
  const refused = await bench.jupiter('--json', 'skills', 'add', url);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /remote\/not-admitted/);
  bench.policy(JSON.stringify(probePolicy({ origins: { team: { url, bearer: 'TEAM_TOKEN' } } })));

  // A bundle here has a skill of the same name, which stays what it was.
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy', 'Our own.') },
  });
  await bench.ask('bundle', 'install', bundle);
  const added = await bench.ask<Server>('skills', 'add', 'team');
  assert.equal(added.label, 'team');
  assert.deepEqual(
    added.skills.map(({ address, state }) => `${address} ${state}`),
    ['team/acme/deploy waiting', 'team/review waiting'],
  );
  const deploy = added.skills[0];
  assert.ok(deploy !== undefined);
  assert.equal(deploy.name, 'mcp-team-deploy');
  const shown = await bench.jupiter('skills', 'show', deploy.address);
  assert.match(shown.stdout, /not passed on: allowed-tools, hooks/);
  assert.match(shown.stdout, /^file: {4}scripts\/go\.sh \(8 bytes\)$/m);
  const cached = () => everyFile(join(bench.home, 'remote')).map(([path]) => path);
  const create = () => bench.ask<Created>('session', 'create', '--agent', 'listed', '--cwd', bench.workspace);
  const rows = ({ provisioning }: Created) =>
    provisioning.skills.map(({ bundle: from, name, decision }) => `${from} ${name} ${decision}`);

  // Nothing is used before it is approved, and nothing is retrieved at an approval.
  const before = await create();
  assert.deepEqual(rows(before), ['test.skills deploy placed']);
  await bench.ask('session', 'close', before.id);
  const wrong = await bench.jupiter('--json', 'skills', 'approve', deploy.address, '0'.repeat(12));
  assert.match(wrong.stdout, /remote\/digest/);
  await bench.ask('skills', 'approve', deploy.address, deploy.digest.slice(0, 12));
  assert.deepEqual(cached(), []);

  const explained = await bench.ask<{ skills: unknown }>('policy', 'explain', '--agent', 'listed');
  assert.deepEqual(explained.skills, [
    { name: 'deploy', bundle: 'test.skills' },
    { name: 'mcp-team-deploy', bundle: 'mcp:team/acme/deploy' },
  ]);
  assert.deepEqual(cached(), []);

  const session = await create();
  assert.deepEqual(rows(session), [
    'test.skills deploy unchanged',
    'mcp:team/acme/deploy mcp-team-deploy placed',
  ]);
  assert.equal(session.provisioning.skills[1]?.revision, deploy.digest);
  const at = (path: string): string => join(bench.workspace, '.claude/skills', path);
  assert.equal(readFileSync(at('mcp-team-deploy/scripts/go.sh'), 'utf8'), 'echo go\n');
  assert.deepEqual([...readFileSync(at('mcp-team-deploy/logo.png'))], [0x89, 0, 255]);
  assert.match(readFileSync(at('deploy/SKILL.md'), 'utf8'), /Our own\./);
  const placed = readFileSync(at('mcp-team-deploy/SKILL.md'), 'utf8');
  assert.match(
    placed,
    /^---\nname: "mcp-team-deploy"\ndescription: "Skill \\"deploy\\" of the MCP server team: Ship it\."\n---\n/,
  );
  assert.match(placed, new RegExp(`server "team" \\(${url.replaceAll('.', '\\.')}\\)`));
  assert.match(placed, /Run scripts\/go\.sh with \$1\.\n$/);
  assert.doesNotMatch(placed, /allowed-tools|hooks/);
  await bench.ask('session', 'close', session.id);

  const listed = await bench.jupiter('skills', 'list', '--cwd', bench.workspace);
  assert.match(listed.stdout, /^team\/acme\/deploy {2}\[mcp team: approved [0-9a-f]{12}\]/m);
  assert.match(listed.stdout, /^deploy +\[bundle test\.skills\]/m);

  // Another content needs another approval; what was placed of the old one leaves.
  writeFiles(folder, { 'acme/deploy/scripts/go.sh': 'echo worse\n' });
  const updated = await bench.ask<{ servers: Server[] }>('skills', 'update', 'team');
  const changed = updated.servers[0]?.skills[0];
  assert.equal(changed?.state, 'changed');
  assert.notEqual(changed?.digest, deploy.digest);
  assert.equal(existsSync(at('mcp-team-deploy')), false);
  const withheld = await create();
  assert.deepEqual(rows(withheld), [
    'test.skills deploy unchanged',
    'mcp:team/acme/deploy mcp-team-deploy refused',
  ]);
  assert.match(withheld.provisioning.skills[1]?.reason ?? '', /remote\/changed/);
  await bench.ask('session', 'close', withheld.id);
  const stale = await bench.jupiter('--json', 'skills', 'approve', deploy.address, deploy.digest);
  assert.match(stale.stdout, /remote\/digest/);
  await bench.ask('skills', 'approve', deploy.address, changed?.digest ?? '');
  const again = await create();
  assert.equal(readFileSync(at('mcp-team-deploy/scripts/go.sh'), 'utf8'), 'echo worse\n');

  // A server that is gone takes nothing away; one that is removed does, once no session uses it.
  await publisher.ask('down');
  await bench.ask('skills', 'update');
  await bench.ask('skills', 'remove', 'team');
  assert.deepEqual(cached(), []);
  assert.ok(existsSync(at('mcp-team-deploy/SKILL.md')), 'a session still uses it');
  await bench.ask('session', 'close', again.id);
  const end = Date.now() + 10_000;
  while (existsSync(at('mcp-team-deploy')) && Date.now() < end) await bench.ask('status');
  assert.equal(existsSync(at('mcp-team-deploy')), false);
  await bench.ask('down');
  for (const [path, bytes] of everyFile(bench.home))
    assert.equal(bytes.includes(canary), false, `the token stands in ${path}`);
  rmSync(folder, { recursive: true });
});
