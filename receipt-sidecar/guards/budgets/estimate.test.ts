/** The longest answers that fit into budgets. */
import { type Amounts, budgetUnits, type HeldBudget, stepsOf } from '@gw/contract/internal/budgets';
import { annualReading } from '@gw/methodology/grid-annual';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { expect, test } from 'vitest';
import { makeCatalogue } from '../../catalogue/snapshot.ts';
import { chooseRoute } from '../../routing/route.ts';
import { estimateCall, estimatesOf, type Keeping } from './estimate.ts';
import { KnownUse } from './known-use.ts';

const at = '2026-11-21T09:10:00.000Z';
const grid = annualReading('DEU');
const region = { code: 'us', name: 'us', country: 'us', gridZone: 'DEU', status: 'active', preference: 0 } as const;

function callOf(contextWindow: number | null, candidates = 1) {
  const catalogue = makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models: [{ ...plainModel, contextWindow }],
    regions: [region],
    deployments: [plainDeployment],
    grid: grid === null ? [] : [grid],
  });
  const request = parsedForTests({ estimatedPromptTokens: 100, maxTokens: null, candidates });
  const routed = chooseRoute(request, catalogue, null, steeringForTests(at));
  if (!routed.ok) throw new Error(routed.error.code);
  const { failoverChain, model } = routed.value;
  const { estimate, open } = estimatesOf(request, routed.value, at, 'bound');
  /** The bound where hard budgets have this room. */
  const fitting = (room: Partial<Amounts>) => {
    const budgets = budgetUnits.flatMap((unit) => {
      const amount = room[unit];
      return amount == null ? [] : [{ id: unit, scope: 'account', project: '', unit, amount, isHard: true } as const];
    });
    const steps = ({ unit }: HeldBudget, amounts = estimate) => stepsOf(unit, amounts[unit] ?? 0);
    const shares = budgets.map((each) => ({
      steps: steps(each),
      bounded: steps(each, open?.bounded),
      whole: steps(each, open?.whole),
    }));
    const { answer, refusedBy } = new KnownUse(1).decide('2026-11', budgets, shares, open);
    return refusedBy === null ? answer : 'refused';
  };
  const amountsOf = (maxTokens: number) => estimateCall({ ...request, maxTokens }, model, failoverChain[0], at);
  const estimatesBy = (keeping: Keeping) => estimatesOf(request, routed.value, at, keeping);
  return { amountsOf, estimatesBy, fitting };
}

test('of tokens it is what the prompt leaves, for each of the answers', () => {
  expect(callOf(100_000).fitting({ tokens: 1100 })).toBe(1000);
  expect(callOf(100_000, 2).fitting({ tokens: 1100 })).toBe(500);
});

test('of several units the least holds, and the estimate of such an answer is what is left', () => {
  const { amountsOf, fitting } = callOf(100_000);
  for (const unit of ['energy_wh', 'carbon_g'] as const) {
    const left = amountsOf(700)[unit] ?? 0;
    expect(left).toBeGreaterThan(0);
    const longest = fitting({ [unit]: left, tokens: 50_000 }) ?? 0;
    // An answer's use grows faster than its length, and a line through two of them is above it in between.
    expect(longest).toBeGreaterThanOrEqual(600);
    expect(longest).toBeLessThanOrEqual(700);
  }
});

test('several answers take what as many take by themselves: each has a context of its own', () => {
  const written = (answers: number) => {
    const { amountsOf } = callOf(100_000, answers);
    return (amountsOf(4000).energy_wh ?? Number.NaN) - (amountsOf(0).energy_wh ?? Number.NaN);
  };
  expect(written(4) / written(1)).toBeCloseTo(4, 8);
});

test('no budget admits a call that it has no room for, and a long answer has no longer bound than every model takes', () => {
  expect(callOf(100_000).fitting({ tokens: 499 })).toBe('refused');
  expect(callOf(100_000).fitting({ tokens: 99_999 })).toBe(4096);
});

test('where the provider takes no bound, the longest answer is reserved', () => {
  const { amountsOf, estimatesBy } = callOf(2000);
  expect(estimatesBy('reserve')).toMatchObject({ estimate: amountsOf(1900), assumed: amountsOf(400), open: null });
  expect(estimatesBy(null)).toMatchObject({ estimate: amountsOf(400), open: null });
  expect(callOf(null).estimatesBy('reserve').estimate.tokens).toBe(100 + 131_072);
});

test('nothing is bounded where no hard budget holds, or where the window of the model ends an answer before', () => {
  expect(callOf(2000).fitting({})).toBeNull();
  expect(callOf(2000).fitting({ tokens: 2100 })).toBeNull();
  // The prompt of 100 tokens, as far as its bytes tell, can have 250.
  expect(callOf(2000).fitting({ tokens: 1900 })).toBe(1750);
  // So there may be no room for an answer of the usual length, and what the window leaves is reserved.
  expect(callOf(600).estimatesBy('bound')).toMatchObject({ estimate: callOf(600).amountsOf(500), open: null });
  expect(callOf(null).fitting({ tokens: 1e9 })).toBeNull();
  expect(callOf(null).fitting({ tokens: 2100 })).toBe(2000);
});

test('a call to an alias assumes the most that one of its targets takes, and reserves what the first does', () => {
  const size = (id: string, billions: number) => {
    const parameters = { min: billions, max: billions };
    return { ...plainModel, id, totalParametersB: parameters, activeParametersB: parameters };
  };
  const catalogue = makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models: [size('small', 1), size('large', 70)],
    regions: [region],
    deployments: ['small', 'large'].map((id) => ({ ...plainDeployment, id, models: { [id]: id } })),
    aliases: [{ id: 'best', created: 0, targets: [{ model: 'small' }, { model: 'large' }] }],
    grid: grid === null ? [] : [grid],
  });
  const estimates = (model: string, maxTokens: number | null) => {
    const request = { ...parsedForTests({ estimatedPromptTokens: 100, maxTokens }), model };
    const routed = chooseRoute(request, catalogue, null, steeringForTests(at));
    if (!routed.ok) throw new Error(routed.error.code);
    return estimatesOf(request, routed.value, at, null);
  };
  for (const maxTokens of [null, 50, 5000]) {
    const [alias, small, large] = ['best', 'small', 'large'].map((model) => estimates(model, maxTokens));
    expect(alias?.assumed).toEqual(large?.assumed);
    expect(alias?.estimate).toEqual(small?.estimate);
    expect(Number(large?.assumed.energy_wh)).toBeGreaterThan(Number(small?.assumed.energy_wh));
  }
});
