import { expect, test } from 'vitest';
import {
  isFinal,
  moveOf,
  type OnboardingAction,
  operatorActions,
  type Stage,
  stages,
  stateOf,
  systemActions,
} from './machine.ts';

const actions: readonly OnboardingAction[] = [...operatorActions, ...systemActions];

/** Written down apart from the table of the machine: stage, action, high risk or not, where it leads. */
const allowed: readonly (readonly [Stage, OnboardingAction, 'any' | 'high' | 'usual', Stage])[] = [
  ['account_created', 'declare', 'any', 'use_screening'],
  ['use_screening', 'pass_use', 'any', 'sanctions_screening'],
  ['use_screening', 'match_use', 'any', 'use_match'],
  ['use_screening', 'prohibit_use', 'any', 'rejected'],
  ['use_match', 'clear_match', 'any', 'sanctions_screening'],
  ['use_match', 'reject_match', 'any', 'rejected'],
  ['sanctions_screening', 'pass_sanctions', 'high', 'manual_review'],
  ['sanctions_screening', 'pass_sanctions', 'usual', 'contract_pending'],
  ['sanctions_screening', 'match_sanctions', 'any', 'sanctions_match'],
  ['sanctions_match', 'clear_match', 'high', 'manual_review'],
  ['sanctions_match', 'clear_match', 'usual', 'contract_pending'],
  ['sanctions_match', 'reject_match', 'any', 'rejected'],
  ['manual_review', 'approve_review', 'any', 'contract_pending'],
  ['manual_review', 'reject_review', 'any', 'rejected'],
  ['contract_pending', 'sign_contract', 'any', 'key_pending'],
  ['key_pending', 'issue_key', 'any', 'complete'],
  ...stages
    .filter((stage) => !['use_screening', 'sanctions_screening', 'complete', 'rejected', 'expired'].includes(stage))
    .map((stage) => [stage, 'expire', 'any', 'expired'] as const),
];

const cases = stages.flatMap((stage) =>
  actions.flatMap((action) => [true, false].map((highRisk) => ({ stage, action, highRisk }))),
);

test.each(cases)('$stage, $action, high risk $highRisk: what is not allowed is refused', (given) => {
  const { stage, action, highRisk } = given;
  const wanted = allowed.find(
    ([from, by, risk]) => from === stage && by === action && risk !== (highRisk ? 'usual' : 'high'),
  );
  expect(moveOf(stage, action, highRisk)?.to ?? null).toBe(wanted?.[3] ?? null);
});

test('a step is never left for an earlier one, and never for one beyond the next but for the review', () => {
  const order = stages.filter((stage) => !isFinal(stage) || stage === 'complete');
  const stepOf: Partial<Record<Stage, number>> = {
    account_created: 1,
    use_screening: 2,
    use_match: 2,
    sanctions_screening: 3,
    sanctions_match: 3,
    manual_review: 4,
    contract_pending: 5,
    key_pending: 6,
    complete: 7,
  };
  for (const from of order)
    for (const action of actions)
      for (const highRisk of [true, false]) {
        const to = moveOf(from, action, highRisk)?.to;
        if (to === undefined || to === 'rejected' || to === 'expired') continue;
        const distance = (stepOf[to] ?? Number.NaN) - (stepOf[from] ?? Number.NaN);
        const goesPastReview = !highRisk && stepOf[from] === 3;
        expect(distance).toBeGreaterThanOrEqual(0);
        expect(distance).toBeLessThanOrEqual(goesPastReview ? 2 : 1);
      }
});

test('an industry of high risk reaches its contract through the review alone', () => {
  const reached = new Set<Stage>(['account_created']);
  for (const stage of reached)
    for (const action of actions) {
      const to = action === 'approve_review' ? undefined : moveOf(stage, action, true)?.to;
      if (to !== undefined) reached.add(to);
    }
  expect([...reached]).toContain('manual_review');
  expect([...reached]).not.toContain('contract_pending');
});

test('complete, rejected and expired are final, and nothing else is', () => {
  expect(stages.filter(isFinal)).toEqual(['complete', 'rejected', 'expired']);
});

test('a match is stored in the state of its screening', () => {
  expect([stateOf('use_match'), stateOf('sanctions_match'), stateOf('complete')]).toEqual([
    'use_screening',
    'sanctions_screening',
    'complete',
  ]);
});
