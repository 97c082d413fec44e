/**
 * HTTP: what the station serves on this machine. Loaded only where something listens.
 */
export { openWeb, type WebOptions, type WebServer } from './server.ts';
