/**
 * The gate. What a server says about its tools (`readOnlyHint` and the rest) is no argument here: a call is decided by
 * the operator's rules alone, deny before ask before allow, and what no rule names asks.
 */
import type { GatePolicy, GateRule } from '../../policy/index.ts';
import type { Decide, Decision, Wanted } from './edge.ts';
import { serverAlias, toolAlias } from './names.ts';

/**
 * What a rule covers, taken apart at the first `__`: what stands before it with a tool behind holds none and ends with no
 * `_`, so that it is never the written name of a server that must be named as it is mapped.
 */
type Covers =
  | { readonly server: string; readonly tool: string | undefined }
  | { readonly skill: string | undefined };

const prefix = 'mcp__';

const coversOf = (text: string): Covers | undefined => {
  if (text === 'Skill') return { skill: undefined };
  const [, skill] = /^Skill\((.+)\)$/.exec(text) ?? [];
  if (skill !== undefined) return { skill: skill.normalize('NFC') };
  if (!text.startsWith(prefix)) return undefined;
  const rest = text.slice(prefix.length);
  const at = rest.indexOf('__');
  return at < 0 ? { server: rest, tool: undefined } : { server: rest.slice(0, at), tool: rest.slice(at + 2) };
};

const isServer = (named: string, server: string): boolean =>
  named === server || named === serverAlias(server);

const covers = (rule: Covers, wanted: Wanted): boolean => {
  if ('skill' in wanted) {
    return 'skill' in rule && (rule.skill === undefined || rule.skill === wanted.skill.normalize('NFC'));
  }
  if ('skill' in rule) return false;
  const { tool } = rule;
  if (!isServer(rule.server, wanted.server)) return false;
  return (
    tool === undefined || tool === wanted.tool || tool === toolAlias(serverAlias(wanted.server), wanted.tool)
  );
};

// Rules are taken apart once for each policy that was read.
const read = new WeakMap<GateRule, { readonly covers: Covers | undefined }>();
const readRule = (rule: GateRule): Covers | undefined => {
  const known = read.get(rule) ?? { covers: coversOf(rule.text) };
  read.set(rule, known);
  return known.covers;
};

const order = ['deny', 'ask', 'allow'] as const;
const unnamed: Decision = { decision: 'ask', rule: 'permissions (no rule names it)' };

export const decide: Decide = (policy: GatePolicy, wanted: Wanted): Decision => {
  for (const decision of order) {
    for (const rule of policy[decision]) {
      const found = readRule(rule);
      if (found !== undefined && covers(found, wanted)) {
        return { decision, rule: `${rule.place} (${rule.text})` };
      }
    }
  }
  return unnamed;
};
