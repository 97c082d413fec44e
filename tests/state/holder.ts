/** Opens the database named by its argument, says how that went, and holds it until its input ends. */
import { openState } from '../../host/state/index.ts';

const state = openState(process.argv[2] ?? '');
process.stdout.write(`${state.ok ? 'open' : state.problem.code}\n`);
if (state.ok) {
  process.stdin.resume();
  process.stdin.on('end', () => state.value.close());
}
