import { opencode } from './cases.ts';
import { everyPromise } from './scenarios.ts';

everyPromise(opencode);
