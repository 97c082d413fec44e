import { codes } from './codes.ts';

export const bundle = codes({});
