/** What the rules that match a request mean for it. */
import { type PolicyRule, screenCodes } from '@gw/contract/internal/policy-rules';

export interface Verdict {
  readonly action: 'block' | 'flag';
  /** Of the first rule that blocks; if none does, of the first. */
  readonly code: (typeof screenCodes)[keyof typeof screenCodes];
  /** All of them, in the order of the set. */
  readonly ruleIds: readonly string[];
}

/** `matched`: in the order of the set. `exempt`: rules that are passed over for the account. Null: nothing to say. */
export function verdictOf(matched: readonly PolicyRule[], exempt: readonly string[]): Verdict | null {
  const rules = matched.filter(({ id }) => !exempt.includes(id));
  const decisive = rules.find(({ action }) => action === 'block') ?? rules[0];
  if (!decisive) return null;
  return { action: decisive.action, code: screenCodes[decisive.screen], ruleIds: rules.map(({ id }) => id) };
}
