import { codex } from './cases.ts';
import { everyPromise } from './scenarios.ts';

everyPromise(codex);
