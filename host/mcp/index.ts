/**
 * MCP: what the station publishes (channel), what other servers publish and the operator approved (remote), the
 * station's own server for a session's agent (agent), the servers it dials (connections), which agents reach at the
 * gateway (gateway), and the gate each call passes (gate). The SDK is loaded when it is first used.
 */
import type { mountSkills as mount } from './agent/mounted.ts';
import type { buildSkillServer as build, serveSkills as serve } from './agent/server.ts';
import type { OpenGateway } from './gateway/edge.ts';

export type { MountedSkills } from './agent/mounted.ts';
export type { SkillServerOptions } from './agent/server.ts';
export type { Decide } from './agent/tool.ts';
export type { Sources } from './channel/catalog.ts';
export { type Channel, type ChannelOptions, type ChannelRequest, openChannel } from './channel/channel.ts';
export type { Reply } from './channel/fast.ts';
export { bodyBytes, bodyDepth } from './channel/limits.ts';
export type { LeftOut } from './channel/publish.ts';
export { withDefaults } from './connections/asks.ts';
export {
  type ProjectServers,
  readMcpConfig,
  readProjectSettings,
  type SessionServers,
  settingsFile,
} from './connections/config.ts';
export type {
  Answered,
  Connection,
  ConnectionStatus,
  Connections,
  RequestOptions,
  ServerAsk,
  ServerEntry,
  ServerTool,
} from './connections/edge.ts';
export { allEntries, type EntrySources, serverEntries } from './connections/entries.ts';
export { type ConnectionLimits, usualLimits as usualConnectionLimits } from './connections/limits.ts';
export { type ConnectionsOptions, openConnections } from './connections/open.ts';
export { type Secrets, secretsOf } from './connections/secrets.ts';
export { decide } from './gate/decide.ts';
export type { Decision, ToolName, Wanted } from './gate/edge.ts';
export { serverAlias, toolNames } from './gate/names.ts';
export { visitOf, visitsBefore } from './gateway/addresses.ts';
export type {
  GateAnswer,
  GateAsk,
  GateRow,
  Gateway,
  GatewayAddress,
  GatewayPorts,
  GatewayServer,
  OpenGateway,
  StationServer,
} from './gateway/edge.ts';
export { type Reachable, reachableServers } from './gateway/reachable.ts';
export { isRecord, type Json } from './json.ts';
export { isOwnAddress } from './own.ts';
export type {
  Access,
  RemoteManifest,
  RemoteServer,
  RemoteSkill,
  RemoteSkills,
  Unready,
} from './remote/edge.ts';
export { openRemoteSkills } from './remote/remote.ts';

/** The tool `Skill` and its instructions, for whoever mounts them; see `buildSkillServer` in agent/server.ts. */
export const buildSkillServer: typeof build = async (options) =>
  (await import('./agent/server.ts')).buildSkillServer(options);

/** The same as data, for a gateway that speaks the protocol itself. */
export const mountSkills: typeof mount = async (options) =>
  (await import('./agent/mounted.ts')).mountSkills(options);

/** The tool `Skill` and its instructions, over standard input and output until the agent closes them. */
export const serveSkills: typeof serve = async (options) =>
  (await import('./agent/server.ts')).serveSkills(options);

/** Loaded where a session is given a server by it. */
export const openGateway: OpenGateway = async (options) =>
  (await import('./gateway/gateway.ts')).openGateway(options);
