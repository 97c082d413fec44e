/**
 * The composition root: wires the rooms over an open database, answers with what the control socket serves.
 */
import { sessions as sessionTopics } from '../../contracts/topics/index.ts';
import { openBundleStore, shapeOfTopic, signatureRefusal, skillsOf } from '../bundles/index.ts';
import { openBus } from '../bus/index.ts';
import { answerCalls, openProcessCapability, openWakes } from '../capabilities/index.ts';
import { folderInside, outsideOf, provisionFor, readTextFile, writeTextFile } from '../context/index.ts';
import { tokenMark } from '../http/index.ts';
import { openPolicySource } from '../policy/index.ts';
import { ok, refuse } from '../problems/index.ts';
import { openProcesses } from '../processes/index.ts';
import { giveBackMemory, prepareProcess } from '../sandbox/index.ts';
import { openComponentStore, openEventLog, openGateLog, openRedactor, type State } from '../state/index.ts';
import { endsWithin, inFlightOf } from './draining.ts';
import { controlHandlers, type Handlers } from './handlers.ts';
import type { Home } from './home.ts';
import { openStationLog } from './log.ts';
import { openPlacements } from './placements.ts';
import type { Asked } from './reach.ts';
import { openStationRemote } from './remote.ts';
import { openResidents } from './residents.ts';
import { openRest } from './rest.ts';
import { knownSecrets } from './secrets.ts';
import { openServers, type Servers } from './servers.ts';
import { liveSessions, sessionHandlers } from './sessions.ts';
import { installShipped } from './shipped.ts';
import { promptExpansion, skillServer, stationSkills } from './skills.ts';
import { openStandings } from './standings.ts';
import { cleared, tellDiffering, tellWithheld } from './tell.ts';
import { isOver, keeper } from './watch.ts';
import { type OpenWeb, openStationWeb, type WebStatus } from './web.ts';

export interface Rooms {
  readonly handlers: Handlers;
  /** Stops everything but the socket, the database last. */
  readonly quiesce: () => Promise<void>;
  readonly web: () => WebStatus | undefined;
}

export interface RoomsOptions {
  readonly home: Home;
  readonly state: State;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly port?: number | undefined;
  readonly openWeb?: OpenWeb | undefined;
  /** How long `down` and an uninstall wait for calls in flight before they answer, ms. */
  readonly drainMs: number;
  /** Called when a `down` that had answered before it was done is done. */
  readonly onLateStop: () => void;
  /** Folder of the bundles this installation ships. */
  readonly shipped: string;
}

export const openRooms = async (options: RoomsOptions): Promise<Rooms> => {
  const { home, state, env, now, drainMs, shipped, port, openWeb } = options;
  prepareProcess();
  const policy = openPolicySource(home.policy);
  // Opened below, once what it needs is there.
  let servers: Servers | undefined;
  const secrets = knownSecrets(policy.current, env, () => servers?.secrets());
  const redactor = openRedactor(secrets.names, secrets.values, tokenMark);
  const redact = redactor.text;
  const log = openStationLog(home.logs, redact);
  const events = openEventLog(state, now, redact);
  // The log reads as a history too: it is where an operator looks first.
  events.listen(({ kind, subject, problem: why }) =>
    log.station(
      why === undefined ? 'info' : 'warn',
      why === undefined
        ? `${kind}: ${subject}`
        : `${kind}: ${subject}: ${why.message} (${why.code}) ${why.evidence ?? ''}`,
    ),
  );
  const processes = await openProcesses({ run: home.run });
  const standings = openStandings(state.db, redact);
  const bundles = openBundleStore({
    inUse: standings.revisions,
    packages: home.packages,
    db: state.db,
    now,
    shapeOf: shapeOfTopic,
    refusal: (bundle) => signatureRefusal(bundle, policy.current().signatures),
    report: (found) => events.add('repair', found.subject ?? '', found),
  });
  for (const found of await bundles.repair()) events.add('repair', found.subject ?? '', found);

  const onBug = (error: unknown): void =>
    log.station('error', error instanceof Error ? (error.stack ?? error.message) : String(error));
  const store = openComponentStore(state.db);
  const startedAt = now();
  let processCount = 0;
  const capability = openProcessCapability({
    processes,
    policy: policy.current,
    env,
    redact,
    pieces: (process) =>
      redactor.pieces(() => {
        const value = servers?.tokenOf(process);
        return value === undefined ? undefined : { name: tokenMark.name, value };
      }),
    tell: (component, topic, payload, flow) => {
      if (topic === 'station.process.exited') servers?.ended((payload as { process: string }).process);
      bus.tell(component, topic, payload, flow);
    },
    hasRoom: (component, flow) => bus.hasRoom(component, flow),
    log: log.component,
    newId: () => {
      processCount += 1;
      return `p-${startedAt.toString(36)}-${processCount}`;
    },
  });
  const wakes = openWakes(
    (component, token) => bus.tell(component, 'station.woke', { token }),
    (component, token) => log.component(component, 'warn', `too many wake-ups pending; ${token} was dropped`),
  );
  const bundleSkills = () =>
    residents
      .intact()
      .filter((bundle) => bundles.refusal(bundle) === undefined)
      .flatMap((bundle) => skillsOf(bundle));
  const context = {
    servers: (agent: string) => {
      const provision = provisionFor(policy.current(), agent);
      tellWithheld(events, agent, provision);
      return provision;
    },
    serversFor: async (component: string, asked: Asked) => {
      const provision = await servers?.serversFor(component, asked);
      if (provision?.ok === true) tellWithheld(events, asked.agent, provision.value);
      return provision ?? refuse('mcp/not-open');
    },
    outside: outsideOf,
    placeSkills: (cwd: string, sink: string) => remote.place(cwd, sink, bundleSkills()),
  };
  const files = {
    read: (asked: Omit<Parameters<typeof readTextFile>[0], 'redact'>) => readTextFile({ ...asked, redact }),
    write: (asked: Omit<Parameters<typeof writeTextFile>[0], 'redact'>) =>
      writeTextFile({ ...asked, redact }),
    folder: folderInside,
  };
  const bus = openBus({
    state,
    events,
    policy,
    now,
    redact,
    ports: {
      log: log.component,
      wake: wakes.wake,
      write: (component, process, text) =>
        capability.write(component, process, servers?.filled(component, process, text) ?? text),
      kill: (component, id) => {
        events.add('kill', `${component} ${id}`);
        capability.kill(component, id);
      },
      release: capability.release,
      owns: capability.owns,
      settleSpawns: capability.settleSpawns,
      call: answerCalls({ policy: policy.current, store, process: capability, context, files }),
    },
  });
  bus.onEased(capability.eased);
  const rest = openRest({ giveBack: giveBackMemory });
  const residents = openResidents({
    rest,
    bundles,
    bus,
    policy,
    events,
    cache: home.cache,
    standings,
    state,
    drainMs,
    endAllOf: async (component) => {
      wakes.forget(component);
      servers?.departed(component);
      await capability.endAllOf(component);
    },
  });
  const library = stationSkills(bundleSkills);
  const gateLog = openGateLog(state, now, redact);
  // Before it listens, the port it will have.
  let ownPort = port ?? policy.current().channel?.port;
  const opened = openServers({
    home: home.dir,
    logs: home.logs,
    policyFile: home.policy,
    policy: policy.current,
    env,
    redact,
    processes,
    bus,
    log: gateLog,
    run: startedAt.toString(36),
    ports: () => (ownPort === undefined ? [] : [ownPort]),
    skills: (cwd) => skillServer(library, cwd, policy.current),
    onBug,
  });
  servers = opened;
  const sessions = sessionHandlers(bus, redact, promptExpansion(library), gateLog);
  const placements = openPlacements({
    db: state.db,
    write: state.write,
    now,
    events,
    installed: (id) => remote.skills.holds(id) || bundles.active().some(({ manifest }) => manifest.id === id),
    has: (id, name) => {
      const bundle = bundles.active().find(({ manifest }) => manifest.id === id);
      return bundle === undefined || skillsOf(bundle).some((skill) => skill.name === name);
    },
    live: () => liveSessions(sessions),
  });
  const remote = openStationRemote({
    db: state.db,
    home,
    policy: policy.current,
    env,
    now,
    events,
    placements,
  });
  let tidy: Promise<void> = Promise.resolve();
  bus.listen(sessionTopics.changed.id, (event, from) => {
    if (from === keeper && isOver((event as { state: string }).state))
      tidy = tidy.then(() => cleared(placements, log));
  });
  residents.start();
  await installShipped(shipped, residents, store, (id, why) => {
    log.station('error', `${id}: ${why.message} ${why.evidence ?? ''}`);
  });

  const web = await openStationWeb({
    openWeb,
    port,
    policy: policy.current,
    env,
    bundleSkills,
    report: events.add,
    onBug,
  });
  ownPort = web.status()?.port ?? ownPort;

  // What uninstalled bundles left, and whether placed skills are as they were: nobody waits for either.
  tidy = tidy
    .then(async () => {
      await residents.settled();
      await cleared(placements, log);
      for (const skill of await placements.verify()) tellDiffering(events, skill);
    })
    .catch((cause: unknown) => log.station('error', `looking at placed skills: ${cause}`));

  let closing: Promise<void> | undefined;
  const quiesce = () => {
    closing ??= (async () => {
      await web.close();
      await opened.close();
      placements.close();
      await residents.settled();
      await tidy;
      wakes.close();
      // Agents first, so that no component waits for one; again after, for what was starting meanwhile. None of them
      // is told: a session of an agent that ends with its station is taken up again by the next one.
      capability.silence();
      await processes.endAll();
      await bus.close();
      await residents.departed();
      rest.close();
      await processes.endAll();
      gateLog.flush();
      events.flush();
      state.close();
      log.close();
    })();
    return closing;
  };
  const handlers = controlHandlers({
    home,
    policy,
    residents,
    sessions,
    servers: opened,
    bundleSkills,
    remote: remote.skills,
    retrieveFor: remote.retrieveFor,
    web: web.status,
    placements,
    conflicts: bundles.conflicts,
    events,
    startedAt,
    processes: processes.running,
    stop: async () => {
      const ended = quiesce();
      if (await endsWithin(ended, drainMs)) return ok({ stopped: true });
      void ended.then(options.onLateStop);
      return refuse('station/draining', { evidence: inFlightOf(bus) });
    },
    redact: redactor.value,
  });
  log.station('info', 'ready');
  return { handlers, quiesce, web: web.status };
};
