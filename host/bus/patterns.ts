/**
 * Patterns of shapes, which strangers wrote, against texts that strangers sent: a pattern can be such that one text of
 * thirty letters takes for ever. What cannot be one of those is matched as it is. Everything else is matched under a
 * watchdog of the runtime, which costs a fifth of a millisecond; what takes too long does not match.
 */
import { createContext, Script } from 'node:vm';

/** Longest time one text may take, ms. */
const patternMs = 50;

/** Escapes and classes say nothing about how often something repeats. */
const skeletonOf = (pattern: string): string =>
  pattern.replace(/\\(?:[pPu]\{[^}]*\}|k<[^>]*>|.)/gu, 'x').replace(/\[[^\]]*\]/gu, 'x');

/** From the beginning of the text, nothing that repeats inside of something that repeats, at most one part without end. */
export const isPlainPattern = (pattern: string): boolean => {
  const skeleton = skeletonOf(pattern);
  const endless = skeleton.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  return skeleton.startsWith('^') && !/\)[*+?{]/.test(skeleton) && !skeleton.includes('|') && endless <= 1;
};

/** The same check, ended when it takes too long; then nothing matches. */
const watched = (check: (text: string) => boolean): ((text: string) => boolean) => {
  const script = new Script('check(text)');
  const context = createContext({ check, text: '' });
  return (text) => {
    context['text'] = text;
    try {
      return script.runInContext(context, { timeout: patternMs }) === true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
      throw error;
    }
  };
};

/** Whether a text matches; patterns are ECMA-262 with the `u` flag. */
export const matcherOf = (pattern: string): ((text: string) => boolean) => {
  const expression = new RegExp(pattern, 'u');
  const check = (text: string): boolean => expression.test(text);
  return isPlainPattern(pattern) ? check : watched(check);
};

/** Formats whose expressions were looked at: each takes a time that grows with the text and no faster. */
const quickFormats: ReadonlySet<string> = new Set([
  'date',
  'date-time',
  'duration',
  'email',
  'ipv4',
  'ipv6',
  'time',
  'uuid',
]);

/** A named format's check, which is an expression of a library: that of `url` takes for ever at thirty letters. */
export const formatCheck = (name: string, check: (text: string) => boolean): ((text: string) => boolean) =>
  quickFormats.has(name) ? check : watched(check);
