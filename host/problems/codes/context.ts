import { codes } from './codes.ts';

export const context = codes({});
