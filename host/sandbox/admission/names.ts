/**
 * Which names a component may carry. The transpiler writes core names into the JavaScript it generates without
 * escaping them, so a name is admitted only if it can stand inside quotes, a comment or a template unharmed.
 * componentize-qjs, wit-component (Rust, C), SpiderMonkey and AssemblyScript need nothing outside this alphabet.
 */
import { fault } from './reader.ts';

/** Longest name, bytes; the longest a toolchain was seen to write is 78. */
export const nameBytes = 256;

const coreAlphabet = /^[A-Za-z0-9_.:/@#|$[\]+-]*$/;
const interfaceAlphabet =
  /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*(@[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.-]+)?)?$/;
const plainAlphabet =
  /^(\[(method|static|constructor)\])?[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z][a-z0-9]*(-[a-z0-9]+)*)?$/i;
const labelAlphabet = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/i;
// An object literal with this key loses its prototype instead of getting a property.
const reserved = new Set(['__proto__']);

const shown = (name: string): string => JSON.stringify(name.slice(0, 80)).replace(/[^\x20-\x7e]/g, '?');

const checked =
  (alphabet: RegExp, kind: string) =>
  (name: string): string =>
    name.length <= nameBytes && alphabet.test(name) && !reserved.has(name)
      ? name
      : fault('sandbox/name-refused', { subject: kind, evidence: `${kind} ${shown(name)}` });

/** The name of an import or export of a core module, or of an instantiation argument between them; may be empty. */
export const coreName = checked(coreAlphabet, 'core name');
/** The same in a module the generator wrote itself, with its own names: `mem1 I32Load8U`, `utf8 (mem0 => mem1)`. */
export const generatedName = checked(/^[A-Za-z0-9_.:/@#|$[\]+ ()=>-]*$/, 'generated name');
/** `namespace:package/interface@version`, the version optional. */
export const isInterfaceName = (name: string): boolean => interfaceAlphabet.test(name);
const plainName = checked(plainAlphabet, 'component name');
/** A name at component level: an interface, or a plain one such as `handle` or `[method]pollable.block`. */
export const externName = (name: string): string =>
  name.length <= nameBytes && isInterfaceName(name) ? name : plainName(name);
/** A record field, a variant case, a parameter. */
export const label = checked(labelAlphabet, 'label');
