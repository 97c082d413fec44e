/** Real connections in a folder of their own, gone with the test; nothing answers at the addresses tests give them. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Connections, openConnections } from '../../host/mcp/index.ts';
import { openProcesses } from '../../host/processes/index.ts';

// Nobody listens on the port that is none.
export const nowhere = { type: 'http', url: 'http://127.0.0.1:1/mcp' };

export const openUndialled = async (
  t: TestContext,
): Promise<{ readonly dir: string; readonly connections: Connections }> => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-undialled-')));
  const processes = await openProcesses({ run: dir });
  const connections = openConnections({
    processes,
    env: {},
    redact: (text) => text,
    logs: dir,
    cwd: dir,
    client: { name: 'test', version: '1' },
  });
  t.after(async () => {
    await connections.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { dir, connections };
};
