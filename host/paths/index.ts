/**
 * Path safety: which names may become paths, and how a place below a root is reached without following a link.
 */
export { isBelow, type Kind, kindAt, makeBelow, plainBelow, strayBelow } from './below.ts';
export {
  collision,
  collisionKey,
  collisions,
  relativeSegments,
  segmentFault,
  shownPath,
} from './relative.ts';
