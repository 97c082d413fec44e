/** `fs/read_text_file` and `fs/write_text_file`: text files of the workspace, which the station holds them to. */
import { type Ask, refuseRequest, rpc, sentence, settle, tell, u32, who } from './asked.ts';
import { textOf } from './blocks.ts';

const pathUnits = 4_096;

const counted = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`;
const linesIn = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);

export const readFile: Ask = (station, agent, params, id) => {
  const path = textOf(params.path);
  const [line, limit] = [u32(params.line), u32(params.limit)];
  if (path === undefined || path.length > pathUnits || line === undefined || limit === undefined)
    return refuseRequest(
      station,
      agent,
      id,
      rpc.invalid,
      'Expected path, and whole numbers for line and limit',
    );
  const read = station.workspace.readTextFile(who(agent), path, { line: line.value, limit: limit.value });
  const done = settle(station, agent, id, 'fs/read_text_file', read, (content) => ({ content }));
  const part = line.value === undefined ? '' : ` from line ${line.value}`;
  const what = `the agent read ${path}${part}`;
  const data = { method: 'fs/read_text_file', path };
  if (done) tell(station, agent, `${what}: ${counted(linesIn(read.value))}`, data);
  else if (!read.ok)
    tell(station, agent, `${what}: refused: ${sentence(read.problem)}`, {
      ...data,
      refused: read.problem.code,
    });
};

export const writeFile: Ask = (station, agent, params, id) => {
  const [path, content] = [textOf(params.path), textOf(params.content)];
  if (path === undefined || path.length > pathUnits || content === undefined)
    return refuseRequest(station, agent, id, rpc.invalid, 'Expected path and content');
  const written = station.workspace.writeTextFile(who(agent), path, content);
  const done = settle(station, agent, id, 'fs/write_text_file', written, () => ({}));
  const data = { method: 'fs/write_text_file', path };
  if (done) tell(station, agent, `the agent wrote ${path}: ${counted(linesIn(content))}`, data);
  else if (!written.ok)
    tell(station, agent, `the agent wrote ${path}: refused: ${sentence(written.problem)}`, {
      ...data,
      refused: written.problem.code,
    });
};
