/** Values of the protocol as they pass through: objects whose members nobody has checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Text as it is, nothing else turned into text: what a stranger wrote may be a list without end, or say how it is turned. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
