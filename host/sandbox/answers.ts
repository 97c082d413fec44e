/** Answers to blocking calls, as the text that is posted to a worker. */
import { problem } from '../problems/index.ts';
import type { SyncAnswer } from './protocol.ts';

/** Longest answer, UTF-16 units of its JSON text: a scan of 1000 entries of 16 KiB. */
export const answerUnits = 16 * 1024 * 1024;

export const answerText = (answer: SyncAnswer): string => {
  try {
    const text = JSON.stringify(answer);
    if (text.length <= answerUnits) return text;
    return JSON.stringify({
      ok: false,
      problem: problem('sandbox/answer-too-large', {
        evidence: `${text.length} of ${answerUnits} UTF-16 units`,
      }),
    });
  } catch (error) {
    return JSON.stringify({
      ok: false,
      problem: problem('sandbox/call-failed', { evidence: String(error) }),
    });
  }
};
