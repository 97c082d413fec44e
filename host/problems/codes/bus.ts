import { codes } from './codes.ts';

export const bus = codes({});
