import { gemini } from './cases.ts';
import { everyPromise } from './scenarios.ts';

everyPromise(gemini);
