/**
 * The rules that requests are screened by here: those of the snapshot, else those that the software came with.
 *
 * Invariant: there always are rules. A set that can not be matched takes its whole snapshot with it: the last one stays.
 */
import type { Policy } from '@gw/contract/internal/policy-rules';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import { defaultPolicy } from '@gw/policy/default-rules';

export interface PolicyInForce {
  readonly version: number;
  readonly sha256: string;
  readonly compiled: CompiledRules;
  /** Ids of the rules that do not hold for an account. */
  exemptOf(accountId: string): readonly string[];
}

/** Made once: they are the same for as long as the process runs. */
let builtIn: CompiledRules | null = null;
function compiledDefault(): CompiledRules {
  builtIn ??= compiled(defaultPolicy);
  return builtIn;
}

/** `known`: what was made before, whose rules are not made again if they are the same. */
export function policyInForce(policy: Policy = defaultPolicy, known: PolicyInForce | null = null): PolicyInForce {
  const exemptions = new Map(Object.entries(policy.exemptions));
  const isDefault = policy.sha256 === defaultPolicy.sha256;
  return {
    version: policy.version,
    sha256: policy.sha256,
    compiled: known?.sha256 === policy.sha256 ? known.compiled : isDefault ? compiledDefault() : compiled(policy),
    exemptOf: (accountId) => exemptions.get(accountId) ?? [],
  };
}

function compiled({ rules, version }: Policy): CompiledRules {
  const result = compileRules(rules);
  if (result.ok) return result.compiled;
  const problems = result.problems.map(({ rule, reason }) => `${rule ?? 'all rules'}: ${reason}`);
  throw new Error(`version ${version} of the rules of screening can not be matched: ${problems.join('; ')}`);
}
