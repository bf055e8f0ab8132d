/**
 * Chooses the rules that requests are screened by: those of the snapshot, or else the built-in ones.
 *
 * Invariants: there are always rules. A set that cannot be read or matched, for example one of a newer release, does not come into force and
 * blocks nothing else: the last usable set, or else the built-in one, stays, and `unusable` says why.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { type Policy, policySchema } from '@gw/contract/internal/policy-rules';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import { defaultPolicy } from '@gw/policy/default-rules';

/** The set of rules that screens requests, ready to be matched. */
export interface PolicyInForce {
  readonly version: number;
  readonly sha256: string;
  readonly compiled: CompiledRules;
  /** Returns the ids of the rules that do not hold for an account. */
  exemptOf(accountId: string): readonly string[];
  /** Why the set of the snapshot is not in force; null if it is. */
  readonly unusable: string | null;
}

let builtIn: PolicyInForce | null = null;
function builtInPolicy(): PolicyInForce {
  if (builtIn) return builtIn;
  const result = compileRules(defaultPolicy.rules);
  if (!result.ok) throw new Error('The rules that the software came with cannot be matched.');
  builtIn = inForce(defaultPolicy, result.value);
  return builtIn;
}

const inForce = ({ exemptions, sha256, version }: Policy, compiled: CompiledRules): PolicyInForce => {
  const byAccount = new Map(Object.entries(exemptions));
  return { version, sha256, compiled, exemptOf: (accountId) => byAccount.get(accountId) ?? [], unusable: null };
};

/**
 * Never throws. `given` is the policy of a snapshot, not yet validated; undefined means the built-in rules.
 * `known` is what was in force before: the same rules are not compiled again.
 */
export function policyInForce(given: unknown, known: PolicyInForce | null = null): PolicyInForce {
  if (given === undefined) return builtInPolicy();
  const stay = (unusable: string): PolicyInForce => ({ ...(known ?? builtInPolicy()), unusable });
  const read = policySchema.safeParse(given);
  if (!read.success) {
    const { message, path } = elementAt(read.error.issues, 0);
    return stay(`they cannot be read: ${path.join('.')}: ${message}`.slice(0, 300));
  }
  const policy = read.data;
  for (const made of [known, builtInPolicy()])
    if (made?.sha256 === policy.sha256) return inForce(policy, made.compiled);
  const result = compileRules(policy.rules);
  if (result.ok) return inForce(policy, result.value);
  const problems = result.error.map(({ rule, reason }) => `${rule ?? 'all rules'}: ${reason}`);
  return stay(`version ${policy.version} cannot be matched: ${problems.join('; ')}`.slice(0, 300));
}
