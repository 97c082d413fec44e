/**
 * Skills of other servers, the host's side of SEP-2640. A server is added under a label of the operator's; what it lists
 * waits until the operator approves the digest of a skill's manifest; the files of approved skills are retrieved when a
 * session needs them, verified against that manifest, and given to the placing of skills under names of their own.
 * A manifest that changes ends its approval. Nothing else of a server is ever used.
 */
import { ok, type Problem, problem, type Result, refuse } from '../../problems/index.ts';
import type { SkillSource } from '../../skills/index.ts';
import { serverUrl } from './address.ts';
import { type Kept, openCache } from './cache.ts';
import { openCalls } from './calls.ts';
import type { RemoteOptions, RemoteServer, RemoteSkills, Unready } from './edge.ts';
import { filesOf } from './entry.ts';
import { atOnce, listMs, mostServers, retrieveMs } from './limits.ts';
import { addressOf, labelFor, labelOf, sourceId } from './names.ts';
import { openRecords, type ServerRow, type SkillRow } from './records.ts';
import { manifestView, serverView, skillView } from './view.ts';

const digestPrefix = /^(?:sha256:)?([0-9a-f]{12,64})$/;

const keyOf = ({ label, entry }: SkillRow): string => `${label}\0${entry.uri}`;

/** Works on a list, so many at a time. */
const eachOf = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
};

export const openRemoteSkills = (options: RemoteOptions): RemoteSkills => {
  const { report } = options;
  const records = openRecords(options.db);
  const cache = openCache(options.folder);
  // Why a server could not be listed, and why a skill could not be retrieved, until it can.
  const unlisted = new Map<string, Problem>();
  const faults = new Map<string, Problem>();
  const calls = openCalls({ ...options, records, cache, ended: (row) => void faults.delete(keyOf(row)) });

  let turn: Promise<unknown> = Promise.resolve();
  /** What the operator asks for, one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => undefined);
    return next;
  };

  const viewOf = (server: ServerRow): RemoteServer =>
    serverView(server, records.skills(server.label), unlisted.get(server.label), (row) =>
      faults.get(keyOf(row)),
    );
  const viewAt = (label: string): Result<RemoteServer> => {
    const server = records.server(label);
    return server === undefined ? refuse('remote/unknown', { subject: label }) : ok(viewOf(server));
  };

  const relist = async (server: ServerRow): Promise<Result<undefined>> => {
    const done = await calls.relist(server, AbortSignal.timeout(listMs));
    if (done.ok) unlisted.delete(server.label);
    return done;
  };

  const keptOf = (row: SkillRow): Result<Kept> => {
    const files = filesOf(row.entry);
    if (!files.ok) return files;
    const server = records.server(row.label);
    if (server === undefined || row.approved !== row.digest)
      return refuse('remote/waiting', { subject: row.path });
    return ok({
      origin: { label: row.label, url: server.url, name: row.name },
      path: row.path,
      uri: row.entry.uri,
      digest: row.digest,
      files: files.value,
      frontmatter: row.entry.frontmatter,
    });
  };

  const rowAt = (text: string): Result<SkillRow> => {
    const address = addressOf(text);
    if (!address.ok) return address;
    const { label, path } = address.value;
    const row = path === undefined ? undefined : records.skill(label, path);
    return row === undefined ? refuse('remote/unknown', { subject: text }) : ok(row);
  };

  /** The server an address and a label stand for, known or new. */
  const serverFor = (address: string, label: string | undefined): Result<ServerRow> => {
    const aliased = options.alias(address);
    const url = serverUrl(aliased ?? address, options.access(aliased ?? address).named);
    if (!url.ok) return url;
    const before = records.servers().find((one) => one.url === url.value);
    const usual = aliased !== undefined && labelOf(address).ok ? address : labelFor(url.value);
    const chosen = labelOf(label ?? before?.label ?? usual);
    if (!chosen.ok) return chosen;
    const holder = records.server(chosen.value) ?? before;
    if (holder !== undefined && (holder.url !== url.value || holder.label !== chosen.value)) {
      return refuse('remote/label-taken', {
        subject: chosen.value,
        evidence: `${holder.label}: ${holder.url}`,
      });
    }
    if (before === undefined && records.servers().length >= mostServers) {
      return refuse('remote/too-many', { evidence: `at most ${mostServers} servers` });
    }
    return ok(before ?? { label: chosen.value, url: url.value, listedAt: 0, leftOut: [] });
  };

  const retrieveNow = async (): Promise<void> => {
    const wanted = records
      .decided()
      .filter(({ approved }) => approved !== null)
      .flatMap((row) => {
        const kept = keptOf(row);
        return kept.ok && cache.missing(kept.value).length > 0 ? [[row, kept.value] as const] : [];
      });
    const signal = AbortSignal.timeout(options.retrieveMs ?? retrieveMs);
    await eachOf([...Map.groupBy(wanted, ([row]) => row.label)], async ([label, skills]) => {
      const server = records.server(label);
      if (server === undefined) return;
      await calls.retrieve(server, skills, signal, (row, done) => {
        if (done.ok) faults.delete(keyOf(row));
        else {
          faults.set(keyOf(row), done.problem);
          report('refuse', sourceId(label, row.path), done.problem);
        }
      });
    });
  };
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;

  return {
    add: ({ address, label, skills }) =>
      inTurn(async () => {
        const server = serverFor(address, label);
        if (!server.ok) return server;
        const isNew = records.server(server.value.label) === undefined;
        if (skills === undefined) {
          const done = await relist(server.value);
          if (!done.ok) return done;
        } else {
          const done = await calls.addSkills(server.value, skills, AbortSignal.timeout(listMs));
          if (!done.ok) return done;
          const [missing] = done.value.gone;
          if (missing !== undefined) return refuse('remote/unknown', { subject: missing });
        }
        if (isNew) report('install', `mcp:${server.value.label}`);
        return viewAt(server.value.label);
      }),
    update: (label) =>
      inTurn(async () => {
        const servers = records.servers().filter((one) => label === undefined || one.label === label);
        if (label !== undefined && servers.length === 0) return refuse('remote/unknown', { subject: label });
        await eachOf(servers, async (server) => {
          const done = await relist(server);
          if (!done.ok) unlisted.set(server.label, done.problem);
        });
        return ok(
          servers.map(({ label: one }) => viewAt(one)).flatMap((view) => (view.ok ? view.value : [])),
        );
      }),
    approve: (text, digest) =>
      inTurn(async () => {
        const found = rowAt(text);
        if (!found.ok) return found;
        const row = found.value;
        const { label } = row;
        const files = filesOf(row.entry);
        if (!files.ok) return files;
        const [, given] = digestPrefix.exec(digest) ?? [];
        if (given === undefined || !row.digest.startsWith(given)) {
          const evidence = `given ${digest.slice(0, 80)}, listed ${row.digest}`;
          return refuse('remote/digest', { subject: text, evidence });
        }
        records.approve(label, row.entry.uri, row.digest);
        report('grant', `${sourceId(label, row.path)} ${row.digest}`);
        return ok(skillView({ ...row, approved: row.digest, approvedBefore: null }, faults.get(keyOf(row))));
      }),
    remove: (text) =>
      inTurn(async () => {
        const address = addressOf(text);
        if (!address.ok) return address;
        const { label, path } = address.value;
        if (records.server(label) === undefined) return refuse('remote/unknown', { subject: text });
        const gone = records.skills(label).filter((row) => path === undefined || row.path === path);
        if (path !== undefined && gone.length === 0) return refuse('remote/unknown', { subject: text });
        for (const row of gone) {
          faults.delete(keyOf(row));
          if (path !== undefined) records.approve(label, row.entry.uri, null);
          cache.drop(label, row.entry.uri);
          if (row.approved !== null) report('revoke', sourceId(label, row.path));
        }
        if (path === undefined) {
          records.forget(label);
          cache.drop(label);
          unlisted.delete(label);
          report('uninstall', `mcp:${label}`);
        }
        return ok({ removed: text });
      }),
    list: () => records.servers().map(viewOf),
    show: (text) => {
      const row = rowAt(text);
      return row.ok ? ok(manifestView(row.value, faults.get(keyOf(row.value)))) : row;
    },
    // One that runs may not know what was approved since; all who come meanwhile share the one after it.
    retrieve: () => {
      waiting ??= running.then(() => {
        waiting = undefined;
        const own = retrieveNow();
        running = own.catch(() => {});
        return own;
      });
      return waiting;
    },
    ready: () => {
      const sources: SkillSource[] = [];
      const unready: Unready[] = [];
      for (const row of records.decided()) {
        const { label, path, approved, digest, name } = row;
        const kept = keptOf(row);
        const changed = problem('remote/changed', { subject: `${label}/${path}` });
        const source = kept.ok ? cache.source(kept.value) : kept;
        if (source.ok) sources.push(source.value);
        else {
          const why = approved === null ? changed : (faults.get(keyOf(row)) ?? source.problem);
          unready.push({ bundle: sourceId(label, path), revision: digest, name, problem: why });
        }
      }
      return { sources, unready };
    },
    holds: (source) =>
      records.decided().some((row) => row.approved !== null && sourceId(row.label, row.path) === source),
  };
};
