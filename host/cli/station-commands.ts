/** `init`, `up`, `down`, `status`: the life of a station. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ok, type Result, refuse } from '../problems/index.ts';
import { processLives } from '../processes/index.ts';
import { createHome, type StationStatus } from '../station/index.ts';
import { bundleRows, eventRow } from './bundle-text.ts';
import { type Answer, type Io, type Run, short, shown, table, when } from './output.ts';
import { example } from './usage.ts';
import { answer, ask } from './with-station.ts';

/** 0 is any free port, which the answer names. */
const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
};

const webText = ({ port, problem }: NonNullable<StationStatus['web']>): string =>
  problem === undefined ? `127.0.0.1:${port}` : `${problem.message} (${problem.evidence ?? ''})`;

const sessionsText = ({ sessions, sessionsProblem }: StationStatus): string => {
  if (sessionsProblem !== undefined) return `not known: ${sessionsProblem.message} (${sessionsProblem.code})`;
  const counts = Object.entries(sessions).map(([state, count]) => `${count} ${state}`);
  return counts.length === 0 ? 'none' : counts.join(', ');
};

const statusText = (status: StationStatus, { typed }: Io): string => {
  const { policyProblems, bundles, processes } = status;
  const policy =
    policyProblems.length === 0
      ? short(status.policyRevision)
      : `${short(status.policyRevision)}, with problems: it grants nothing. See \`${typed('policy check')}\`.`;
  const head = table([
    ['station', `${status.version}, pid ${status.pid}, since ${when(status.startedAt)}`],
    ['home', status.home],
    ['policy', policy],
    ['sessions', sessionsText(status)],
    ['processes', processes],
    ...(status.web === undefined ? [] : [['http', webText(status.web)]]),
    ['bundles', bundles.length === 0 ? 'none' : ''],
  ]);
  return bundles.length === 0 ? head : `${head}\n${table(bundleRows(bundles), '  ')}`;
};

/** Events shown where nobody says how many. */
const shownEvents = 50;
const mostEvents = 1_000;
const statusHelp = 'See `jupiter status --help`.';

const showStatus = async (
  io: Io,
  { events, follow = false }: { events?: string | true; follow?: boolean },
): Promise<Result<Answer>> => {
  if (events === undefined)
    return follow
      ? refuse('cli/usage', { message: 'Follow what? Say --events --follow.', fix: statusHelp })
      : answer(io, 'status', {}, (status) => statusText(status, io));
  const limit = events === true ? shownEvents : Number(events);
  if (!Number.isInteger(limit) || limit < 0 || limit > mostEvents)
    return refuse('cli/usage', {
      message: `Say how many events: a number from 0 to ${mostEvents}.`,
      fix: statusHelp,
    });
  if (!follow)
    return answer(io, 'events', { limit }, ({ events: found, dropped }) =>
      [
        found.length === 0 ? 'no events' : table(found.map(eventRow)),
        ...(dropped === 0 ? [] : [`${dropped} older or repeated events were dropped`]),
      ].join('\n'),
    );
  const ended = await ask(io, 'events', { limit, follow }, (event) =>
    io.event(event, eventRow(event).map(shown).join('  ').trimEnd()),
  );
  return ended.ok ? ok({ json: undefined, plain: '' }) : ended;
};

/** How long a station that has stopped everything may take to end its process, ms. */
const goneMs = 10_000;

/** Answers when nothing of the station is left, its process included. */
const stopStation = async (io: Io): Promise<Result<Answer>> => {
  const stopped = await ask(io, 'down', {});
  if (!stopped.ok) return stopped;
  const { pid } = stopped.value;
  const until = performance.now() + goneMs;
  while (processLives(pid)) {
    if (performance.now() > until)
      return refuse('station/lingers', { subject: `pid ${pid}`, evidence: `${goneMs / 1_000} s` });
    await pause(5);
  }
  return ok({ json: stopped.value, plain: 'stopped' });
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
      return ok({
        json: { home: dir, policy },
        plain: `home    ${dir}\npolicy  ${policy}\nNow: ${io.typed('up')}`,
      });
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
  ).action(() => run(stopStation));
  example(
    program
      .command('status')
      .option('--events [n]', 'the newest events instead: installs, failures, grants, placements')
      .option('--follow', 'with --events: go on with those that come, until interrupted')
      .description('what the station runs, or what happened to it'),
    'status',
    'status --events 20',
    'status --events --follow',
  ).action((options: { events?: string | true; follow?: boolean }) => run((io) => showStatus(io, options)));
};
