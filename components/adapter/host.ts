/**
 * What an agent asks of the station: text files of its workspace and commands in it (ACP 1, "File System" and
 * "Terminals"). Served as far as policy offered it when the agent was opened and offers it still; what was not
 * offered is refused as a method nobody knows. The station holds each to the workspace; what became of it stands in
 * the transcript.
 */
import { bounded } from '../guest/index.ts';
import type { Agent, Host } from './agents.ts';
import { type Ask, refuseRequest, rpc, unknownMethod } from './asked.ts';
import { readFile, writeFile } from './files.ts';
import { isRecord, type RequestFrame } from './frames.ts';
import { createTerminal, endWith, outputOf, waitFor } from './terminals.ts';

const methods: ReadonlyMap<string, { readonly offer: 'read' | 'write' | 'terminals'; readonly ask: Ask }> =
  new Map([
    ['fs/read_text_file', { offer: 'read', ask: readFile }],
    ['fs/write_text_file', { offer: 'write', ask: writeFile }],
    ['terminal/create', { offer: 'terminals', ask: createTerminal }],
    ['terminal/output', { offer: 'terminals', ask: outputOf }],
    ['terminal/wait_for_exit', { offer: 'terminals', ask: waitFor }],
    ['terminal/kill', { offer: 'terminals', ask: endWith(false) }],
    ['terminal/release', { offer: 'terminals', ask: endWith(true) }],
  ]);

/** Answers any request of an agent that is not for a permission. */
export const onHostRequest = (station: Host, agent: Agent, frame: RequestFrame) => {
  const method = bounded(frame.method, 200);
  const known = methods.get(frame.method);
  if (known === undefined || agent.offer?.[known.offer] !== true)
    return unknownMethod(station, agent, frame.id, method);
  const params = isRecord(frame.params) ? frame.params : {};
  if (agent.phase === 'closing')
    return refuseRequest(station, agent, frame.id, rpc.internal, 'The session is being closed');
  if (agent.agentSession === undefined || params.sessionId !== agent.agentSession)
    return refuseRequest(station, agent, frame.id, rpc.invalid, 'The agent has no session of this ID');
  known.ask(station, agent, params, frame.id);
};
