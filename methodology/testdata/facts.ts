/** Facts of a plausible call, and generators for the property tests. */
import fc from 'fast-check';
import type { CallFacts, GridReading, ModelFacts } from '../facts/facts.ts';

export const dense70b: ModelFacts = {
  kind: 'chat',
  activeParametersB: { min: 70, max: 70 },
  totalParametersB: { min: 70, max: 70 },
  modelClass: 'large',
  quantizationBits: null,
  tokensPerS: null,
  ttftS: null,
};

export const embedding: ModelFacts = {
  ...dense70b,
  kind: 'embedding',
  activeParametersB: { min: 0.3, max: 0.3 },
  totalParametersB: { min: 0.3, max: 0.3 },
  modelClass: 'embedding',
};

export const hourly: GridReading = {
  zone: 'DEU',
  gPerKwh: 329.65,
  source: 'test',
  signal: 'average',
  periodStart: '2026-11-21T09:00:00.000Z',
  periodEnd: '2026-11-21T10:00:00.000Z',
  observedAt: '2026-11-21T09:00:00.000Z',
  temporalMatch: null,
  waterLPerKwh: 1.947,
};

export const call: CallFacts = {
  requestedTier: 'auto',
  boundary: 'comprehensive',
  requestedAt: '2026-11-21T09:30:00.000Z',
  usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 },
  upstreamLatencyS: null,
  model: dense70b,
  site: { pue: 1.2, wueOnsiteLPerKwh: 0.3 },
  grid: hourly,
};

const amount = (max: number) => fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true });
const above = (min: number, max: number) => fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
/** Down to ranges so narrow that rounding alone could push the value out of its bounds. */
const ratio = fc.oneof(above(1, 4), above(1, 1 + 1e-11));
const range = fc.tuple(above(0.05, 2000), ratio).map(([min, times]) => ({ min, max: min * times }));
const fixed = above(0.05, 2000).map((count) => ({ min: count, max: count }));

/** No more work on a token than there are: the catalogue refuses that, and so does the calculation. */
function possible(model: ModelFacts): ModelFacts {
  const { activeParametersB: active, totalParametersB: total } = model;
  if (active === null || total === null) return model;
  const least = { min: Math.min(active.min, total.min), max: Math.min(active.max, total.max) };
  return { ...model, activeParametersB: least };
}

const models: fc.Arbitrary<ModelFacts> = fc
  .record({
    kind: fc.constantFrom('chat', 'embedding'),
    activeParametersB: fc.option(fc.oneof(range, fixed)),
    totalParametersB: fc.option(fc.oneof(range, fixed)),
    modelClass: fc.constantFrom('small', 'medium', 'large', 'moe_small_active', 'frontier', 'unknown', 'embedding'),
    quantizationBits: fc.option(fc.constantFrom(4, 8, 16, 32)),
    tokensPerS: fc.option(above(0.1, 5000)),
    ttftS: fc.option(amount(30)),
  })
  .map(possible);

/** Calls that can all be assessed, over the whole domain of the formulas. */
export const calls: fc.Arbitrary<CallFacts> = fc.record({
  requestedTier: fc.constantFrom('auto', 'proxy'),
  boundary: fc.constantFrom('comprehensive', 'narrow'),
  requestedAt: fc.constant(call.requestedAt),
  usage: fc.record({
    promptTokens: fc.nat(2_000_000),
    cachedPromptTokens: fc.nat(3000),
    completionTokens: fc.nat(200_000),
  }),
  upstreamLatencyS: fc.option(amount(3600)),
  model: models,
  site: fc.record({
    pue: above(1, 3),
    wueOnsiteLPerKwh: fc.option(amount(10)),
    typicalConcurrency: fc.option(above(1, 10_000)),
  }),
  grid: fc.record({
    zone: fc.constant('DEU'),
    gPerKwh: amount(2000),
    source: fc.constant('test'),
    signal: fc.constant('average' as const),
    periodStart: fc.constant(hourly.periodStart),
    periodEnd: fc.constant(hourly.periodEnd),
    observedAt: fc.constant(hourly.observedAt),
    temporalMatch: fc.constant(null),
    waterLPerKwh: fc.option(amount(20)),
  }),
});
