/**
 * What is asked of other servers: listing one again, entries one by one, and the files an approved skill lacks. What
 * comes back is written down here, and an approval ends here when the manifest it named is no longer the one listed.
 */
import { ok, type Problem, problem, type Result } from '../../problems/index.ts';
import type { Cache, Kept } from './cache.ts';
import type { Dialled, Listing } from './dial.ts';
import type { RemoteOptions } from './edge.ts';
import type { RemoteEntry } from './entry.ts';
import { mostLeftOut, mostSkills } from './limits.ts';
import { sourceId } from './names.ts';
import type { Records, ServerRow, SkillRow } from './records.ts';

/** URIs asked for one by one when a listing does not name them any more. */
const askedSingly = 64;

export interface CallOptions extends RemoteOptions {
  readonly records: Records;
  readonly cache: Cache;
  /** A skill's content is another one. */
  readonly ended: (row: SkillRow) => void;
}
export interface Calls {
  readonly relist: (server: ServerRow, signal: AbortSignal) => Promise<Result<undefined>>;
  /** Adds skills by their URIs; none where the server serves nothing at one of them, which are `gone`. */
  readonly addSkills: (
    server: ServerRow,
    uris: readonly string[],
    signal: AbortSignal,
  ) => Promise<Result<{ readonly gone: readonly string[] }>>;
  /** Each skill in turn; `told` hears what became of it. */
  readonly retrieve: (
    server: ServerRow,
    wanted: readonly (readonly [SkillRow, Kept])[],
    signal: AbortSignal,
    told: (row: SkillRow, done: Result<undefined>) => void,
  ) => Promise<void>;
}

export const openCalls = (options: CallOptions): Calls => {
  const { records, cache, report } = options;

  const withServer = async <T>(
    url: string,
    signal: AbortSignal,
    work: (server: Dialled) => Promise<Result<T>>,
  ): Promise<Result<T>> => {
    const { token } = options.access(url);
    if (!token.ok) return token;
    const { dial } = await import('./dial.ts');
    const { version, connectMs } = options;
    const times = connectMs === undefined ? {} : { connectMs };
    const server = await dial({ url, token: token.value, version, signal, ...times });
    if (!server.ok) return server;
    try {
      return await work(server.value);
    } finally {
      await server.value.close();
    }
  };

  /** Writes down what a server listed, and what that ends. */
  const keep = (
    { label, url }: Pick<ServerRow, 'label' | 'url'>,
    { entries, invalid }: Listing,
    gone: readonly string[],
    before: readonly Problem[] = [],
  ): void => {
    const leftOut: Problem[] = [
      ...before,
      ...invalid
        .slice(0, mostLeftOut)
        .map(({ uri = '(no URI)', reason }) =>
          problem('remote/entry', { subject: uri.slice(0, 300), evidence: reason.slice(0, 500) }),
        ),
    ];
    if (entries.length > mostSkills) {
      const evidence = `${entries.length} skills; at most ${mostSkills}`;
      leftOut.push(problem('remote/too-many', { subject: url, evidence }));
    }
    const server: ServerRow = { label, url, listedAt: options.now(), leftOut };
    for (const row of records.listed(server, entries.slice(0, mostSkills), gone)) {
      cache.drop(label, row.entry.uri);
      options.ended(row);
      const subject = `${label}/${row.path}`;
      report('revoke', sourceId(label, row.path), problem('remote/changed', { subject }));
    }
  };

  const asked = async (
    server: Dialled,
    uris: readonly string[],
  ): Promise<Result<{ readonly found: readonly RemoteEntry[]; readonly gone: readonly string[] }>> => {
    const found: RemoteEntry[] = [];
    const gone: string[] = [];
    for (const uri of uris) {
      const entry = await server.get(uri);
      if (!entry.ok) return entry;
      if (entry.value === undefined) gone.push(uri);
      else found.push(entry.value);
    }
    return ok({ found, gone });
  };

  const fill = async (server: Dialled, row: SkillRow, kept: Kept): Promise<Result<undefined>> => {
    for (const file of cache.missing(kept)) {
      const bytes = await server.read(row.entry, file.uri);
      if (bytes.ok) {
        const stored = cache.store(kept, file, bytes.value);
        if (!stored.ok) return stored;
        continue;
      }
      // Stale, or a server that lies: the entry it gives now says which.
      const fresh = bytes.problem.code === 'remote/differs' ? await server.get(row.entry.uri) : undefined;
      const owner = records.server(row.label);
      if (fresh?.ok === true && fresh.value !== undefined && owner !== undefined) {
        keep(owner, { entries: [fresh.value], invalid: [] }, [], owner.leftOut);
      }
      return bytes;
    }
    return ok(undefined);
  };

  return {
    relist: (server, signal) =>
      withServer(server.url, signal, async (dialled) => {
        const listing = await dialled.list();
        if (!listing.ok) return listing;
        const { entries, invalid } = listing.value;
        const listed = new Set([
          ...entries.map(({ uri }) => uri),
          ...invalid.flatMap(({ uri }) => uri ?? []),
        ]);
        // A listing need not name every skill, so what it does not name is asked for.
        const left = records.skills(server.label).filter(({ entry }) => !listed.has(entry.uri));
        const uris = left.slice(0, askedSingly).map(({ entry }) => entry.uri);
        const rest = await asked(dialled, uris);
        if (!rest.ok) return rest;
        keep(server, { entries: [...entries, ...rest.value.found], invalid }, rest.value.gone);
        return ok(undefined);
      }),
    addSkills: (server, uris, signal) =>
      withServer(server.url, signal, async (dialled) => {
        const found = await asked(dialled, uris);
        if (!found.ok) return found;
        const { gone } = found.value;
        if (gone.length === 0) keep(server, { entries: found.value.found, invalid: [] }, [], server.leftOut);
        return ok({ gone });
      }),
    retrieve: async (server, wanted, signal, told) => {
      const done = await withServer(server.url, signal, async (dialled) => {
        for (const [row, kept] of wanted) told(row, await fill(dialled, row, kept));
        return ok(undefined);
      });
      if (!done.ok) for (const [row] of wanted) told(row, done);
    },
  };
};
