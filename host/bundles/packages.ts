/**
 * The folder `packages/` of a home: `<id>/<identity>` for each package, `.staging-<random>` for what is on its way in
 * or out. A name without a dot in front appears only by a rename of something whole and durable.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failed, ok, type Problem, problem, type Result } from '../problems/index.ts';
import type { StoreStep, VerifiedBundle } from './edge.ts';
import { type Examined, examine, verified } from './examine.ts';
import { type Signed, signatureName } from './signature.ts';
import { openSource } from './source.ts';
import { folderSink, replaceFile, syncFolder, writeFault } from './write.ts';

export const stagingPrefix = '.staging-';
const bundleFolder = /^[a-z0-9]+([.-][a-z0-9]+)*$/;
const packageFolder = /^[0-9a-f]{64}$/;

export interface PackagesOptions {
  readonly root: string;
  readonly report: (problem: Problem) => void;
  readonly step: (step: StoreStep) => void;
  /** Why a revision may not come in. */
  readonly refusal: (bundle: Signed) => Problem | undefined;
}

export interface StagedPackage {
  readonly bundle: VerifiedBundle;
  readonly manifestBytes: Buffer;
}

export interface Packages {
  readonly folderOf: (id: string, identity: string) => string;
  /** Whether the package's folder is there, and no link on the way. */
  readonly has: (id: string, identity: string) => boolean;
  readonly stage: (source: string) => Promise<Result<StagedPackage>>;
  /** Moves `<id>` or `<id>/<identity>` out of sight at once, then removes it; what cannot be removed is reported. */
  readonly discard: (folder: string, aside?: () => void) => Promise<void>;
  /** Every `<id>/<identity>` there is, after staging leftovers are removed; anything else is reported and left. */
  readonly sweep: () => Promise<readonly { readonly id: string; readonly identity: string }[]>;
}

const isFolder = (place: string): boolean =>
  lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

export const openPackages = ({ root, report, step, refusal }: PackagesOptions): Packages => {
  const stagingFolder = (): string => join(root, `${stagingPrefix}${randomBytes(12).toString('hex')}`);
  const folderOf = (id: string, identity: string): string => join(root, id, identity);

  const removed = async (folder: string): Promise<void> => {
    try {
      await rm(folder, { recursive: true, force: true });
    } catch (error) {
      report(writeFault(error));
    }
  };
  const discard = async (folder: string, aside: () => void = () => {}): Promise<void> => {
    if (!existsSync(folder)) return;
    const away = stagingFolder();
    try {
      renameSync(folder, away);
      const above = dirname(folder);
      if (above !== root && readdirSync(above).length === 0) rmdirSync(above);
      else syncFolder(above);
      syncFolder(root);
    } catch (error) {
      report(writeFault(error));
      return;
    }
    aside();
    await removed(away);
  };

  /** Puts a compared staging folder in its place; one that is there and whole stays, and gets the newer signature. */
  const settle = async (
    staging: string,
    { manifest, identity }: VerifiedBundle,
    signature: Buffer | undefined,
  ): Promise<Result<string>> => {
    const place = folderOf(manifest.id, identity);
    if (existsSync(place)) {
      const there = await examine(place);
      if (there.identity === identity) {
        if (signature === undefined || there.signatureBytes?.equals(signature) === true) return ok(place);
        const written = replaceFile(join(place, signatureName), signature);
        step('stage:signature-replaced');
        return written.ok ? ok(place) : written;
      }
      report(
        problem('bundle/package-damaged', {
          subject: `${manifest.id} ${identity}`,
          evidence: damage(there),
          message: 'The package on disk differed from its revision; it was replaced by a verified copy.',
        }),
      );
      await discard(place, () => step('stage:damaged-aside'));
    }
    mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
    renameSync(staging, place);
    syncFolder(dirname(place));
    syncFolder(root);
    step('stage:renamed');
    return ok(place);
  };

  const stage = async (from: string): Promise<Result<StagedPackage>> => {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const source = await openSource(from, stagingFolder(), () => step('stage:entry-unpacked'));
    if (!source.ok) return source;
    try {
      step('stage:unpacked');
      return await stageFolder(source.value.folder);
    } finally {
      source.value.close();
    }
  };

  const stageFolder = async (source: string): Promise<Result<StagedPackage>> => {
    const staging = stagingFolder();
    try {
      const sink = folderSink(staging, () => step('stage:file-written'));
      step('stage:folder-made');
      const read = await examine(source, sink);
      const first = verified(read);
      if (!first.ok) return first;
      await sink.sync();
      step('stage:written');
      const back = await examine(staging);
      const copy = verified(back);
      if (!copy.ok) return copy;
      if (copy.value.identity !== first.value.identity || back.manifestBytes === undefined)
        return failed(problem('bundle/identity-mismatch', { subject: first.value.manifest.id }));
      step('stage:compared');
      const { manifest, identity, signature } = copy.value;
      const refused = refusal({ id: manifest.id, identity, signature });
      if (refused !== undefined) return failed(refused);
      const folder = await settle(staging, copy.value, back.signatureBytes);
      if (!folder.ok) return folder;
      return ok({ bundle: { ...copy.value, folder: folder.value }, manifestBytes: back.manifestBytes });
    } catch (error) {
      return failed(writeFault(error));
    } finally {
      await removed(staging);
    }
  };

  const stray = (name: string): void =>
    report(problem('bundle/package-stray', { subject: `packages/${name}` }));

  const sweep = async () => {
    const found: { id: string; identity: string }[] = [];
    if (!isFolder(root)) return found;
    for (const id of readdirSync(root)) {
      const folder = join(root, id);
      if (id.startsWith(stagingPrefix)) await removed(folder);
      else if (!bundleFolder.test(id) || !isFolder(folder)) stray(id);
      else {
        const inside = readdirSync(folder);
        if (inside.length === 0) rmdirSync(folder);
        for (const identity of inside)
          if (packageFolder.test(identity) && isFolder(join(folder, identity))) found.push({ id, identity });
          else stray(`${id}/${identity}`);
      }
    }
    return found;
  };
  const has = (id: string, identity: string): boolean =>
    isFolder(join(root, id)) && isFolder(folderOf(id, identity));
  return { folderOf, has, stage, discard, sweep };
};

/** The first thing wrong with a package, in one line. */
export const damage = ({ problems, identity }: Examined): string => {
  const [first] = problems;
  return first === undefined
    ? `observed identity ${identity}`
    : [first.code, first.subject, first.evidence].filter((part) => part !== undefined).join(': ');
};
