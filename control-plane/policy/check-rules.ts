/** Whether a set of rules can be put into force, judged by the engine that will match it. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { type CompiledRules, compileRules } from '@gw/policy/compile';

/** As many problems as one reads at a time. */
const shown = 5;

export type Checked = { readonly compiled: CompiledRules } | { readonly refused: ApiError };

export function checkRules(rules: readonly PolicyRule[]): Checked {
  const result = compileRules(rules);
  if (result.ok) return { compiled: result.compiled };
  const [first] = result.problems;
  const place = rules.findIndex(({ id }) => id === first?.rule);
  const reasons = result.problems
    .slice(0, shown)
    .map(({ reason, rule }) => (rule === null ? reason : `rule ${rule}: ${reason}`));
  const more = result.problems.length - reasons.length;
  const text = `${reasons.join('; ')}${more > 0 ? `; and ${more} more problems` : ''}.`;
  return { refused: { ...fieldError('rules', text), param: place < 0 ? 'rules' : `rules[${place}]` } };
}
