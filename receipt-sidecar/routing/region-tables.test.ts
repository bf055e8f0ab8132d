/**
 * Random tables of regions: a call goes where a receipt of it would state the least carbon, fails over in that order, and its trace says so.
 *
 * What is expected is computed here, from the receipt that each region would give (`assess`), without the code that routes.
 */
import { elementAt } from '@gw/contract/internal/defined';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { type RoutingTrace, routingTraceSchema } from '@gw/contract/routing-trace';
import { assess, type CallFacts, type TokenUsage } from '@gw/methodology/assess';
import { readMelious } from '@gw/methodology/telemetry/melious';
import { cases } from '@gw/testing/cases';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { chainOf } from '@gw/testing/receipt-sidecar/chain';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { footprintAt } from '../receipt/footprint.ts';
import { type CallOutcome, makeReceipt } from '../receipt/receipt.ts';
import { chooseRoute } from './route.ts';
import { routingTrace } from './routing-trace.ts';

const at = '2026-11-21T09:10:00.000Z';
const minutesAgo = (minutes: number) => new Date(Date.parse(at) - minutes * 60_000).toISOString();

interface TabledRegion {
  readonly gPerKwh: number;
  /** Minutes since the end of the hour that the value is for; it steers while this is at most 60. */
  readonly age: number;
  readonly pue: number;
  readonly accelerators: Snapshot['deployments'][number]['accelerators'];
  readonly typicalConcurrency: number | null;
  readonly isMetered: boolean;
  readonly status: 'active' | 'degraded';
  readonly rests: boolean;
}
interface Table {
  readonly places: readonly TabledRegion[];
  readonly isMeasured: boolean;
  readonly boundary: 'comprehensive' | 'narrow';
  readonly prompt: number;
  readonly most: number;
  readonly answer: number;
  /** How many attempts fail, if there are so many others. */
  readonly failures: number;
}

const place: fc.Arbitrary<TabledRegion> = fc.record({
  gPerKwh: fc.integer({ min: 5, max: 900 }),
  age: fc.constantFrom(0, 10, 59, 61, 500),
  pue: fc.constantFrom(1.02, 1.1, 1.25, 1.4, 1.9),
  accelerators: fc.constantFrom(null, { model: 'H100-SXM5-80GB', count: 8 }, { model: 'A100-SXM4-80GB', count: 4 }),
  typicalConcurrency: fc.constantFrom(null, 8, 64.5),
  isMetered: fc.boolean(),
  status: fc.constantFrom('active', 'active', 'active', 'degraded'),
  rests: fc.constantFrom(false, false, false, true),
});
const table: fc.Arbitrary<Table> = fc.record({
  places: fc.array(place, { minLength: 2, maxLength: 6 }),
  isMeasured: fc.constantFrom(false, false, false, true),
  boundary: fc.constantFrom('comprehensive', 'narrow'),
  prompt: fc.integer({ min: 1, max: 20_000 }),
  most: fc.integer({ min: 1, max: 4000 }),
  answer: fc.integer({ min: 1, max: 4000 }),
  failures: fc.constantFrom(0, 0, 1, 2, 3),
});

const idOf = (index: number) => `d${index}`;
const model = { ...plainModel, activeParametersB: { min: 70, max: 70 }, totalParametersB: { min: 70, max: 70 } };

function snapshotOf({ places }: Table): Snapshot {
  const readingOf = ({ age, gPerKwh }: TabledRegion, index: number): Snapshot['grid'][number] => ({
    zone: `z${index}`,
    gPerKwh,
    source: 's',
    signal: 'average',
    basis: 'lifecycle',
    temporalMatch: null,
    waterLPerKwh: null,
    periodStart: minutesAgo(age + 60),
    periodEnd: minutesAgo(age),
    observedAt: minutesAgo(age + 60),
  });
  return {
    ...emptySnapshot,
    publishedAt: at,
    models: [model],
    regions: places.map(({ status }, index) => ({
      code: `r${index}`,
      name: 'r',
      country: 'x',
      gridZone: `z${index}`,
      status,
      preference: index,
    })),
    deployments: places.map(({ accelerators, isMetered, pue, typicalConcurrency }, index) => ({
      ...plainDeployment,
      id: idOf(index),
      region: `r${index}`,
      pue,
      accelerators,
      typicalConcurrency,
      telemetry: isMetered ? 'melious' : null,
    })),
    grid: places.map(readingOf),
  };
}

/** The carbon that a receipt of the call would state in a region, modelled. */
function statedAt({ boundary, places }: Table, index: number, usage: TokenUsage, upstreamLatencyS: number | null) {
  const snapshot = snapshotOf({ places } as Table);
  const [site, grid] = [snapshot.deployments[index], snapshot.grid[index]];
  if (!site || !grid) throw new Error(`There is no region ${index}.`);
  const facts: CallFacts = {
    requestedTier: 'auto',
    boundary,
    requestedAt: at,
    usage,
    upstreamLatencyS,
    model,
    site,
    grid,
  };
  const assessed = assess(facts);
  if (!assessed.ok || assessed.impact.carbon_g === null) throw new Error('The call cannot be assessed.');
  return assessed.impact.carbon_g;
}

/** About what the model of these tables takes, so that no figure is refused. */
const measuredOf = ({ answer, prompt }: Table) =>
  readMelious({ environment_impact: { energy_kwh: 5e-7 * answer + 7e-8 * prompt } });
/** Sums of rounded parts can differ in the twelfth digit. */
/** Eleven digits, of which a difference of two can lose one. */
const closeTo = (grams: number) => expect.closeTo(grams, 9);

function expectedOf(one: Table) {
  const indexes = one.places.map((_, index) => index);
  const placeOf = (index: number) => elementAt(one.places, index);
  const eligible = indexes.filter(
    (index) => placeOf(index).status === 'active' && (!one.isMeasured || placeOf(index).isMetered),
  );
  const awake = eligible.filter((index) => !placeOf(index).rests);
  const able = awake.length > 0 ? awake : eligible;
  const live = able.filter((index) => placeOf(index).age <= 60);
  const usage = { promptTokens: one.prompt, cachedPromptTokens: 0, completionTokens: one.most };
  const grams = new Map(indexes.map((index) => [index, statedAt(one, index, usage, null)]));
  const gramsOf = (index: number) => grams.get(index) ?? Number.NaN;
  const isCompared = live.length > 1;
  const byCarbon = isCompared ? live.toSorted((a, b) => gramsOf(a) - gramsOf(b)) : able.slice(0, 1);
  const others = eligible.filter((index) => !byCarbon.includes(index));
  const last = isCompared
    ? [...others.filter((index) => able.includes(index)), ...others.filter((index) => !able.includes(index))]
    : others;
  return { able, eligible, gramsOf, isCompared, live, chain: [...byCarbon, ...last] };
}

it('of 200 tables the choice has the lowest grams of those eligible, and saving and trace agree with the receipts', () => {
  const seen = { compared: 0, failedOver: 0, savings: 0, lowestIntensityIsNotChosen: 0 };
  const check = (one: Table) => {
    const snapshot = snapshotOf(one);
    const catalogue = makeCatalogue(snapshot);
    const options = { boundary: one.boundary, ...(one.isMeasured && { tier: 'telemetry' as const }) };
    const request = parsedForTests({ options, estimatedPromptTokens: one.prompt, maxTokens: one.most });
    const isResting = (id: string) => one.places[Number(id.slice(1))]?.rests === true;
    // A region that measures only the total cannot serve a narrow call.
    if (one.isMeasured && one.boundary === 'narrow') return;
    const routed = chooseRoute(request, catalogue, null, steeringForTests(at, { isResting }));
    const expected = expectedOf(one);
    if (!routed.ok) {
      expect(expected.chain).toEqual([]);
      return;
    }
    const route = routed.value;
    expect(chainOf(route)).toBe(expected.chain.map(idOf).join('>'));

    const failed = Math.min(one.failures, expected.chain.length - 1);
    const servedIndex = expected.chain[failed] ?? Number.NaN;
    const served = route.failoverChain[failed] ?? null;
    const usage = { promptTokens: one.prompt, cachedPromptTokens: 0, completionTokens: one.answer };
    const identity = { receiptId: 'rcpt', createdAt: at, requestId: null, project: null, request, route };
    const outcome: CallOutcome = {
      status: 'complete',
      servedBy: served,
      usage,
      upstreamLatencyS: 3,
      ...(one.places[servedIndex]?.isMetered && { telemetry: measuredOf(one) }),
    };
    const made = makeReceipt(identity, outcome, (error) => {
      throw error;
    });
    const trace: RoutingTrace = routingTrace(route, {
      by: served,
      attempts: failed + 1,
      status: 200,
      fault: null,
      failures: [],
      requestedAt: at,
      footprintAt: (candidate) => footprintAt(identity, outcome, made.numbers, candidate),
      cachedTokens: null,
      uncachedFootprint: () => null,
    });
    expect(routingTraceSchema.parse(trace)).toEqual(trace);

    const reason = trace.fallback_reason;
    expect(trace.policy).toBe(expected.isCompared ? 'carbon_aware' : 'provider_preference');
    expect(trace.fallback).toBe(!expected.isCompared || failed > 0);
    if (expected.isCompared) expect(reason).toBe(failed > 0 ? 'failed_over' : null);
    expect(trace.region).toBe(`r${servedIndex}`);
    for (const [index, candidate] of trace.candidates.entries()) {
      const isCompared = expected.isCompared && expected.live.includes(index);
      expect(candidate).toMatchObject({
        region: `r${index}`,
        eligible: isCompared,
        estimate: isCompared ? { carbon_g: closeTo(expected.gramsOf(index)) } : null,
      });
      const stated = candidate.estimate?.typical_concurrency ?? null;
      expect(stated).toBe(isCompared ? (one.places[index]?.typicalConcurrency ?? null) : null);
    }

    const [preferred = Number.NaN] = expected.able;
    expect(trace.counterfactual?.region).toBe(`r${preferred}`);
    const hasFailed = expected.chain.slice(0, failed).includes(preferred);
    const areCompared = expected.isCompared && [preferred, servedIndex].every((index) => expected.live.includes(index));
    const saving = trace.estimated_saving_g;
    if (preferred === servedIndex) expect(saving).toBe(0);
    else if (hasFailed || !areCompared) expect(saving).toBeNull();
    else {
      const [there, here] = [preferred, servedIndex].map((index) => statedAt(one, index, usage, 3));
      expect(saving).toEqual(closeTo((there ?? Number.NaN) - (here ?? Number.NaN)));
      seen.savings += 1;
    }
    if (expected.isCompared) seen.compared += 1;
    if (reason === 'failed_over') seen.failedOver += 1;
    const intensities = expected.live.map((index) => one.places[index]?.gPerKwh ?? Number.NaN);
    if (expected.isCompared && Math.min(...intensities) !== one.places[expected.chain[0] ?? 0]?.gPerKwh)
      seen.lowestIntensityIsNotChosen += 1;
  };
  fc.assert(fc.property(table, check), { numRuns: Math.max(200, cases(2000)), seed: 20_261_121 });
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
});
