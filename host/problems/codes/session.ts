import { codes } from './codes.ts';

export const session = codes({});
