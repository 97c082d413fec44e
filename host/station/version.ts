/** Which release this is: read once, from the package that holds this file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installation } from './home.ts';

/** The version of this installation. */
export const version: string = (
  JSON.parse(readFileSync(join(installation(), 'package.json'), 'utf8')) as { version: string }
).version;
