/** The bounds of one bundle. Each is checked where it applies, and reaching it is `bundle/limit-exceeded`. */
import { type Problem, problem } from '../problems/index.ts';

export const bundleBounds = {
  /** Bytes of `bundle.json`. */
  manifestBytes: 1024 * 1024,
  /** Bytes of one content file. */
  fileBytes: 32 * 1024 * 1024,
  /** Bytes of all content files together. */
  totalBytes: 64 * 1024 * 1024,
  /** Bytes of `bundle.sig.json`. */
  signatureBytes: 16 * 1024,
  /** Bytes of an archive. */
  archiveBytes: 72 * 1024 * 1024,
  /** Bytes an archive inflates to: all content, and a header, its padding and a long name for each entry. */
  inflatedBytes: 96 * 1024 * 1024,
  files: 4_096,
  folders: 4_096,
  /** Segments of a content path. */
  depth: 16,
  /** JSON nesting of `bundle.json`. */
  nesting: 64,
  components: 64,
  topics: 512,
  tools: 256,
  /** Entries of one list of topic IDs. */
  topicList: 512,
  /** Bytes of one topic's shape as JSON. */
  shapeBytes: 64 * 1024,
  /** Nesting of subschemas. */
  shapeDepth: 24,
  /** Subschemas of a shape with every reference followed: what checking one place of a message may cost. */
  shapeCost: 10_000,
  /** Problems kept of one look at a bundle. */
  problems: 100,
} as const;

type Bound =
  | 'manifestBytes'
  | 'fileBytes'
  | 'totalBytes'
  | 'signatureBytes'
  | 'archiveBytes'
  | 'inflatedBytes'
  | 'files'
  | 'folders'
  | 'depth';

const words: Readonly<Record<Bound, string>> = {
  manifestBytes: 'bytes of bundle.json',
  fileBytes: 'bytes in one file',
  totalBytes: 'bytes of content in all',
  signatureBytes: 'bytes of bundle.sig.json',
  archiveBytes: 'bytes of archive',
  inflatedBytes: 'bytes of archive, inflated',
  files: 'files',
  folders: 'folders',
  depth: 'path segments',
};

/** `found` counts what was seen before the look ended: at least so many. */
export const overLimit = (bound: Bound, found: number, subject?: string): Problem =>
  problem('bundle/limit-exceeded', {
    ...(subject === undefined ? {} : { subject }),
    message: `The bundle has ${found} ${words[bound]}; the limit is ${bundleBounds[bound]}.`,
    evidence: `found ${found}, limit ${bundleBounds[bound]} (${words[bound]})`,
  });
