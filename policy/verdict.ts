import { type PolicyRule, screenCodes } from '@gw/contract/internal/policy-rules';

export interface ScreeningVerdict {
  readonly action: 'block' | 'flag';
  /** The code of the first blocking rule, otherwise of the first rule. */
  readonly code: (typeof screenCodes)[keyof typeof screenCodes];
  /** The id of the rule that decided. */
  readonly decisive: string;
  /** The ids of all rules that apply, in order. */
  readonly ruleIds: readonly string[];
}

/** Returns the verdict on a request, or null if it passes. `exempt` has the ids of rules that do not apply to the account. */
export function verdictOf(matched: readonly PolicyRule[], exempt: readonly string[]): ScreeningVerdict | null {
  const rules = matched.filter(({ id }) => !exempt.includes(id));
  const decisive = rules.find(({ action }) => action === 'block') ?? rules[0];
  if (!decisive) return null;
  return {
    action: decisive.action,
    code: screenCodes[decisive.screen],
    decisive: decisive.id,
    ruleIds: rules.map(({ id }) => id),
  };
}
