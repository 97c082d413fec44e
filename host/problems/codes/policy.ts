import { codes } from './codes.ts';

export const policy = codes({});
