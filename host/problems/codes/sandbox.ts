import { codes } from './codes.ts';

const rebuild = 'Build the component again with the SDK and pack the bundle again.';
const author = 'Report this to the author of the component; the log shows what it did before.';
const limit = 'or raise the limit it names, under `limits` in `policy.jsonc`.';

export const sandbox = codes({
  'sandbox/too-large': {
    message: 'The component is larger than the sandbox takes.',
    fix: 'Make the component smaller, for instance by building it size-optimised.',
  },
  'sandbox/not-a-component': {
    message: 'These bytes are not a WebAssembly component in binary form.',
    fix: rebuild,
  },
  'sandbox/malformed': { message: 'The component cannot be read.', fix: rebuild },
  'sandbox/unsupported': {
    message: 'The component uses a feature that the sandbox does not take.',
    fix: 'Build it without that feature: synchronous exports, no threads, no 64-bit memories.',
  },
  'sandbox/name-refused': {
    message: 'The component holds a name outside the alphabet that generated code may contain.',
    fix: 'Rename that import, export or field; toolchains do not produce such names by themselves.',
  },
  'sandbox/type-too-large': {
    message: 'An interface type of the component is too large when it is written out.',
    fix: 'Use the platform’s interface types; they are far below the bound.',
  },
  'sandbox/import-unknown': {
    message: 'The component imports an interface the platform does not offer.',
    fix: 'Import only released interfaces of bearpunch:station, in a version this station serves.',
  },
  'sandbox/release-unknown': {
    message:
      'The component was built against a release of the platform interfaces that this station does not serve.',
    fix: 'Install a newer station, or build the component against a release this one serves.',
  },
  'sandbox/function-unknown': {
    message: 'The component imports something that this platform interface does not have.',
    fix: 'Build it against the released WIT of the version it names.',
  },
  'sandbox/permission-missing': {
    message: 'The component imports an interface without asking for its permission.',
    fix: 'Add the permission to the component in bundle.json, or build it without the import.',
  },
  'sandbox/import-type': {
    message: 'The component declares a platform interface with other types than the platform has.',
    fix: 'Build it against the released WIT of the version it names.',
  },
  'sandbox/wasi-refused': {
    message: 'The component imports a part of WASI that does not exist in the sandbox.',
    fix: 'Clocks, random and standard streams are there; build without files, sockets, HTTP, environment and exit.',
  },
  'sandbox/export-missing': {
    message: 'The component does not export the platform’s component interface.',
    fix: 'Export bearpunch:station/component with its handle function.',
  },
  'sandbox/export-unknown': {
    message: 'The component exports something the platform does not know.',
    fix: 'Export only bearpunch:station/component.',
  },
  'sandbox/export-type': {
    message: 'The component exports the platform’s interface with other types.',
    fix: 'Build it against the released WIT of the version it names.',
  },
  'sandbox/memory-minimum': {
    message: 'The component starts with more memory than one may have.',
    fix: `Build it with a smaller initial memory, ${limit}`,
  },
  'sandbox/table-minimum': {
    message: 'The component starts with a larger table than one may have.',
    fix: `Build it with a smaller table, ${limit}`,
  },
  'sandbox/transpile-failed': {
    message: 'The component could not be turned into something that runs.',
    fix: rebuild,
  },
  'sandbox/transpile-limit': {
    message: 'Turning the component into something that runs took more time, memory or space than allowed.',
    fix: 'Make the component smaller or simpler.',
  },
  'sandbox/output-refused': {
    message: 'The transpiler produced something that the sandbox does not run.',
    fix: rebuild,
  },
  'sandbox/cache-changed': {
    message: 'A generated file in the cache is not what was written there.',
    fix: 'Nothing was run. It is generated again from the installed package; look for what wrote into the cache.',
  },
  'sandbox/cache-failed': {
    message: 'The cache of generated files cannot be written or read.',
    fix: 'Check that the home directory exists, is writable and has space.',
  },
  'sandbox/start-failed': { message: 'The component could not be started.', fix: author },
  'sandbox/start-deadline': {
    message: 'The component was not ready in time and was stopped.',
    fix: `Report this to its author, ${limit}`,
  },
  'sandbox/deadline': {
    message: 'The component took longer than a batch may take and was stopped.',
    fix: `Report this to its author, ${limit}`,
  },
  'sandbox/trap': { message: 'The component stopped with a fault while it handled a message.', fix: author },
  'sandbox/memory': {
    message: 'The component needed more memory than it may have and was stopped.',
    fix: `Report this to its author, ${limit}`,
  },
  'sandbox/host-argument': {
    message: 'The component called the platform with a value it does not take.',
    fix: author,
  },
  'sandbox/effect-outside': {
    message: 'The component asked for an effect outside any message of its batch.',
    fix: 'Call bus.begin with each message’s ID before its effects; the SDK does this.',
  },
  'sandbox/effects-limit': {
    message: 'The component asked for more effects in one message than allowed.',
    fix: `Spread the work over several messages, ${limit}`,
  },
  'sandbox/outcome-count': {
    message: 'The component did not return one outcome for each message of the batch.',
    fix: author,
  },
  'sandbox/outcome-invalid': { message: 'The component returned something that is no outcome.', fix: author },
  'sandbox/answer-too-large': {
    message: 'The answer to a call of the component is larger than can be handed to it.',
    fix: 'Ask for less at once.',
  },
  'sandbox/call-failed': {
    message: 'The platform could not answer a call of the component.',
    fix: 'This is a fault of the station, not of the component; report it with the log.',
  },
  'sandbox/protocol': {
    message: 'The worker of the component sent something that is not part of the protocol and was stopped.',
    fix: author,
  },
  'sandbox/gone': { message: 'The component’s worker has ended.', fix: author },
});
