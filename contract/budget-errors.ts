/** The `rate_limit_error` codes of monthly budgets. */
import { defineErrors } from './error-definition.ts';

const budgetOf = (unit: string, message: string) =>
  ({
    type: 'rate_limit_error',
    status: 429,
    retry: 'after_retry_after',
    message,
    when: `A hard budget in ${unit} of the account or of the key has less left for this month than the estimate for this call. The message names the budget, how much of it is used, the estimate, and when the budget resets. Nothing was sent to a provider.`,
    action:
      'Ask for less (a smaller model, a shorter prompt, a lower `max_tokens`), wait for the next month, or ask for a larger budget.',
  }) as const;

export const budgetErrors = defineErrors({
  carbon_budget_exceeded: budgetOf(
    'grams of CO2e',
    'The carbon budget of this month has too little left for this call.',
  ),
  energy_budget_exceeded: budgetOf('watt-hours', 'The energy budget of this month has too little left for this call.'),
  token_budget_exceeded: budgetOf('tokens', 'The token budget of this month has too little left for this call.'),
  cost_budget_exceeded: budgetOf('money', 'The cost budget of this month has too little left for this call.'),
});
