/** Where a bundle comes from: a folder, or an archive that is unpacked into one for as long as it is looked at. */
import { rmSync, statSync } from 'node:fs';
import { failed, ok, type Result } from '../problems/index.ts';
import { unpackArchive } from './archive.ts';
import { rootOf } from './examine.ts';
import { folderSink, writeFault } from './write.ts';

export interface Source {
  readonly folder: string;
  readonly close: () => void;
}

const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile();
  } catch {
    // What is not there or cannot be reached is named by the look for a folder.
    return false;
  }
};

/** `place` is a folder that does not exist yet and is removed by `close`, or at once where the archive is refused. */
export const openSource = async (
  source: string,
  place: string,
  onFile: () => void = () => {},
): Promise<Result<Source>> => {
  if (!isFile(source)) {
    const folder = rootOf(source);
    return folder.ok ? ok({ folder: folder.value, close: () => {} }) : folder;
  }
  const close = (): void => rmSync(place, { recursive: true, force: true });
  try {
    const sink = folderSink(place, onFile);
    const [fault] = await unpackArchive(source, sink);
    sink.check();
    if (fault === undefined) return ok({ folder: place, close });
    close();
    return failed(fault);
  } catch (error) {
    close();
    return failed(writeFault(error));
  }
};
