/** Decides what becomes of a request from the rules that match it. */
import { type PolicyRule, screenCodes } from '@gw/contract/internal/policy-rules';

export interface Verdict {
  readonly action: 'block' | 'flag';
  /** The code of the first rule that blocks; if none does, of the first rule. */
  readonly code: (typeof screenCodes)[keyof typeof screenCodes];
  /** The ids of all rules that count, in the order of the set. */
  readonly ruleIds: readonly string[];
}

/**
 * Returns the verdict on a request, or null if it passes. `matched` is in the order of the set; rules whose ids are in `exempt`
 * do not count for this account.
 */
export function verdictOf(matched: readonly PolicyRule[], exempt: readonly string[]): Verdict | null {
  const rules = matched.filter(({ id }) => !exempt.includes(id));
  const decisive = rules.find(({ action }) => action === 'block') ?? rules[0];
  if (!decisive) return null;
  return { action: decisive.action, code: screenCodes[decisive.screen], ruleIds: rules.map(({ id }) => id) };
}
