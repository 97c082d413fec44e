/**
 * An entry of another server becomes files with paths of this machine, or is refused with its reason, before a single
 * byte of it is retrieved. Pure. What the operator approves is the digest made here: every URI, digest and size.
 */
import { hash } from 'node:crypto';
import type { Skill } from '@modelcontextprotocol/client/ext/skills';
import { collision, relativeSegments, shownPath } from '../../paths/index.ts';
import { ok, type Result, refuse } from '../../problems/index.ts';
import { skillLimits } from '../../skills/index.ts';

/** As SEP-2640 defines it; the client has checked its form. */
export type RemoteEntry = Skill;

export interface RemoteFile {
  /** Relative to the skill's folder. */
  readonly path: string;
  readonly uri: string;
  /** Hex. */
  readonly sha256: string;
  readonly size: number;
}

const documentName = 'SKILL.md';
const digestMark = 'sha256:';

/** SHA-256 over every `uri NUL digest NUL size LF` of the manifest, in the order of the URIs; hex. */
export const manifestDigest = ({ resources }: RemoteEntry): string =>
  resources === 'dynamic'
    ? ''
    : hash(
        'sha256',
        resources
          .map(({ uri, digest, size }) => `${uri}\0${digest}\0${size}\n`)
          .sort()
          .join(''),
        'hex',
      );

const canonical = (uri: string): string => new URL(uri).href;

const pathIn = (root: string, uri: string): string | undefined => {
  const whole = canonical(uri);
  if (!whole.startsWith(`${root}/`)) return undefined;
  // Dot segments, also encoded ones, go away in the canonical form: such a URI leads out of some folder.
  if (whole.split('/').length !== uri.split('/').length) return undefined;
  try {
    return whole
      .slice(root.length + 1)
      .split('/')
      .map((segment) => {
        const name = decodeURIComponent(segment);
        // What decodes to a slash would be one name to the server and two here.
        return name.includes('/') ? '' : name;
      })
      .join('/');
  } catch {
    return undefined;
  }
};

/** `remote/dynamic`, or a `skill/…` that names the limit or the path. */
export const filesOf = (entry: RemoteEntry): Result<readonly RemoteFile[]> => {
  const { resources, uri: subject } = entry;
  if (resources === 'dynamic') return refuse('remote/dynamic', { subject });
  if (resources.length > skillLimits.files) {
    const evidence = `${resources.length} files; at most ${skillLimits.files}`;
    return refuse('skill/too-many-files', { subject, evidence });
  }
  const total = resources.reduce((sum, { size }) => sum + size, 0);
  if (!(total <= skillLimits.totalBytes)) {
    return refuse('skill/too-large', {
      subject,
      evidence: `${total} bytes; at most ${skillLimits.totalBytes}`,
    });
  }
  const root = canonical(subject).slice(0, -`/${documentName}`.length);
  const files: RemoteFile[] = [];
  for (const { uri, digest, size } of resources) {
    const path = pathIn(root, uri);
    const safe = path === undefined ? undefined : relativeSegments(path);
    if (path === undefined || safe?.ok !== true) {
      const found = safe?.ok === false ? safe.problem.message : 'It is not the path of a file in the skill.';
      return refuse('skill/path-unsafe', { subject: shownPath(uri), evidence: found });
    }
    if (safe.value.length > skillLimits.depth) {
      return refuse('skill/too-deep', {
        subject: shownPath(uri),
        evidence: `more than ${skillLimits.depth}`,
      });
    }
    files.push({ path, uri, sha256: digest.slice(digestMark.length), size });
  }
  const twins = collision(files.map(({ path }) => path));
  if (twins !== undefined) {
    return refuse('skill/path-unsafe', {
      subject,
      message: 'Two paths of the skill are one on some system.',
      evidence: `${shownPath(twins[0])} and ${shownPath(twins[1])}`,
    });
  }
  const document = files.find(({ path }) => path === documentName);
  if (document === undefined) return refuse('skill/no-document', { subject });
  if (document.size > skillLimits.documentBytes) {
    const evidence = `${document.size} bytes; at most ${skillLimits.documentBytes}`;
    return refuse('skill/document-too-large', { subject, evidence });
  }
  // The document first: what it says decides whether anything else is read.
  return ok([document, ...files.filter((file) => file !== document)]);
};

/** Whether a file is a SKILL.md to some agent on some system: the skill's own, or that of a skill inside it. */
export const isDocument = (path: string): boolean => /(?:^|\/)skill\.md$/i.test(path);
