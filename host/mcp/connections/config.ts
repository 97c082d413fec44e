/** Files of servers beside the policy: of a project, and given for one session. Read bounded, never followed as a pipe. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { policyText, readServersFile, type ServersFile } from '../../policy/index.ts';
import { failed, ok, type Result, refuse } from '../../problems/index.ts';

export type SessionServers = ServersFile & { readonly servers: NonNullable<ServersFile['servers']> };
export interface ProjectServers extends ServersFile {
  /** The project's folder, by its real path. */
  readonly folder: string;
  readonly file: string;
}

/** Below a project's folder. */
export const settingsFile = join('.jupiter', 'settings.jsonc');
/** Folders looked at on the way up. */
const mostLevels = 256;

/**
 * `--mcp-config FILE`: only its key `mcpServers` is read. `connections/file-missing`, `connections/file-without-servers`,
 * `connections/file-unreadable`. A wrong entry is a failure of that entry.
 */
export const readMcpConfig = (path: string): Result<SessionServers> => {
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    return refuse('connections/file-missing', { subject: path });
  const text = policyText(path);
  if (text === undefined)
    return refuse('connections/file-unreadable', { subject: path, evidence: 'no file that may be read' });
  const { servers, problems } = readServersFile(text, path);
  const [found] = problems.filter(({ evidence }) => evidence !== undefined);
  if (servers === undefined)
    return found === undefined
      ? refuse('connections/file-without-servers', { subject: path })
      : failed(found);
  if (servers.length === 0 && found !== undefined) return failed(found);
  return ok({ servers, disabled: new Set(), problems: [] });
};

const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The settings nearest to `cwd`, going up; undefined where there are none. */
export const readProjectSettings = (cwd: string): ProjectServers | undefined => {
  let folder: string;
  try {
    folder = realpathSync(cwd);
  } catch {
    return undefined;
  }
  for (let level = 0; level < mostLevels; level += 1) {
    const file = join(folder, settingsFile);
    if (isFile(file)) {
      const text = policyText(file);
      const read: ServersFile =
        text === undefined
          ? { servers: undefined, disabled: new Set(), problems: [] }
          : readServersFile(text, file);
      return { folder, file, ...read };
    }
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
};
