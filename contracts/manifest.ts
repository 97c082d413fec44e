/**
 * The manifest of the contract bundle: it declares every first-party topic and holds nothing else. `bundle.json`
 * beside this file is its text, committed so that `jupiter contracts check` compares it with the lock.
 */
import { shapeOf } from './shapes.ts';
import { firstPartyTopics } from './topics/index.ts';

export interface ContractManifest {
  readonly manifest: 2;
  readonly id: string;
  readonly version: string;
  readonly content: readonly never[];
  readonly components: readonly never[];
  readonly topics: readonly {
    readonly id: string;
    readonly kind: 'command' | 'event';
    readonly shape: Readonly<Record<string, unknown>>;
  }[];
  readonly tools: readonly never[];
}

export const contractManifest = (): ContractManifest => ({
  manifest: 2,
  id: 'bearpunch.contracts',
  version: '0.1.0',
  content: [],
  components: [],
  topics: firstPartyTopics.map((topic) => ({ id: topic.id, kind: topic.kind, shape: shapeOf(topic) })),
  tools: [],
});

/** The bytes of `contracts/bundle.json`. */
export const contractManifestText = (): string => `${JSON.stringify(contractManifest(), null, 2)}\n`;
