/**
 * Opens a station on a home: claims the socket, opens the database, and is ready. The rooms are wired behind that, and
 * requests wait for them (docs/decisions/0008). This file and what it imports stay light.
 */
import { join } from 'node:path';
import { setImmediate as afterwards } from 'node:timers/promises';
import { failed, ok, type Result } from '../problems/index.ts';
import { openState } from '../state/index.ts';
import type { Handlers } from './handlers.ts';
import { type Home, installation, openHome } from './home.ts';
import { serveControl } from './socket.ts';
import type { OpenWeb } from './web.ts';

export interface RunningStation {
  readonly home: Home;
  /** Resolves when the station has stopped, by `down` or by `stop`; rejects where its rooms could not be wired. */
  readonly stopped: Promise<void>;
  readonly stop: () => Promise<void>;
  /** Where HTTP is served, when a port was asked for. */
  readonly port?: number;
}

export interface StationOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
  /** Serves HTTP there (0: any free port); otherwise policy says whether and where. */
  readonly port?: number | undefined;
  readonly openWeb?: OpenWeb;
  /** How long `down` and an uninstall wait for calls in flight before they answer, ms. */
  readonly drainMs?: number;
  /** Folder of bundles to install where the home has not seen them; those of this installation by default. */
  readonly shipped?: string;
}

/** The default of it: as long as a call may take where policy says nothing. */
const usualDrainMs = 5_000;

/** What was opened before a failure is closed again. */
export const openStation = async (options: StationOptions): Promise<Result<RunningStation>> => {
  const { env = process.env, now = Date.now, drainMs = usualDrainMs } = options;
  const { shipped = join(installation(), 'dist', 'bundles') } = options;
  const home = openHome(options.home);
  if (!home.ok) return home;
  const handlers = Promise.withResolvers<Handlers>();
  const control = await serveControl(home.value.dir, handlers.promise);
  if (!control.ok) return control;
  const state = openState(home.value.database);
  if (!state.ok) {
    handlers.reject(new Error(state.problem.message));
    await control.value.close();
    return state;
  }
  // After whoever waits was told: loading the rooms keeps the thread busy.
  const rooms = afterwards().then(async () => {
    const { openRooms } = await import('./rooms.ts');
    return openRooms({
      home: home.value,
      state: state.value,
      env,
      now,
      port: options.port,
      openWeb: options.openWeb,
      drainMs,
      shipped,
      onLateStop: () => void control.value.close(),
    });
  });
  rooms.then(
    (opened) => handlers.resolve(opened.handlers),
    async (cause: unknown) => {
      handlers.reject(cause);
      await control.value.close();
    },
  );
  const running: RunningStation = {
    home: home.value,
    stopped: control.value.closed.then(async () => void (await rooms)),
    stop: async () => {
      await (await rooms).quiesce();
      await control.value.close();
    },
  };
  if (options.port === undefined) return ok(running);
  // Whoever names a port wants to know that it is open.
  const web = (await rooms).web();
  if (web?.problem !== undefined) {
    await running.stop();
    return failed(web.problem);
  }
  return ok({ ...running, ...(web?.port === undefined ? {} : { port: web.port }) });
};
