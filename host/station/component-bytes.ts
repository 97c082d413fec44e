/** The bytes a component is started from: read now and compared with the manifest that was admitted. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComponentEntry, InstalledBundle } from '../bundles/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';

/** `bundle/digest-mismatch`, `bundle/unreadable`: then nothing of the component may run. */
export const componentBytes = async (
  bundle: InstalledBundle,
  { entry }: ComponentEntry,
): Promise<Result<Uint8Array>> => {
  const expected = bundle.manifest.content.find(({ path }) => path === entry)?.sha256;
  try {
    const bytes = await readFile(join(bundle.folder, entry));
    const observed = createHash('sha256').update(bytes).digest('hex');
    if (observed === expected) return ok(bytes);
    const evidence = `expected sha256 ${expected}, observed sha256 ${observed}`;
    return refuse('bundle/digest-mismatch', { subject: `${bundle.manifest.id}: ${entry}`, evidence });
  } catch (error) {
    const evidence = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return refuse('bundle/unreadable', { subject: `${bundle.manifest.id}: ${entry}`, evidence });
  }
};
