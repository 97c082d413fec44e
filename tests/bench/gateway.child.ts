/**
 * Our gateway in a process of its own for its benchmark: `gateway.child.ts FOLDER SERVER ARGS…`. Decisions are made by
 * rules, and each is kept in a database that is as durable as the station's before its answer leaves. Tells address and
 * token on standard output and ends with its standard input.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { decide, type GateRow, type Gateway, openConnections, openGateway } from '../../host/mcp/index.ts';
import { openProcesses } from '../../host/processes/index.ts';

const [folder = '', ...args] = process.argv.slice(2);
const database = new Database(join(folder, 'record.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE rows (session, server, tool, decision, rule)');
const insert = database.prepare('INSERT INTO rows VALUES (@session, @server, @tool, @decision, @rule)');
const keepAll = database.transaction((rows: readonly GateRow[]) => {
  for (const row of rows) insert.run(row);
});
let due: { row: GateRow; kept: () => void }[] = [];
const keep = (): void => {
  const now = due;
  due = [];
  keepAll(now.map(({ row }) => row));
  for (const { kept } of now) kept();
};

const processes = await openProcesses({ run: join(folder, 'run') });
const connections = openConnections({
  processes,
  env: process.env,
  redact: (text) => text,
  logs: join(folder, 'logs'),
  cwd: folder,
  client: { name: 'bench', version: '0' },
});
const transport = { type: 'stdio' as const, command: process.execPath, args, env: {} };
connections.reconcile([{ key: 'policy/probe', name: 'probe', place: 'servers.probe', transport }]);
const upstream = connections.get('policy/probe');
if (upstream === undefined) throw new Error('no connection');
const permissions = {
  deny: [{ text: 'mcp__other__write', place: 'permissions.deny[0]' }],
  ask: [{ text: 'mcp__probe__write', place: 'permissions.ask[0]' }],
  allow: [{ text: 'mcp__probe', place: 'permissions.allow[0]' }],
};
const servers = [{ alias: 'probe', original: 'probe', upstream, elicitation: 'queue' as const }];
let gateway: Gateway | undefined;
connections.onChange((connection) => {
  gateway?.changed(connection);
  if (connection.status().state !== 'connected' || gateway === undefined) return;
  console.log(JSON.stringify({ url: gateway.address('probe').url, token: gateway.admit('bench') }));
});
const opened = await openGateway({
  server: { name: 'bench', version: '0' },
  shim: { command: process.execPath, args: [] },
  onBug: console.error,
  ports: {
    decide: (_session, wanted) => decide(permissions, wanted),
    servers: () => servers,
    ask: async () => ({ allow: false, why: 'nobody is there' }),
    record: (row) =>
      new Promise((kept) => {
        if (due.length === 0) setImmediate(keep);
        due.push({ row, kept });
      }),
    observed: () => {},
    inTurn: () => false,
    skills: async () => ({ tools: [], call: async () => ({}) }),
  },
});
if (!opened.ok) throw new Error(opened.problem.message);
gateway = opened.value;
process.stdin
  .on('end', async () => {
    await gateway?.close();
    await connections.close();
    await processes.endAll(0);
    process.exit(0);
  })
  .resume();
