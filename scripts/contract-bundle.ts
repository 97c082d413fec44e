/** Writes `contracts/bundle.json` from the topics; `--check` fails where it is not what the topics say. */
import { readFileSync, writeFileSync } from 'node:fs';
import { contractManifestText } from '../contracts/manifest.ts';

const file = new URL('../contracts/bundle.json', import.meta.url);
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== contractManifestText()) {
    console.error('contracts/bundle.json is not what the topics say: run node scripts/contract-bundle.ts');
    process.exitCode = 1;
  }
} else writeFileSync(file, contractManifestText());
