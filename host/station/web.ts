/**
 * What the station serves over HTTP: whether it listens, whose tokens are let in, what is published. The server itself
 * is given to the station by whoever opens it, and loaded only where something listens.
 */
import type { Channel } from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { type Problem, problem, type Result } from '../problems/index.ts';
import type { SkillSource } from '../skills/index.ts';
import { version } from './version.ts';

export interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}
/** `channel/port` where the port cannot be had. */
export type OpenWeb = (options: {
  readonly port: number;
  readonly tokens: () => readonly string[] | 'none' | undefined;
  readonly channel: Channel;
  readonly onBug: (error: unknown) => void;
}) => Promise<Result<Listening>>;

export interface WebStatus {
  readonly port?: number;
  readonly problem?: Problem;
}
export interface StationWeb {
  readonly status: () => WebStatus | undefined;
  readonly close: () => Promise<void>;
}

export interface StationWebOptions {
  readonly openWeb: OpenWeb | undefined;
  /** Of `jupiter up --port`; it comes before the policy's. */
  readonly port: number | undefined;
  readonly policy: () => Policy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly bundleSkills: () => readonly SkillSource[];
  readonly report: (kind: 'withhold' | 'fail', subject: string, why: Problem) => void;
  readonly onBug: (error: unknown) => void;
}

/** NAMES of variables that hold tokens. */
export const channelTokens = ({ channel }: Policy): readonly string[] =>
  channel?.mcp === undefined || channel.mcp.tokens === 'none' ? [] : channel.mcp.tokens;

export const openStationWeb = async (options: StationWebOptions): Promise<StationWeb> => {
  const { openWeb, policy, env, report } = options;
  const port = options.port ?? policy().channel?.port;
  if (openWeb === undefined || port === undefined) return { status: () => undefined, close: async () => {} };

  const unset = new Set<string>();
  const tokens = (): readonly string[] | 'none' | undefined => {
    const { channel } = policy();
    if (channel?.mcp === undefined || channel.mcp.tokens === 'none') return channel?.mcp?.tokens;
    return channel.mcp.tokens.flatMap((name) => {
      const value = env[name] ?? '';
      if (value !== '') return [value];
      if (!unset.has(name)) report('withhold', name, problem('channel/no-token', { subject: name }));
      unset.add(name);
      return [];
    });
  };
  const { openChannel } = await import('../mcp/index.ts');
  const channel = openChannel({
    server: { name: 'jupiter-station', version },
    sources: () => {
      const published = policy().channel?.mcp;
      return {
        bundles: published?.bundles === true ? options.bundleSkills() : [],
        folders: published?.folders ?? [],
        frontmatter: published?.frontmatter ?? 'complete',
      };
    },
    report: ({ where, problem: why }) => report('withhold', where, why),
  });
  const opened = await openWeb({ port, tokens, channel, onBug: options.onBug });
  if (!opened.ok) {
    report('fail', `127.0.0.1:${port}`, opened.problem);
    return { status: () => ({ problem: opened.problem }), close: channel.close };
  }
  // Said when the station starts, not when the first client is refused.
  tokens();
  return {
    status: () => ({ port: opened.value.port }),
    close: async () => {
      await channel.close();
      await opened.value.close();
    },
  };
};
