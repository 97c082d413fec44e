/** Tar archives built entry by entry, honest and hostile, for the tests of reading them. */
import { gzipSync } from 'node:zlib';
import { Header, Pax } from 'tar';

export interface Entry {
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly type?: ConstructorParameters<typeof Header>[0] extends infer D
    ? D extends { type?: infer T }
      ? T
      : never
    : never;
  readonly linkpath?: string;
  readonly mode?: number;
  /** The size the header declares, where that is not the body's. */
  readonly size?: number;
}

const blocks = (bytes: Uint8Array): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);

export const entryBytes = ({
  path,
  body = '',
  type = 'File',
  linkpath,
  mode = 0o644,
  size,
}: Entry): Buffer => {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(512);
  const long = new Header({
    path,
    type,
    mode,
    size: size ?? bytes.length,
    ...(linkpath === undefined ? {} : { linkpath }),
  }).encode(header);
  return Buffer.concat([...(long ? [new Pax({ path }).encode()] : []), header, blocks(bytes)]);
};

export const end = Buffer.alloc(1024);
export const tarOf = (entries: readonly Entry[]): Buffer => Buffer.concat([...entries.map(entryBytes), end]);
export const tgzOf = (entries: readonly Entry[]): Buffer => gzipSync(tarOf(entries));
