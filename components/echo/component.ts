/**
 * Echo: an agent provider without an agent. It answers each prompt with its text, starts no server, asks for
 * nothing. It shows what a provider owes Sessions, and lets a station be tried with no agent installed.
 */
import { defineComponent, type FirstParty, fail, type Station } from 'jupiter-station/guest';

type Host = Station<FirstParty>;

const key = (session: string): string => `e/${session}`;

const open = (station: Host, session: string, owner: string, servers: readonly { name: string }[]): void => {
  station.store.put(key(session), owner);
  station.bus.event('bearpunch.agents.opened', {
    session,
    agentSession: session,
    agentInfo: { name: 'echo', version: '0.1.0' },
    capabilities: {},
    handedOver: [],
    skipped: servers.map(({ name }) => ({ name, reason: 'echo starts no servers' })),
    // It remembers nothing, so there is nothing it could lose.
    resumable: true,
    approval: 'approval: echo does nothing that would need one',
  });
};

const mustOwn = (station: Host, session: string, source: string): void => {
  const owner = station.store.get<string>(key(session));
  if (owner === undefined)
    fail('agent/session-unknown', 'No agent runs for this session.', { subject: session });
  if (owner !== source)
    fail('agent/not-owner', 'Only the component that opened an agent may command it.', { subject: session });
};

export const component = defineComponent({
  handles: {
    'bearpunch.agents.open': ({ payload, source }, station) => open(station, payload.session, source, []),
    'bearpunch.agents.open.v2': ({ payload, source }, station) =>
      open(station, payload.session, source, payload.mcpServers),
    'bearpunch.agents.open.v3': ({ payload, source }, station) =>
      open(station, payload.session, source, payload.mcpServers),
    'bearpunch.agents.prompt': ({ payload: { session, turn, text }, source }, station) => {
      mustOwn(station, session, source);
      station.bus.event('bearpunch.agents.update', { session, turn, role: 'agent', text });
      station.bus.event('bearpunch.agents.settled', { session, turn, stopReason: 'end_turn' });
    },
    'bearpunch.agents.respond': ({ payload }) =>
      fail('agent/request-unknown', 'The agent has no such request open.', { subject: payload.request }),
    // A turn is over before a cancel can come.
    'bearpunch.agents.cancel': ({ payload, source }, station) => mustOwn(station, payload.session, source),
    'bearpunch.agents.configure': ({ payload }) =>
      fail('agent/option-unknown', 'The agent has no such option.', { subject: payload.option }),
    'bearpunch.agents.close': ({ payload: { session }, source }, station) => {
      mustOwn(station, session, source);
      station.store.remove(key(session));
      station.bus.event('bearpunch.agents.closed', { session });
    },
  },
  platform: {
    started: (_message, station) => {
      for (const { key: stale } of station.store.scanText('e/')) station.store.remove(stale);
    },
    left: ({ payload }, station) => {
      for (const { key: stale, value } of station.store.scan<string>('e/'))
        if (value === payload.component) station.store.remove(stale);
    },
  },
});
