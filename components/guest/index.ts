/**
 * The SDK of component authors: `defineComponent` with typed topics over WIT 0.3.0. This door is for guest code;
 * the build command is `build.ts`, which runs on Node.
 */
export {
  type Component,
  type ComponentSpec,
  defineComponent,
  type Message,
  type PlatformHandlers,
} from './define.ts';
export { type JsonText, jsonText } from './json.ts';
export { bounded, fail, failWith, type Problem, type ProblemDetail, type Result } from './problems.ts';
export type {
  Asking,
  Command,
  Exit,
  Offer,
  Placement,
  Provision,
  SessionContext,
  Station,
  Store,
  Transport,
} from './station.ts';
export { utf8Decode, utf8Encode } from './text.ts';
export type { FirstParty, TopicMap, TopicsOf } from './topics.ts';
