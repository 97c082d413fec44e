import { codes } from './codes.ts';

export const sandbox = codes({});
