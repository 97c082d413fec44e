/**
 * Sessions: creates agent sessions, keeps the record of what each was given and what became of it, and the
 * transcript. It asks the host what an agent may get and an agent provider to run it; it runs nothing itself.
 */
import { defineComponent } from '../guest/index.ts';
import { cancel, close, get, list, respond, say, transcript } from './commands.ts';
import { create } from './create.ts';
import { announced, closed, failed, opened, permission, replied, settled, update } from './events.ts';
import { onPermissionTimeout } from './permissions.ts';
import { forget } from './records.ts';
import { sweep, sweepLeft } from './resume.ts';

export const component = defineComponent({
  handles: {
    'bearpunch.sessions.create': create,
    'bearpunch.sessions.say': say,
    'bearpunch.sessions.respond': respond,
    'bearpunch.sessions.cancel': cancel,
    'bearpunch.sessions.close': close,
    'bearpunch.sessions.list': list,
    'bearpunch.sessions.get': get,
    'bearpunch.sessions.transcript': transcript,
  },
  subscribes: {
    'bearpunch.agents.opened': opened,
    'bearpunch.agents.announced': announced,
    'bearpunch.agents.update': update,
    'bearpunch.agents.permission': permission,
    'bearpunch.agents.settled': settled,
    'bearpunch.agents.failed': failed,
    'bearpunch.agents.closed': closed,
  },
  platform: {
    started: ({ at }, station) => sweep(station, at, at),
    woke: ({ payload, at }, station) => {
      const [what, first = '', second = '', ...rest] = payload.token.split(':');
      if (what === 'sweep') sweep(station, Number(first), at, second);
      else if (what === 'left') sweepLeft(station, rest.join(':'), Number(first), at, second);
      else if (what === 'permission') onPermissionTimeout(station, first, second, at);
    },
    reply: replied,
    left: ({ payload, at }, station) => sweepLeft(station, payload.component, at, at),
  },
  forget,
});
