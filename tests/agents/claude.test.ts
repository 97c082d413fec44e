import { claude } from './cases.ts';
import { everyPromise } from './scenarios.ts';

everyPromise(claude);
