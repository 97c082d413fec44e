/** What other rooms see of the gate. */
import type { GatePolicy } from '../../policy/index.ts';

export type Wanted = { readonly server: string; readonly tool: string } | { readonly skill: string };
export interface Decision {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The place of the rule, `permissions.deny[0] (mcp__probe)`; of what no rule names, `permissions (no rule names it)`. */
  readonly rule: string;
}
/** Pure, by the rules as they are now: deny first, then ask, then allow; what no rule names asks. */
export type Decide = (policy: GatePolicy, wanted: Wanted) => Decision;

/** Names as agents see them, each `[A-Za-z0-9_-]{1,64}` in whole: `mcp__<server>__<tool>`. */
export interface ToolName {
  readonly original: string;
  /** The `<tool>` part. */
  readonly exposed: string;
}
