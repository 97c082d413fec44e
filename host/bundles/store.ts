/**
 * What is installed: packages on disk and their records in the database, kept true to each other. A package is whole
 * before it has its name, a record is written in one transaction after that, and forgetting comes before removing;
 * so a kill leaves either a package nobody knows, which `repair` removes, or nothing half done.
 */
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { topicClaims } from './claims.ts';
import type { BundleStore, BundleStoreOptions, InstalledBundle, Manifest, StoreStep } from './edge.ts';
import { examine } from './examine.ts';
import { decodeManifest, manifestOf } from './manifest.ts';
import { openPackages } from './packages.ts';
import { type BundleRow, openRecords } from './records.ts';
import { storedSignature } from './signature.ts';

// Earlier revisions of a bundle kept beside the active one: sessions that began with one may still read it.
const earlierKept = 2;

const stateFault = (error: unknown): Problem => {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))
    return problem('state/write-failed', { evidence: String(error.code) });
  throw error;
};

export const openBundleStore = (options: BundleStoreOptions): BundleStore => {
  const { db, now, report = () => {}, refusal = () => undefined, onStep = () => {} } = options;
  const { inUse = () => new Set<string>() } = options;
  const step = (name: StoreStep): void => onStep(name);
  const records = openRecords(db);
  const packages = openPackages({ root: options.packages, report, step, refusal });
  // Only what this store has staged itself can become active.
  const staged = new Map<string, { readonly bytes: Buffer; readonly manifest: Manifest }>();
  const manifests = new Map<string, Manifest>();
  const keyOf = (id: string, identity: string): string => `${id} ${identity}`;

  const manifestOfRow = (row: BundleRow): Manifest | undefined => {
    const key = keyOf(row.id, row.identity);
    const known = manifests.get(key);
    if (known !== undefined) return known;
    const value = decodeManifest(row.manifest);
    const read = value.ok ? manifestOf(value.value) : undefined;
    if (read?.manifest === undefined || read.problems.length > 0 || read.manifest.id !== row.id)
      return undefined;
    manifests.set(key, read.manifest);
    return read.manifest;
  };
  const installed = (row: BundleRow): InstalledBundle | undefined => {
    const manifest = manifestOfRow(row);
    return manifest === undefined
      ? undefined
      : {
          manifest,
          identity: row.identity,
          folder: packages.folderOf(row.id, row.identity),
          installedAt: row.installed_at,
        };
  };
  // Of a record that cannot be read any more, what its columns say: enough to name what was removed.
  const unreadable = (row: BundleRow): InstalledBundle => ({
    manifest: {
      manifest: 2,
      id: row.id,
      version: row.version,
      content: [],
      components: [],
      topics: [],
      tools: [],
    },
    identity: row.identity,
    folder: packages.folderOf(row.id, row.identity),
    installedAt: row.installed_at,
  });
  const activeRows = (): readonly BundleRow[] => records.rows().filter((row) => row.active === 1);

  const stage: BundleStore['stage'] = async (source) => {
    const result = await packages.stage(source);
    if (!result.ok) return result;
    const { bundle, manifestBytes } = result.value;
    staged.set(keyOf(bundle.manifest.id, bundle.identity), {
      bytes: manifestBytes,
      manifest: bundle.manifest,
    });
    return ok({ ...bundle, installedAt: now() });
  };

  const activate: BundleStore['activate'] = (bundle) => {
    const { identity } = bundle;
    const id = bundle.manifest.id;
    const key = keyOf(id, identity);
    const row = records.row(id, identity);
    const known = row && { bytes: row.manifest, manifest: manifestOfRow(row) };
    const { bytes, manifest } = staged.get(key) ?? known ?? {};
    if (bytes === undefined || manifest === undefined || !packages.has(id, identity))
      return refuse('bundle/not-staged', { subject: key });
    const folder = packages.folderOf(id, identity);
    const claims = topicClaims(manifest, folder, options.shapeOf);
    if (!claims.ok) return claims;
    const installedAt = now();
    const work = db.transaction((): Result<InstalledBundle> => {
      const [conflict] = records.conflicts(claims.value);
      if (conflict !== undefined) return failed(conflict);
      records.makeActive({
        id,
        identity,
        version: manifest.version,
        manifest: bytes,
        installed_at: installedAt,
      });
      step('activate:recorded');
      records.addTopics(claims.value, id, identity);
      step('activate:topics-recorded');
      return ok({ manifest, identity, folder, installedAt });
    });
    try {
      const result = work.immediate();
      if (!result.ok) return result;
      staged.delete(key);
      step('activate:committed');
      return result;
    } catch (error) {
      return failed(stateFault(error));
    }
  };

  const verifyRow = async (row: BundleRow): Promise<Problem | undefined> => {
    const subject = `${row.id} ${row.identity}`;
    if (manifestOfRow(row) === undefined) return problem('bundle/record-unreadable', { subject });
    if (!packages.has(row.id, row.identity)) return problem('bundle/package-missing', { subject });
    const examined = await examine(packages.folderOf(row.id, row.identity));
    const [first] = examined.problems;
    if (first !== undefined)
      return { ...first, message: `${first.message} It belongs to the installed bundle "${row.id}".` };
    if (examined.identity === row.identity)
      return refusal({ id: row.id, identity: row.identity, signature: examined.signature });
    return problem('bundle/identity-mismatch', {
      subject,
      evidence: `expected identity ${row.identity}, observed ${examined.identity}`,
    });
  };
  const verify: BundleStore['verify'] = async (id) => {
    const results: { id: string; problem?: Problem }[] = [];
    const rows = activeRows().filter((row) => id === undefined || row.id === id);
    if (id !== undefined && rows.length === 0)
      return [{ id, problem: problem('bundle/not-installed', { subject: id }) }];
    for (const row of rows) {
      const found = await verifyRow(row);
      results.push(found === undefined ? { id: row.id } : { id: row.id, problem: found });
    }
    return results;
  };

  const remove: BundleStore['remove'] = async (id) => {
    const row = records.activeRow(id);
    if (row === undefined) return refuse('bundle/not-installed', { subject: id });
    const bundle = installed(row) ?? unreadable(row);
    try {
      db.transaction(() => records.forget(id)).immediate();
    } catch (error) {
      return failed(stateFault(error));
    }
    step('remove:forgotten');
    await packages.discard(packages.folderOf(id, '.'), () => step('remove:package-aside'));
    step('remove:removed');
    return ok(bundle);
  };

  /** Every record, and whether its package stays. */
  const judged = (): readonly (readonly [BundleRow, boolean])[] => {
    const earlier = new Map<string, number>();
    return records.rows().map((row) => {
      if (row.active === 1) return [row, true];
      const before = earlier.get(row.id) ?? 0;
      const there = packages.has(row.id, row.identity);
      const stays = there && (before < earlierKept || inUse(row.id).has(row.identity));
      if (stays) earlier.set(row.id, before + 1);
      return [row, stays];
    });
  };
  const collect: BundleStore['collect'] = async () => {
    for (const [{ id, identity }, stays] of judged()) {
      if (stays) continue;
      records.forgetRevision(id, identity);
      await packages.discard(packages.folderOf(id, identity));
    }
  };

  const repair: BundleStore['repair'] = async () => {
    const problems: Problem[] = [];
    const own = openPackages({
      root: options.packages,
      report: (fault) => problems.push(fault),
      step,
      refusal,
    });
    const there = await own.sweep();
    const present = new Set(there.map(({ id, identity }) => keyOf(id, identity)));
    const wanted = new Set<string>();
    for (const [row, stays] of judged()) {
      const key = keyOf(row.id, row.identity);
      if (row.active === 1) {
        wanted.add(key);
        if (!present.has(key)) problems.push(problem('bundle/package-missing', { subject: key }));
      } else if (present.has(key) && stays) wanted.add(key);
      else records.forgetRevision(row.id, row.identity);
    }
    for (const { id, identity } of there)
      if (!wanted.has(keyOf(id, identity))) await own.discard(own.folderOf(id, identity));
    return problems;
  };

  return {
    stage,
    activate,
    conflicts: records.conflicts,
    active: () => activeRows().flatMap((row) => installed(row) ?? []),
    verify,
    refusal: ({ manifest: { id }, identity, folder }) => {
      const signature = storedSignature(folder);
      return signature.ok ? refusal({ id, identity, signature: signature.value }) : signature.problem;
    },
    remove,
    discard: async ({ manifest: { id }, identity }) => {
      staged.delete(keyOf(id, identity));
      if (records.row(id, identity) === undefined) await packages.discard(packages.folderOf(id, identity));
    },
    repair,
    collect,
    revision: (id, identity) => {
      const row = records.row(id, identity);
      return row === undefined || !packages.has(id, identity) ? undefined : installed(row);
    },
    verifyRevision: async (id, identity) => {
      const row = records.row(id, identity);
      return row === undefined
        ? problem('bundle/package-missing', { subject: keyOf(id, identity) })
        : verifyRow(row);
    },
  };
};
