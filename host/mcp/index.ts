/**
 * MCP: what the station publishes (channel). The SDK is loaded when it is first used.
 */
export type { Sources } from './channel/catalog.ts';
export { type Channel, type ChannelOptions, type ChannelRequest, openChannel } from './channel/channel.ts';
export type { Reply } from './channel/fast.ts';
export { bodyBytes, bodyDepth } from './channel/limits.ts';
export type { LeftOut } from './channel/publish.ts';
