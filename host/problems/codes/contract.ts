import { codes } from './codes.ts';

export const contract = codes({});
