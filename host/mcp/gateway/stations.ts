/**
 * Requests between two stations, which must not go round. What comes from a station that it would go on to is refused;
 * what goes on says who stands between. Servers that are no gateway of a station are sent what came, without a mark.
 */
import { problem } from '../../problems/index.ts';
import type { Connection, Json } from '../connections/edge.ts';
import { leadsBack, markThrough, stationsOf } from '../own.ts';
import { metaKey, metaOf } from './protocol.ts';
import { toldAsError } from './refusals.ts';
import { connectionOf, type Place } from './visits.ts';

/** Of a request as it arrived; undefined where it may go on. */
export const wentRound = ({ server }: Place, params: Json) => {
  const came = stationsOf(params);
  if (came.length === 0) return undefined;
  const behind = connectionOf(server)?.about()?.stations ?? [];
  if (!leadsBack(came) && !behind.some((run) => came.includes(run))) return undefined;
  return toldAsError(
    problem('connections/own-address', {
      subject: server.original,
      evidence: 'the request came by a station that it would go on to',
    }),
  );
};

/** Params as they leave; `came`: the stations by which they arrived. */
export const marked = (connection: Connection, params: Json, came: readonly string[] = []): Json =>
  connection.about()?.stations === undefined
    ? params
    : { ...params, _meta: { ...metaOf(params), [metaKey.gateway]: markThrough(came) } };
