/** `demo`: the main job in a temporary home, nothing to configure. */
import type { Command } from 'commander';
import type { Run } from './output.ts';
import { example } from './usage.ts';

export const addDemoCommand = (program: Command, run: Run): void => {
  example(
    program
      .command('demo')
      .description('the main job in a temporary home: an agent, a server, a skill, and the record of them'),
    'demo',
  ).action(() => run(async (io) => (await import('./demo.ts')).demo(io)));
};
