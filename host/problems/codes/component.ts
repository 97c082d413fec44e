import { codes } from './codes.ts';

/** What the guest SDK says of the component it is part of. */
export const component = codes({
  'component/failed': {
    message: 'The component failed while it handled a message; nothing of that message was kept.',
    fix: 'Report it to the author of the component, with the evidence.',
  },
  'component/permission-missing': {
    message: 'The component uses an interface it asks no permission for.',
    fix: 'Add the permission to bundle.json and build the component again.',
  },
  'component/topic-unhandled': {
    message: 'The component has no handler for a topic its manifest names.',
    fix: 'Add the handler, or take the topic out of bundle.json.',
  },
});
