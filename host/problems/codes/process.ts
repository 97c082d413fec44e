import { codes } from './codes.ts';

export const process = codes({});
