/**
 * Sessions: creates agent sessions, keeps the record of what each was given and what became of it, and the
 * transcript. It asks the host what an agent may get and an agent provider to run it; it runs nothing itself.
 */
import { defineComponent } from '../guest/index.ts';
import { cancel, close, get, list, respond, say, transcript } from './commands.ts';
import { create } from './create.ts';
import { announced, closed, failed, opened, permission, replied, settled, titled, update } from './events.ts';
import { ask, observed, withdraw } from './gate.ts';
import { onPermissionTimeout } from './permissions.ts';
import { forget } from './records.ts';
import { sweep, sweepLeft } from './resume.ts';

export const component = defineComponent({
  handles: {
    'bearpunch.sessions.create': create,
    'bearpunch.sessions.create.v2': (message, station) => create(message, station, message.payload.mcpConfig),
    'bearpunch.sessions.say': say,
    'bearpunch.sessions.respond': respond,
    'bearpunch.sessions.respond.v2': (message, station) => respond(message, station, message.payload.content),
    'bearpunch.sessions.ask': ask,
    'bearpunch.sessions.withdraw': withdraw,
    'bearpunch.sessions.observed': observed,
    'bearpunch.sessions.cancel': cancel,
    'bearpunch.sessions.close': close,
    'bearpunch.sessions.list': list,
    'bearpunch.sessions.get': get,
    'bearpunch.sessions.transcript': transcript,
  },
  subscribes: {
    'bearpunch.agents.opened': opened,
    'bearpunch.agents.announced': announced,
    'bearpunch.agents.titled': titled,
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
      else if (what === 'left')
        sweepLeft(station, rest.slice(1).join(':'), rest[0] ?? '', Number(first), at, second);
      else if (what === 'permission') onPermissionTimeout(station, first, second, at);
    },
    reply: replied,
    left: ({ payload, at }, station) => sweepLeft(station, payload.component, payload.parked ?? '', at, at),
  },
  forget,
});
