/**
 * What `jupiter up` runs in the background: `detached.ts HOME [PORT]`. Tells its parent once whether the station is
 * ready, then lets go of it, and stays until the station is stopped.
 */
import { dropAllocatorSettings } from './allocator.ts';
import type { Word } from './start.ts';

dropAllocatorSettings(process.env);

const [home = '', port] = process.argv.slice(2);

const send = process.send?.bind(process);
const tell = (word: Word): Promise<void> =>
  new Promise((resolve) => {
    // A parent that has gone away has nobody to tell.
    if (send === undefined || !process.connected) resolve();
    else send(word, undefined, undefined, () => resolve());
  });
const letGo = (): void => {
  if (process.connected) process.disconnect?.();
};

const { openStation } = await import('../station/index.ts');
const { problem } = await import('../problems/index.ts');
const { interrupted, openWeb } = await import('./start.ts');
const stop = interrupted();
try {
  const opened = await openStation({ home, port: port === undefined ? undefined : Number(port), openWeb });
  if (opened.ok) {
    const { port: open } = opened.value;
    await tell({ ready: { pid: process.pid, home, ...(open === undefined ? {} : { port: open }) } });
    letGo();
    void stop.then(() => opened.value.stop());
    await opened.value.stopped;
  } else {
    await tell({ problem: opened.problem });
    letGo();
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error);
  const evidence = error instanceof Error ? error.message : String(error);
  await tell({ problem: problem('station/start-failed', { subject: home, evidence }) });
  letGo();
  process.exitCode = 1;
}
