/** Installs or uninstalls in the home it is given, and kills itself at the nth meeting of the named step. */
import { join } from 'node:path';
import { openStore, value } from './fixture.ts';

const [home = '', work = '', step = '', nth = '1'] = process.argv.slice(2);
let met = 0;
const { store } = openStore(home, {
  onStep: (name) => {
    if (name === step) met += 1;
    if (name === step && met === Number(nth)) process.kill(process.pid, 'SIGKILL');
  },
});
if (work === 'remove') value(await store.remove('demo.bundle'));
else value(store.activate(value(await store.stage(join(home, work)))));
