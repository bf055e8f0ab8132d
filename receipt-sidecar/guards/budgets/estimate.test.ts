/** The longest answers that fit into budgets. */
import type { Amounts } from '@gw/contract/internal/budgets';
import { annualReading } from '@gw/methodology/grid-annual';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { expect, test } from 'vitest';
import { makeCatalogue } from '../../catalogue/snapshot.ts';
import { chooseRoute } from '../../routing/route.ts';
import { estimateCall, estimatesOf, fittingAnswer } from './estimate.ts';

const at = '2026-11-21T09:10:00.000Z';
const grid = annualReading('DEU');
const region = { code: 'us', name: 'us', country: 'us', gridZone: 'DEU', status: 'active', preference: 0 } as const;
const nothing: Amounts = { carbon_g: null, energy_wh: null, tokens: null, cost: null };

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
  const { assumed } = estimatesOf(request, routed.value, at);
  const fitting = (room: Partial<Amounts>) =>
    fittingAnswer(request, model, failoverChain[0], { assumed, at, room: { ...nothing, ...room } });
  const amountsOf = (maxTokens: number) => estimateCall({ ...request, maxTokens }, model, failoverChain[0], at);
  return { amountsOf, fitting };
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
    expect(longest).toBeGreaterThanOrEqual(695);
    expect(longest).toBeLessThanOrEqual(700);
  }
});

test('nothing is bounded where no hard budget holds, or where the window of the model ends an answer before', () => {
  expect(callOf(2000).fitting({})).toBeNull();
  expect(callOf(2000).fitting({ tokens: 2100 })).toBeNull();
  expect(callOf(2000).fitting({ tokens: 1900 })).toBe(1800);
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
    return estimatesOf(request, routed.value, at);
  };
  for (const maxTokens of [null, 50, 5000]) {
    const [alias, small, large] = ['best', 'small', 'large'].map((model) => estimates(model, maxTokens));
    expect(alias?.assumed).toEqual(large?.assumed);
    expect(alias?.estimate).toEqual(small?.estimate);
    expect(Number(large?.assumed.energy_wh)).toBeGreaterThan(Number(small?.assumed.energy_wh));
  }
});
