/**
 * Retrieved files of approved skills, below the home and outside every folder skills are looked for in:
 * `label/<URI>/<manifest>/`, so that skills of one URI from different servers, and different contents of one skill, never
 * meet. A file stored here is trusted no more than one on the network: whoever takes it compares its bytes with the
 * manifest again. Documents are kept as they were served and written anew for placing.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ok, type Result, refuse } from '../../problems/index.ts';
import type { SkillFile, SkillSource } from '../../skills/index.ts';
import { innerDocument, type Origin, placedDocument } from './document.ts';
import { isDocument, type RemoteFile } from './entry.ts';
import { sourceId } from './names.ts';

/** One content of one skill. */
export interface Kept {
  readonly origin: Origin;
  readonly path: string;
  readonly uri: string;
  /** The approved manifest's digest, hex. */
  readonly digest: string;
  readonly files: readonly RemoteFile[];
  /** Of the entry as it stands: what the operator saw. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
}
export interface Cache {
  /** Files that are not there as the manifest says. */
  readonly missing: (kept: Kept) => readonly RemoteFile[];
  /** `bytes` are verified (`remote/not-retrieved` where they cannot be written). */
  readonly store: (kept: Kept, file: RemoteFile, bytes: Uint8Array) => Result<undefined>;
  /** What is placed: files as served, documents written anew (`remote/not-retrieved`, `skill/…`). */
  readonly source: (kept: Kept) => Result<SkillSource>;
  /** Takes away everything of a server, or of one of its skills. */
  readonly drop: (label: string, uri?: string) => void;
}

const short = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);

const bytesOf = (path: string, { sha256, size }: Pick<SkillFile, 'sha256' | 'size'>): Buffer | undefined => {
  try {
    // A file of another length is not read.
    if (statSync(path).size !== size) return undefined;
    const bytes = readFileSync(path);
    return hash('sha256', bytes, 'hex') === sha256 ? bytes : undefined;
  } catch {
    return undefined;
  }
};

/** Files whose bytes are known to be the listed ones while nothing about them differs. */
const remembered = 100_000;

export const openCache = (folder: string): Cache => {
  let writes = 0;
  /** Never in place: whoever reads sees the old bytes or the new ones. */
  const write = (path: string, bytes: Uint8Array): Result<undefined> => {
    writes += 1;
    const aside = join(folder, `.part-${process.pid}-${writes}`);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(aside, bytes, { mode: 0o600 });
      renameSync(aside, path);
      return ok(undefined);
    } catch (error) {
      const evidence = (error as NodeJS.ErrnoException).code ?? 'unknown';
      try {
        rmSync(aside, { force: true });
      } catch {
        // It could not be written at all.
      }
      return refuse('remote/not-retrieved', { subject: path, evidence });
    }
  };
  const seen = new Map<string, string>();
  /** A file that changed in whatever way is read again; placing compares the bytes once more while it copies. */
  const stands = (path: string, file: RemoteFile): boolean => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return false;
    const stamp = [file.sha256, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
    if (seen.get(path) === stamp) return true;
    if (bytesOf(path, file) === undefined) return false;
    if (seen.size >= remembered) seen.clear();
    seen.set(path, stamp);
    return true;
  };
  const skillAt = (label: string, uri: string): string => join(folder, label, short(uri));
  const at = ({ origin, uri, digest }: Kept): string => join(skillAt(origin.label, uri), digest.slice(0, 32));
  const servedAt = (kept: Kept, file: RemoteFile): string =>
    isDocument(file.path) ? join(at(kept), 'documents', file.sha256) : join(at(kept), 'skill', file.path);

  const placed = (kept: Kept, file: RemoteFile, raw: Buffer): Result<Buffer> =>
    file.path === 'SKILL.md' ? placedDocument(raw, kept.origin, kept.frontmatter) : innerDocument(raw);

  return {
    missing: (kept) => kept.files.filter((file) => !stands(servedAt(kept, file), file)),
    store: (kept, file, bytes) => write(servedAt(kept, file), bytes),
    source: (kept) => {
      const files: SkillFile[] = [];
      const tree = join(at(kept), 'skill');
      for (const file of kept.files) {
        const { path, sha256, size } = file;
        const served = servedAt(kept, file);
        const raw = isDocument(path) ? bytesOf(served, file) : undefined;
        if (isDocument(path) ? raw === undefined : !stands(served, file)) {
          return refuse('remote/not-retrieved', { subject: path });
        }
        if (raw === undefined) {
          files.push({ path, sha256, size });
          continue;
        }
        const bytes = placed(kept, file, raw);
        if (!bytes.ok) return bytes;
        const made = { path, sha256: hash('sha256', bytes.value, 'hex'), size: bytes.value.length };
        if (bytesOf(join(tree, path), made) === undefined) {
          const written = write(join(tree, path), bytes.value);
          if (!written.ok) return written;
        }
        files.push(made);
      }
      return ok({
        bundle: sourceId(kept.origin.label, kept.path),
        revision: kept.digest,
        name: kept.origin.name,
        folder: tree,
        files,
      });
    },
    drop: (label, uri) =>
      rmSync(uri === undefined ? join(folder, label) : skillAt(label, uri), { recursive: true, force: true }),
  };
};
