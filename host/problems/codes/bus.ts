import { codes } from './codes.ts';

export const bus = codes({
  'bus/topic-unknown': {
    message: 'No installed bundle declares this topic.',
    fix: 'Install the bundle that declares it.',
  },
  'bus/topic-kind': { message: 'A command was used as an event, or an event as a command.' },
  'bus/payload-invalid': {
    message: "The message does not fit its topic's shape.",
    fix: 'Send what the topic declares; a new shape needs a new topic ID.',
  },
  'bus/payload-too-large': {
    fix: 'Send less at once.',
    message: 'The message is larger than a message may be.',
  },
  'bus/no-handler': {
    message: 'No running component handles this command.',
    fix: 'Look at `jupiter bundle list`.',
  },
  'bus/ambiguous': {
    message: 'More than one component handles this command, and none was addressed.',
    fix: 'Uninstall the bundle that should not handle it; a component that publishes it names one of them.',
  },
  'bus/inbox-full': {
    message: 'The component has too many messages waiting.',
    fix: 'Try again when it has caught up, or raise `inbox` of its bundle under `limits` in `policy.jsonc`.',
  },
  'bus/not-declared': {
    message: 'The component published a topic that its manifest does not declare.',
    fix: "Add the topic to the component's `publishes`.",
  },
  'bus/not-granted': {
    message: 'Policy does not grant what the component tried to do.',
    fix: 'Grant it in `policy.jsonc` under `grants`, or leave it refused.',
  },
  'bus/not-its-process': { message: 'The component addressed a process it does not own.' },
  'bus/store-quota': {
    message: 'The component would keep more in its store than it may.',
    fix: 'Let it remove what it no longer needs, or raise `storeBytes` of its bundle under `limits` in `policy.jsonc`.',
  },
  'bus/log-rate': {
    message: 'The component writes more lines to the log than it may.',
    fix: 'Report it to its author, or raise `logLinesPerMinute` of its bundle under `limits` in `policy.jsonc`.',
  },
  'bus/restart-limit': {
    message: 'The component had to be started again more often than it may in an hour, and is parked.',
    fix: 'Read why in `jupiter status --events`, then `jupiter bundle retry ID:COMPONENT`.',
  },
  'bus/message-failed': { message: 'The component could not handle the message.' },
  'bus/component-stopped': {
    message: 'The component was stopped before it answered.',
    fix: 'Look at `jupiter bundle list`.',
  },
  'bus/component-parked': {
    message: 'The component kept failing and is no longer started.',
    fix: 'Read its problem in `jupiter bundle list`, then `jupiter bundle retry ID:COMPONENT`.',
  },
});
