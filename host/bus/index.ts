/**
 * The bus: topics and their shapes, inboxes, delivery, and the commit of what components ask for.
 */
export { type BusOptions, openBus } from './bus.ts';
export type { Bus, BusComponent, EffectPorts, LaneState, LaneStatus, Prepared } from './edge.ts';
export { type DeclaredTopic, openTopicRegistry, type Topic, type TopicRegistry } from './registry.ts';
