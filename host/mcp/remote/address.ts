/** Which addresses a server of skills may have. Pure. */
import { ok, type Result, refuse } from '../../problems/index.ts';
import { urlCharacters } from './limits.ts';

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The URL in its one spelling (`remote/url`). `named`: policy names it itself. */
export const serverUrl = (text: string, named: boolean): Result<string> => {
  const no = (evidence: string): Result<never> => refuse('remote/url', { evidence });
  if (text.length > urlCharacters) return no(`more than ${urlCharacters} characters`);
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return no('no http or https URL');
  if (url.username !== '' || url.password !== '' || text.includes('#'))
    return no('it has a user or a fragment');
  // Digests come with the content: without TLS whoever stands on the way can rewrite both.
  if (url.protocol === 'http:' && !loopback.test(url.hostname) && !named) return no(`http to ${url.host}`);
  return ok(url.href);
};
