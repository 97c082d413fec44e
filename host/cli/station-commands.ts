/** `init`, `up`, `down`, `status`: the life of a station. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ok } from '../problems/index.ts';
import { createHome, type StationStatus } from '../station/index.ts';
import { type Run, short, table, when } from './output.ts';
import { bundleRows } from './show.ts';
import { example } from './usage.ts';
import { answer } from './with-station.ts';

/** 0 is any free port, which the answer names. */
const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
};

const webText = ({ port, problem }: NonNullable<StationStatus['web']>): string =>
  problem === undefined ? `127.0.0.1:${port}` : `${problem.message} (${problem.evidence ?? ''})`;

const statusText = (status: StationStatus): string => {
  const { policyProblems, bundles, sessions, processes } = status;
  const counts = Object.entries(sessions).map(([state, count]) => `${count} ${state}`);
  const policy =
    policyProblems.length === 0
      ? short(status.policyRevision)
      : `${short(status.policyRevision)}, with problems: it grants nothing. See \`jupiter policy check\`.`;
  const head = table([
    ['station', `${status.version}, pid ${status.pid}, since ${when(status.startedAt)}`],
    ['home', status.home],
    ['policy', policy],
    ['sessions', counts.length === 0 ? 'none' : counts.join(', ')],
    ['processes', processes],
    ...(status.web === undefined ? [] : [['http', webText(status.web)]]),
    ['bundles', bundles.length === 0 ? 'none' : ''],
  ]);
  return bundles.length === 0 ? head : `${head}\n${table(bundleRows(bundles), '  ')}`;
};

export const addStationCommands = (program: Command, run: Run): void => {
  example(
    program.command('init').description('make a home with a first policy; one that exists is left alone'),
    'init',
  ).action(() =>
    run(async (io) => {
      const { initialPolicy } = await import('../policy/index.ts');
      const made = createHome(io.home, initialPolicy);
      if (!made.ok) return made;
      const { dir, policy } = made.value;
      return ok({ json: { home: dir, policy }, plain: `home    ${dir}\npolicy  ${policy}\nNow: jupiter up` });
    }),
  );
  example(
    program
      .command('up')
      .description('start the station of this home; returns when it is ready')
      .option('--foreground', 'stay here until it is stopped')
      .addOption(new Option('--port <n>', 'serve HTTP on this port of this machine').argParser(portOf)),
    'up',
    'up --port 4720',
    'up --foreground',
  ).action(({ foreground = false, port }: { foreground?: boolean; port?: number }) =>
    run(async (io) => {
      const { startDetached, stayForeground } = await import('./start.ts');
      if (foreground) return stayForeground(io, port);
      const started = await startDetached({ home: io.home, port, compileCache: io.compileCache });
      if (!started.ok) return started;
      const { pid, home, port: open } = started.value;
      const web = open === undefined ? '' : `\nport  ${open}`;
      return ok({ json: started.value, plain: `home  ${home}\npid   ${pid}${web}` });
    }),
  );
  example(
    program.command('down').description('stop the station: agents first, then everything else'),
    'down',
  ).action(() => run((io) => answer(io, 'down', {}, () => 'stopped')));
  example(program.command('status').description('what the station runs'), 'status', 'status --json').action(
    () => run((io) => answer(io, 'status', {}, statusText)),
  );
};
