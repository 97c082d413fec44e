/**
 * One way to a server, as the SDK and our own calls share it. The SDK's client shakes hands and answers what is unusual
 * through a transport that hears only what our calls do not take; closing that transport ends nothing, so that a second
 * client may try another revision with the same program.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { Json } from './edge.ts';
import type { Wire } from './wire.ts';

export interface Link {
  /** Messages of the SDK. */
  readonly carry: (message: Json, options?: TransportSendOptions) => Promise<void>;
  /** Messages of our calls. */
  readonly send: Wire['send'];
  readonly ownStreams: boolean;
  readonly sessionId: () => string | undefined;
  readonly speak: (version: string) => void;
  /** Ended, with everything that belongs to it. */
  readonly close: () => Promise<void>;
}

export interface Shared {
  /** For a client of the SDK; the one before hears nothing any more. */
  readonly transport: () => Transport;
  /** To be called with every message of the server. */
  readonly hear: (message: Json) => void;
  /** What the server told at the handshake, as it came. */
  readonly told: () => Json | undefined;
}

export const share = (link: () => Link, heard: (message: Json) => boolean): Shared => {
  let current: Transport | undefined;
  let told: Json | undefined;
  const asking = new Set<unknown>();
  return {
    transport: () => {
      const made: Transport = {
        hasPerRequestStream: link().ownStreams,
        get sessionId() {
          return link().sessionId();
        },
        start: async () => {},
        send: (message, options) => {
          if (
            'method' in message &&
            'id' in message &&
            /^(initialize|server\/discover)$/.test(message.method)
          )
            asking.add(message.id);
          return link().carry(message as unknown as Json, options);
        },
        close: async () => {
          if (current === made) current = undefined;
          made.onclose?.();
        },
        setProtocolVersion: (version) => link().speak(version),
      };
      current = made;
      return made;
    },
    hear: (message) => {
      if (heard(message)) return;
      if (asking.delete(message['id']) && typeof message['result'] === 'object')
        told = message['result'] as Json;
      current?.onmessage?.(message as unknown as JSONRPCMessage);
    },
    told: () => told,
  };
};
