/**
 * What the components of a bundle may use, each limit with its default and the range policy may choose from. This is
 * the one table: the schema, the reference page and the rooms that enforce them read it. Reaching a limit is a
 * problem with a code.
 */
const KiB = 1024;
const MiB = 1024 * KiB;

export interface LimitEntry {
  readonly usual: number;
  readonly least: number;
  readonly most: number;
  readonly means: string;
}

export const limitTable = {
  callDeadlineMs: {
    usual: 5_000,
    least: 20,
    most: 600_000,
    means: 'Wall clock for one batch of messages, host calls included, ms.',
  },
  startDeadlineMs: {
    usual: 10_000,
    least: 100,
    most: 120_000,
    means: "Wall clock from the worker's start to a guest ready for messages, ms.",
  },
  memoryBytes: {
    usual: 64 * MiB,
    least: MiB,
    most: 512 * MiB,
    means: 'All linear memories of one component together, bytes; rounded down to 64 KiB.',
  },
  tableElements: { usual: 20_000, least: 16, most: 1_000_000, means: 'Elements of each table.' },
  batch: { usual: 32, least: 1, most: 256, means: 'Messages in one batch.' },
  effects: { usual: 2_000, least: 1, most: 20_000, means: 'Effects of one message.' },
  effectUnits: {
    usual: 4 * MiB,
    least: KiB,
    most: 32 * MiB,
    means: 'Text of all effects and the outcome of one message, UTF-16 units.',
  },
  inbox: {
    usual: 4_096,
    least: 8,
    most: 65_536,
    means: 'Messages that may wait for a component before more are refused.',
  },
  logLinesPerMinute: {
    usual: 6_000,
    least: 1,
    most: 600_000,
    means: 'Lines a component may write to the log in a minute.',
  },
  storeBytes: {
    usual: 1_024 * MiB,
    least: KiB,
    most: 64 * 1_024 * MiB,
    means: 'Keys and values a component may keep in its store, bytes of UTF-8.',
  },
  restartsPerHour: {
    usual: 120,
    least: 1,
    most: 10_000,
    means: 'Times a component may be started again in an hour before it is parked.',
  },
} as const satisfies Readonly<Record<string, LimitEntry>>;

export type LimitName = keyof typeof limitTable;
/** A whole set: what one component may use. */
export type Limits = Readonly<Record<LimitName, number>>;

export const limitNames = Object.keys(limitTable) as readonly LimitName[];

/** What a bundle gets that policy says nothing about. */
export const usualLimits: Limits = Object.fromEntries(
  limitNames.map((name) => [name, limitTable[name].usual]),
) as Limits;
