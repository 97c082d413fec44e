/**
 * Granting and revoking: the station writes the operator's policy, a list entry at a time so that comments beside the
 * others stay. What it grants is what policy then says; nothing is remembered anywhere else.
 */
import {
  changePolicyFile,
  permissions as grantable,
  openPolicySource,
  type Policy,
  type PolicyChange,
} from '../policy/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';

export interface Granted {
  readonly id: string;
  /** What changed; empty where nothing had to. */
  readonly permissions: readonly string[];
  readonly policyRevision: string;
}

const unknown = (permissions: readonly string[]): Result<never> | undefined => {
  const wrong = permissions.find((name) => !grantable.some((one) => one === name));
  return wrong === undefined
    ? undefined
    : refuse('bundle/permission-unknown', { subject: wrong, evidence: `known: ${grantable.join(', ')}` });
};

const listed = ({ grants }: Policy, id: string): readonly string[] => [...(grants.get(id) ?? [])];

/** Whether the file's list is as it was read: one that names something twice has more entries, and is written anew. */
const asRead = (policy: Policy, id: string): boolean =>
  policy.place(`grants.${id}[${listed(policy, id).length}]`) === undefined;

/** The edits that add these permissions to what a bundle has. */
const grantChanges = (
  policy: Policy,
  id: string,
  permissions: readonly string[],
): readonly PolicyChange[] => {
  const entry = policy.grants.get(id);
  const added = permissions.filter((one) => entry?.has(one) !== true);
  if (added.length === 0) return [];
  if (entry === undefined || !asRead(policy, id))
    return [{ path: `grants.${id}`, value: [...(entry ?? []), ...added] }];
  return added.map((value, index) => ({ path: `grants.${id}[${entry.size + index}]`, value }));
};

/** The edits that take these permissions away, the last of the list first; `undefined`: all of them. */
const revokeChanges = (
  policy: Policy,
  id: string,
  permissions: readonly string[] | undefined,
): readonly PolicyChange[] => {
  const have = listed(policy, id);
  const kept = permissions === undefined ? [] : have.filter((one) => !permissions.includes(one));
  if (kept.length === have.length) return [];
  if (kept.length === 0) return [{ path: `grants.${id}`, value: undefined }];
  if (!asRead(policy, id)) return [{ path: `grants.${id}`, value: kept }];
  return have
    .flatMap((one, index) =>
      kept.includes(one) ? [] : [{ path: `grants.${id}[${index}]`, value: undefined }],
    )
    .reverse();
};

const change = (
  file: string,
  id: string,
  permissions: readonly string[],
  edits: readonly PolicyChange[],
): Result<Granted> => {
  const changed = changePolicyFile(file, edits);
  return changed.ok
    ? ok({ id, permissions: [...permissions].sort(), policyRevision: changed.value.revision })
    : changed;
};

export const grant = (file: string, id: string, permissions: readonly string[]): Result<Granted> => {
  const wrong = unknown(permissions);
  if (wrong !== undefined) return wrong;
  const policy = openPolicySource(file).current();
  // What could not be read lists nothing, and a list must not be written over.
  if (policy.problems[0] !== undefined) return failed(policy.problems[0]);
  const added = permissions.filter((one) => policy.grants.get(id)?.has(one) !== true);
  return change(file, id, added, grantChanges(policy, id, permissions));
};

export const revoke = (
  file: string,
  id: string,
  permissions: readonly string[] | undefined,
): Result<Granted> => {
  const wrong = unknown(permissions ?? []);
  if (wrong !== undefined) return wrong;
  const policy = openPolicySource(file).current();
  if (policy.problems[0] !== undefined) return failed(policy.problems[0]);
  const taken = listed(policy, id).filter((one) => permissions?.includes(one) !== false);
  return change(file, id, taken, revokeChanges(policy, id, permissions));
};
