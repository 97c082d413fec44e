import { agent } from './codes/agent.ts';
import { bundle } from './codes/bundle.ts';
import { bus } from './codes/bus.ts';
import { channel } from './codes/channel.ts';
import { cli } from './codes/cli.ts';
import type { KnownProblem } from './codes/codes.ts';
import { component } from './codes/component.ts';
import { connections } from './codes/connections.ts';
import { context } from './codes/context.ts';
import { contract } from './codes/contract.ts';
import { gateway } from './codes/gateway.ts';
import { mcp } from './codes/mcp.ts';
import { paths } from './codes/paths.ts';
import { policy } from './codes/policy.ts';
import { process } from './codes/process.ts';
import { remote } from './codes/remote.ts';
import { sandbox } from './codes/sandbox.ts';
import { session } from './codes/session.ts';
import { skill } from './codes/skill.ts';
import { state } from './codes/state.ts';
import { station } from './codes/station.ts';

/**
 * Every problem code of the station, once, a file a room. `docs/reference/problems.md` is generated from here.
 * Codes are add-only from the first release on: a code keeps its meaning for ever.
 */
export const registry = {
  ...agent,
  ...bundle,
  ...bus,
  ...channel,
  ...cli,
  ...component,
  ...connections,
  ...context,
  ...contract,
  ...mcp,
  ...gateway,
  ...paths,
  ...policy,
  ...process,
  ...remote,
  ...sandbox,
  ...session,
  ...skill,
  ...state,
  ...station,
} satisfies Record<string, KnownProblem>;

export type ProblemCode = keyof typeof registry;
