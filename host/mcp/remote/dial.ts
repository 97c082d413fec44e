/**
 * One connection to another server of skills: list, get, read. Every answer has a size, every request and the whole a
 * time, no redirect is followed (a token belongs to the address it was given for), and whatever goes wrong is a
 * problem that names it. Files are verified against their entry by the official client before anybody sees them.
 * The SDK is loaded here, so this file is imported when somebody dials.
 */
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { SkillsClient, SkillVerificationError } from '@modelcontextprotocol/client/ext/skills';
import {
  failed,
  ok,
  type Problem,
  ProblemError,
  problem,
  type Result,
  refuse,
} from '../../problems/index.ts';
import { strictFrontmatter } from '../../skills/index.ts';
import { causesOf, refusalIn, refusalText } from '../connections/http-problem.ts';
import type { RemoteEntry } from './entry.ts';
import {
  answerBytes,
  connectMs,
  frontmatterCharacters,
  listingBytes,
  mostPages,
  pageBytes,
  requestMs,
} from './limits.ts';

export interface Listing {
  readonly entries: readonly RemoteEntry[];
  /** Entries that are no skills, each with its reason. */
  readonly invalid: readonly { readonly uri?: string; readonly reason: string }[];
}
export interface Dialled {
  readonly list: () => Promise<Result<Listing>>;
  /** `undefined`: the server says that it serves no such skill. */
  readonly get: (uri: string) => Promise<Result<RemoteEntry | undefined>>;
  /** The bytes of one listed file, verified (`remote/differs`). */
  readonly read: (entry: RemoteEntry, uri: string) => Promise<Result<Uint8Array>>;
  readonly close: () => Promise<void>;
}
export interface DialOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly version: string;
  /** Ends everything. */
  readonly signal: AbortSignal;
  readonly connectMs?: number;
}

const invalidParams = -32_602;
/** Text of others in a problem, characters. */
const told = 300;

const redirected = (response: Response, from: string): Problem => {
  const target = URL.parse(response.headers.get('location') ?? '', from);
  return problem('remote/redirect', { evidence: `${response.status} to ${target?.origin ?? 'nowhere'}` });
};

/**
 * `fetch` that follows nothing and reads while `spend` lets it, which is told how much of this answer came before; `note`
 * hears why it ended a request.
 */
const boundedFetch =
  (spend: (bytes: number, before: number) => boolean, note: (found: Problem) => void) =>
  async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const stop = (found: Problem): never => {
      note(found);
      throw new ProblemError(found);
    };
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return stop(redirected(response, String(input)));
    }
    if (response.status === 401 || response.status === 403) {
      await response.body?.cancel();
      return stop(problem('remote/not-admitted', { evidence: `status ${response.status}` }));
    }
    if (response.body === null) return response;
    let read = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (part, controller) => {
          if (spend(part.byteLength, read)) {
            read += part.byteLength;
            controller.enqueue(part);
          } else {
            note(problem('remote/too-much'));
            controller.error(new Error('too much'));
          }
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };

const causeCode = (error: unknown): string | undefined => {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(at.code)) return at.code;
  }
  return undefined;
};
const network = /^(?:E[A-Z]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+|[A-Z_]*CERT[A-Z_]*|ERR_(?:TLS|SSL)_[A-Z_]+)$/;

/** What an error of the SDK means. */
const problemOf = (error: unknown, signal: AbortSignal): Problem => {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof SkillVerificationError) {
    return problem('remote/differs', { subject: error.uri, evidence: error.message.slice(0, told) });
  }
  const isLate = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
  if (signal.aborted || isLate) return problem('remote/no-answer');
  const code = causeCode(error);
  if (code !== undefined && network.test(code)) return problem('remote/unreachable', { evidence: code });
  if (error instanceof TypeError && error.message === 'fetch failed') return problem('remote/unreachable');
  const refusal = refusalIn(causesOf(error));
  if (refusal !== undefined)
    return problem('remote/answer', { evidence: refusalText(refusal).slice(0, told) });
  const message = error instanceof Error ? error.message : String(error);
  const evidence = error instanceof ProtocolError ? `${error.code}: ${message}` : message;
  return problem('remote/answer', { evidence: evidence.slice(0, told) });
};

const tooLong = `its frontmatter is longer than ${frontmatterCharacters} characters`;
/** Whether an entry says more of itself than a skill can. */
const isTooLong = ({ frontmatter }: RemoteEntry): boolean =>
  JSON.stringify(frontmatter).length > frontmatterCharacters;

const strictly = (yaml: string): Record<string, unknown> => {
  const read = strictFrontmatter(yaml, 'SKILL.md');
  if (!read.ok) throw new Error(read.problem.evidence ?? read.problem.message);
  return { ...read.value };
};

/** `remote/…`: why the server cannot be spoken with, or publishes no skills. */
export const dial = async (options: DialOptions): Promise<Result<Dialled>> => {
  const { url, token, version, signal } = options;
  let noted: Problem | undefined;
  // Bytes that may still be read for what is asked at the moment; all pages of a listing share them.
  let left = answerBytes;
  let most = pageBytes;
  const client = new Client(
    { name: 'jupiter-station', version },
    {
      versionNegotiation: { mode: 'auto' },
      listMaxPages: mostPages,
      // Nothing it is asked for on the way is answered: it only reads.
      inputRequired: { autoFulfill: false },
    },
  );
  /** `bytes`: of one answer, and of all together. */
  const guarded = async <T>(
    work: () => Promise<T>,
    bytes: { readonly answer?: number; readonly all?: number } = {},
  ): Promise<Result<T>> => {
    noted = undefined;
    most = bytes.answer ?? pageBytes;
    left = bytes.all ?? most;
    try {
      return ok(await work());
    } catch (error) {
      return failed(noted ?? problemOf(error, signal));
    }
  };
  const each = { timeout: requestMs, maxTotalTimeout: requestMs, signal };
  const opened = await guarded(() => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers, redirect: 'manual' },
      fetch: boundedFetch(
        (bytes, before) => {
          left -= bytes;
          return left >= 0 && before + bytes <= most;
        },
        (found) => {
          noted = found;
        },
      ),
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
      },
    });
    const timeout = options.connectMs ?? connectMs;
    return client.connect(transport, { timeout, maxTotalTimeout: timeout, signal });
  });
  const close = async (): Promise<void> => {
    await client.close().catch(() => {});
  };
  const about = <T>(result: Result<T>): Result<T> =>
    result.ok ? result : failed({ ...result.problem, subject: result.problem.subject ?? url });
  if (!opened.ok) {
    await close();
    return about(opened);
  }
  const skills = new SkillsClient(client, { skipInvalid: true, parseFrontmatter: strictly });
  if (!skills.supported) {
    await close();
    return refuse('remote/no-skills', { subject: url });
  }
  return ok({
    list: async () => {
      const found = await guarded(() => skills.list({}, each), { all: listingBytes });
      if (!found.ok) return about(found);
      const { skills: listed, invalid } = found.value;
      const long = listed.filter(isTooLong).map(({ uri }) => ({ uri, reason: tooLong }));
      return ok({ entries: listed.filter((one) => !isTooLong(one)), invalid: [...long, ...invalid] });
    },
    get: async (uri) => {
      const found = await guarded(async () => {
        try {
          return (await skills.get(uri, each)).skill;
        } catch (error) {
          if (error instanceof ProtocolError && error.code === invalidParams) return undefined;
          throw error;
        }
      });
      if (found.ok && found.value !== undefined && isTooLong(found.value))
        return refuse('remote/entry', { subject: uri, evidence: tooLong });
      return about(found);
    },
    read: async (entry, uri) => {
      const found = await guarded(
        async () => (await skills.read(entry, uri, { ...each, cacheMode: 'bypass' })).bytes,
        { answer: answerBytes },
      );
      return about(found);
    },
    close,
  });
};
