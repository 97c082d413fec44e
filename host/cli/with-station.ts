/** Asks the station of this home one thing; nothing falls back to doing the work here. */
import { failed, ok, type Result } from '../problems/index.ts';
import type { Method, MethodEvent, MethodResult, Params } from '../station/index.ts';
import type { Answer, Io } from './output.ts';

export const ask = async <M extends Method>(
  io: Pick<Io, 'home'>,
  method: M,
  params: Params<M>,
  onEvent?: (event: MethodEvent<M>) => void,
): Promise<Result<MethodResult<M>>> => {
  // Loaded when a station is asked: half of the commands that need none would spend a tenth of their time on it.
  const { connectStation } = await import('./client.ts');
  const station = await connectStation(io.home);
  if (!station.ok) return station;
  const answer = await station.value.call(method, params, onEvent);
  station.value.close();
  return answer;
};

/** As `ask`, with the plain form of the answer; the answer itself is the document. */
export const answer = async <M extends Method>(
  io: Io,
  method: M,
  params: Params<M>,
  plain: (result: MethodResult<M>) => string,
): Promise<Result<Answer>> => {
  const found = await ask(io, method, params);
  return found.ok ? ok({ json: found.value, plain: plain(found.value) }) : failed(found.problem);
};
