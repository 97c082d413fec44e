/**
 * Creating a session. What fails on the way is written down and the session goes on; whether something required is
 * missing is decided when the agent has opened.
 */
import { type FirstParty, fail, type Message } from '../guest/index.ts';
import { noteProvisioning, openAgent, type Provisioned, provisionFor, provisioningOf } from './provision.ts';
import { announce, enter, type Host, newId, note, type Session, save } from './records.ts';
import { problemText } from './text.ts';

type CreateRequest = FirstParty['bearpunch.sessions.create']['request'];

/** How long a permission request waits where the caller does not say, ms. */
const answerWithinMs = 30 * 60_000;

const nothing: Provisioned = {
  provision: { policyRevision: '', approve: 'manual', sink: null, offered: [], withheld: [] },
  skills: [],
};

const begun = (
  { payload, at }: Message<CreateRequest>,
  id: string,
  provisioned: Provisioned,
  mcpConfig: string | undefined,
): Session => {
  const { provision } = provisioned;
  return {
    record: {
      id,
      agent: payload.agent,
      program: provision.program ?? '',
      ...(payload.title === undefined ? {} : { title: payload.title }),
      cwd: payload.cwd,
      state: 'opening',
      createdAt: at,
      approve: payload.approve ?? provision.approve,
      provider: provision.provider ?? '',
      attached: false,
      resumable: false,
      answerWithinMs: payload.answerWithinMs ?? answerWithinMs,
      provisioning: provisioningOf(provisioned),
      usage: null,
      pending: [],
    },
    requireServers: payload.requireServers ?? [],
    requireSkills: payload.requireSkills ?? [],
    turns: 0,
    ...(mcpConfig === undefined ? {} : { mcpConfig }),
  };
};

export const create = (
  message: Message<CreateRequest>,
  station: Host,
  mcpConfig?: string,
): FirstParty['bearpunch.sessions.create']['reply'] => {
  const { payload, at } = message;
  const id = newId(station, at);
  const { agent, cwd } = payload;
  const found = provisionFor(station, { id, agent, cwd, mcpConfig });
  const provisioned = found.ok ? found.value : nothing;
  const { program, provider } = provisioned.provision;
  if (found.ok && (program === undefined || provider === undefined))
    return fail('session/agent-unknown', `Policy knows no agent "${payload.agent}".`, {
      subject: payload.agent,
      fix: 'Add it under `agents` in policy.jsonc; `jupiter policy show` lists the ones it has.',
    });
  const session = begun(message, id, provisioned, mcpConfig);
  const { record } = session;
  enter(station, session);

  if (!found.ok) {
    // Without policy's answer there is no program that may be started for this agent.
    record.state = 'ended';
    record.reason = problemText(found.problem);
    note(station, id, at, `servers: policy could not be asked: ${record.reason}`);
    save(station, session);
  } else {
    noteProvisioning(station, record, at, provisioned.why);
    openAgent(station, session, provisioned.provision);
  }
  announce(station, session);
  return { id, state: record.state };
};
