import { codes } from './codes.ts';

/** What the guest SDK says of the component it is part of, and what building one finds. */
export const component = codes({
  'component/failed': {
    message: 'The component failed while it handled a message; nothing of that message was kept.',
    fix: 'Report it to the author of the component, with the evidence.',
  },
  'component/permission-missing': {
    message: 'The component uses an interface it asks no permission for.',
    fix: 'Add the permission to bundle.json and build the component again.',
  },
  'component/source-missing': {
    message: 'The manifest names a component whose source is not there.',
    fix: 'Put its TypeScript beside bundle.json, under the name of its entry with `.ts` for `.wasm`.',
  },
  'component/out-occupied': {
    message: 'The folder for the built bundle holds something else than a built bundle; nothing was changed.',
    fix: 'Name an empty folder with `--out`, or remove what is there.',
  },
  'component/build-failed': {
    message: 'The component does not build.',
    fix: 'Read the evidence: it is what the compiler said.',
  },
  'component/topic-unhandled': {
    message: 'The component has no handler for a topic its manifest names.',
    fix: 'Add the handler, or take the topic out of bundle.json.',
  },
});
