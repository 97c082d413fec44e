/**
 * Addresses a server wants a person to open: `elicitation/create` of mode `url`, and since 2025-11-25 the error −32042,
 * which names those that must be opened before the request can be made again. A person is shown the whole address, with
 * its host apart, before what the server says of it. Nothing here opens or looks at one. Pure.
 */
import { domainToUnicode } from 'node:url';
import type { Answered } from '../connections/edge.ts';
import { isRecord, type Json } from '../json.ts';

/** URLElicitationRequiredError; 2026-07-28 has questions inside of answers instead. */
const addressRequired = -32_042;
/** Characters of an address: one that cannot be shown whole is not shown. */
const addressCharacters = 2_000;
/** Addresses of one error. */
const mostAddresses = 10;

export interface Visit {
  readonly host: string;
  /** What a person reads before they decide. */
  readonly text: string;
}

/** Undefined where nobody should be sent there: no http or https, a name or password in it, too long to be looked at. */
export const visitOf = ({ url, message }: Json): Visit | undefined => {
  const found = typeof url === 'string' ? URL.parse(url) : null;
  if (found === null || !/^https?:$/.test(found.protocol)) return undefined;
  if (found.username !== '' || found.password !== '' || found.href.length > addressCharacters)
    return undefined;
  const { host, hostname, href } = found;
  const seen = domainToUnicode(hostname);
  const lines = [
    href,
    ...(seen === hostname || seen === '' ? [] : [`Browsers may show its host as ${seen}.`]),
    `Open it yourself if you trust ${host}, and allow when that is done; the station opens nothing.`,
    ...(typeof message === 'string' && message !== '' ? [message] : []),
  ];
  return { host, text: lines.join('\n') };
};

/** The params of each elicitation that must be done first; undefined where the answer is any other. */
export const visitsBefore = (answered: Answered): readonly Json[] | undefined => {
  if (!('error' in answered) || answered.error.code !== addressRequired) return undefined;
  const { data } = answered.error;
  const listed = isRecord(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > mostAddresses) return undefined;
  return listed.every((one): one is Json => isRecord(one) && one['mode'] === 'url') ? listed : undefined;
};
