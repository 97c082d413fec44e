/**
 * The composition root: wires the rooms over an open database, answers with what the control socket serves.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBundleStore, readBundle, skillsOf } from '../bundles/index.ts';
import { openBus } from '../bus/index.ts';
import { answerCalls, openProcessCapability, openWakes } from '../capabilities/index.ts';
import { placeSkills, provisionFor } from '../context/index.ts';
import { canonicalShape } from '../contracts/index.ts';
import { openPolicySource, type Policy } from '../policy/index.ts';
import { type Problem, ProblemError } from '../problems/index.ts';
import { openProcesses } from '../processes/index.ts';
import { defaultLimits } from '../sandbox/index.ts';
import { openComponentStore, openEventLog, openRedactor, type State } from '../state/index.ts';
import { controlHandlers, type Handlers } from './handlers.ts';
import { type Home, installation } from './home.ts';
import { openStationLog } from './log.ts';
import { openResidents, type Residents } from './residents.ts';
import { sessionHandlers } from './sessions.ts';
import { promptExpansion, stationSkills } from './skills.ts';
import { channelTokens, type OpenWeb, openStationWeb, type WebStatus } from './web.ts';

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
}

export const openRooms = async ({ home, state, env, now, port, openWeb }: RoomsOptions): Promise<Rooms> => {
  const policy = openPolicySource(home.policy);
  const redact = openRedactor(secretNames(policy.current), env).text;
  const log = openStationLog(home.logs, redact);
  const events = openEventLog(state.db, now, redact);
  const processes = await openProcesses({ run: home.run });
  const bundles = openBundleStore({
    packages: home.packages,
    db: state.db,
    now,
    shapeOf: (topic) => {
      const canonical = canonicalShape(topic);
      // A staged manifest's shapes were checked when it was read: one without a canonical form is a bug here.
      if (!canonical.ok) throw new ProblemError(canonical.problem);
      return canonical.value;
    },
    report: (found) => events.add('repaired', found.subject ?? '', found),
  });
  for (const found of await bundles.repair()) events.add('repaired', found.subject ?? '', found);

  const store = openComponentStore(state.db);
  const startedAt = now();
  let processCount = 0;
  const capability = openProcessCapability({
    processes,
    policy: policy.current,
    env,
    redact,
    tell: (...told) => bus.tell(...told),
    hasRoom: (component) => bus.hasRoom(component),
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
  const bundleSkills = () => residents.intact().flatMap((bundle) => skillsOf(bundle));
  const context = {
    servers: (agent: string) => provisionFor(policy.current(), agent),
    placeSkills: (cwd: string, sink: string) => placeSkills({ cwd, sink, skills: bundleSkills() }),
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
      write: capability.write,
      kill: capability.kill,
      owns: capability.owns,
      settleSpawns: capability.settleSpawns,
      call: answerCalls({ policy: policy.current, store, process: capability, context }),
    },
  });
  bus.onEased(capability.eased);
  const residents = openResidents({
    bundles,
    bus,
    policy,
    events,
    cache: home.cache,
    limits: defaultLimits,
    endAllOf: async (component) => {
      wakes.forget(component);
      await capability.endAllOf(component);
    },
  });
  residents.start();
  await installShipped(residents, store, (id, why) => {
    events.add('bundle-refused', id, why);
    log.station('error', `${id}: ${why.message} ${why.evidence ?? ''}`);
  });

  const web = await openStationWeb({
    openWeb,
    port,
    policy: policy.current,
    env,
    bundleSkills,
    report: (kind, subject, why) => {
      events.add(kind, subject, why);
      log.station('warn', `${subject}: ${why.message} ${why.evidence ?? ''}`);
    },
    onBug: (error) =>
      log.station('error', error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });

  let closing: Promise<void> | undefined;
  const quiesce = () => {
    closing ??= (async () => {
      await web.close();
      await residents.settled();
      wakes.close();
      // Agents first, so that no component waits for one; again after, for what was starting meanwhile.
      await processes.endAll();
      await bus.close();
      await processes.endAll();
      state.close();
      log.close();
    })();
    return closing;
  };
  const handlers = controlHandlers({
    home,
    policy,
    residents,
    sessions: sessionHandlers(bus, redact, promptExpansion(stationSkills(bundleSkills))),
    bundleSkills,
    startedAt,
    processes: processes.running,
    web: web.status,
    quiesce,
  });
  log.station('info', 'ready');
  return { handlers, quiesce, web: web.status };
};

/** The variables policy names: those whose values must never be seen. A new set only when policy changed. */
const secretNames = (current: () => Policy) => {
  let revision: string | undefined;
  let names: ReadonlySet<string> = new Set();
  return () => {
    const policy = current();
    if (policy.revision !== revision) {
      revision = policy.revision;
      // Names once known stay known: a variable taken out of policy may still stand in a running agent's output.
      names = new Set([
        ...names,
        ...[...policy.programs.values()].flatMap((program) => program.inherit),
        ...[...policy.origins.values()].flatMap((origin) => origin.bearer ?? []),
        ...channelTokens(policy),
      ]);
    }
    return names;
  };
};

/**
 * Installs the bundles this installation ships: those never seen in this home, and newer ones of those still
 * installed. One the operator uninstalled does not come back.
 */
const installShipped = async (
  residents: Residents,
  store: ReturnType<typeof openComponentStore>,
  refused: (id: string, why: Problem) => void,
): Promise<void> => {
  const folder = join(installation(), 'dist', 'bundles');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).sort(contractsFirst)) {
    const manifest = readFileSync(join(folder, name, 'bundle.json'), 'utf8');
    const key = `shipped/${name}`;
    const seen = store.get('station', key);
    if (seen === manifest) continue;
    const bundle = await readBundle(join(folder, name));
    const wanted = (id: string) => seen === undefined || residents.list().some((one) => one.id === id);
    if (!bundle.ok) {
      refused(name, bundle.problem);
      continue;
    }
    if (wanted(bundle.value.manifest.id)) {
      const done = await residents.install(join(folder, name));
      if (!done.ok) {
        refused(name, done.problem);
        continue;
      }
    }
    store.put('station', key, manifest);
  }
};

const contractsFirst = (a: string, b: string) =>
  Number(b === 'contracts') - Number(a === 'contracts') || (a < b ? -1 : 1);
