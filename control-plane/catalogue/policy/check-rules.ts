/** Whether a set of rules can be put into force, judged by the engine that will match it. */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import { type PolicyRule, policyRulesSchema } from '@gw/contract/internal/policy-rules';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type CompiledRules, compileRules } from '@gw/policy/compile';
import type { z } from 'zod';

/** How many problems an error names. */
const shown = 5;

/** A rule as it is stored: every release writes its id, and the rest can be of another release. */
export interface StoredRule {
  readonly id: string;
}

export interface Checked {
  readonly compiled: CompiledRules;
  readonly rules: readonly PolicyRule[];
}

/** Returns the rules, compiled, or one error that names up to five problems. Its `param` is the first rule at fault. */
export function checkRules(stored: readonly StoredRule[]): Result<Checked, ApiError> {
  const read = policyRulesSchema.safeParse(stored);
  if (!read.success) return err(unreadable(stored, read.error));
  const rules = read.data;
  const result = compileRules(rules);
  if (result.ok) return ok({ compiled: result.value, rules });
  const [first] = result.error;
  const place = rules.findIndex(({ id }) => id === first?.rule);
  const reasons = result.error
    .slice(0, shown)
    .map(({ reason, rule }) => (rule === null ? reason : `rule ${rule}: ${reason}`));
  const more = result.error.length - reasons.length;
  const text = `${reasons.join('; ')}${more > 0 ? `; and ${more} more problems` : ''}.`;
  return err({ ...fieldError('rules', text), param: place < 0 ? 'rules' : `rules[${place}]` });
}

function unreadable(stored: readonly StoredRule[], { issues }: z.ZodError): ApiError {
  const { message, path } = elementAt(issues, 0);
  const [place] = path;
  const rule = typeof place === 'number' ? stored[place] : undefined;
  const text = `${rule ? `rule ${rule.id}` : 'the rules'} cannot be read by this release: ${message}.`;
  return { ...fieldError('rules', text), param: rule ? `rules[${String(place)}]` : 'rules' };
}
