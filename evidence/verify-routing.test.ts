import { readFileSync } from 'node:fs';
import type { Receipt } from '@gw/contract/receipt';
import { type RoutingTrace, routingTraceSchema } from '@gw/contract/routing-trace';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { describe, expect, it } from 'vitest';
import { receiptNode } from './receipt-node.ts';
import { RoutingCheck } from './verify-routing.ts';

const example = (name: string) =>
  JSON.parse(readFileSync(new URL(`../docs/examples/${name}.json`, import.meta.url), 'utf8'));
const receipt: Receipt = example('receipt');
const lineage: { lineage: { facts: CallFacts } } = example('lineage');
const { facts } = lineage.lineage;

/** The grams that a receipt of the call would state at a place. */
function stated(pue: number, gPerKwh: number, changes: Partial<CallFacts> = {}, typicalConcurrency?: number): number {
  const grid = facts.grid && { ...facts.grid, gPerKwh };
  const assessment = assess({ ...facts, ...changes, site: { ...facts.site, pue, typicalConcurrency }, grid });
  if (!assessment.ok || assessment.impact.carbon_g === null) throw new Error('There is no carbon.');
  return assessment.impact.carbon_g;
}

const tokens = { prompt: 1000, completion: 900 };
const before = {
  usage: { promptTokens: tokens.prompt, completionTokens: tokens.completion, cachedPromptTokens: 0 },
  upstreamLatencyS: null,
};
const candidate = (region: string, pue: number, gPerKwh: number): RoutingTrace['candidates'][number] => ({
  region,
  g_per_kwh: gPerKwh,
  age_minutes: 0,
  kind: 'average',
  basis: 'lifecycle',
  eligible: true,
  excluded_reason: null,
  estimate: { carbon_g: stated(pue, gPerKwh, before), pue },
});
/** The receipt was served in us-east; de comes first in the preference. */
const [here, there] = [stated(1.15, 384.4), stated(1.4, 390)];
const trace: RoutingTrace = {
  policy: 'carbon_aware',
  decision: 'In words.',
  fallback: false,
  fallback_reason: null,
  region: 'us-east',
  deployment: 'sim-us-east',
  attempts: { count: 1, failed: [] },
  estimated_tokens: tokens,
  operational_signal: null,
  candidates: [candidate('de', 1.4, 390), candidate('us-east', 1.15, 384.4)],
  estimated_saving_g: Number((there - here).toPrecision(12)),
  counterfactual: { region: 'de', g_per_kwh: 390, carbon_g: there, served_carbon_g: here },
};

interface Case {
  readonly receipt?: Partial<Receipt>;
  readonly trace?: Partial<RoutingTrace>;
  readonly withLineage?: boolean;
}
function checked({ receipt: ofReceipt, trace: ofTrace, withLineage = true }: Case = {}) {
  const check = new RoutingCheck();
  const routing = ofTrace === undefined ? trace : { ...trace, ...ofTrace };
  const packed = { receipt: { ...receipt, ...ofReceipt }, lineage: withLineage ? lineage : null, routing };
  const faults = check.add(receiptNode(packed, 'https://gw.example'));
  return { fields: faults.map(({ field }) => field), ...check.result() };
}

describe('the routing of a call', () => {
  it('holds, and its saving follows from the facts', () => {
    expect(routingTraceSchema.parse(trace)).toEqual(trace);
    expect(checked()).toEqual({
      fields: [],
      pins: { asked: 0, held: 0, unanswered: 0 },
      traces: 1,
      choices: 1,
      savings: { stated: 1, recomputed: 1, grams: String(trace.estimated_saving_g) },
    });
    expect(checked({ withLineage: false })).toMatchObject({ fields: [], savings: { stated: 1, recomputed: 0 } });
  });

  it('is computed by the typical concurrency that each place states', () => {
    const [de, us] = trace.candidates;
    const estimate = { carbon_g: stated(1.4, 390, before, 40), pue: 1.4, typical_concurrency: 40 };
    const busy = stated(1.4, 390, {}, 40);
    const counterfactual = trace.counterfactual && { ...trace.counterfactual, carbon_g: busy };
    const candidates = de && us ? [{ ...de, estimate }, us] : [];
    const saving = { counterfactual, estimated_saving_g: Number((busy - here).toPrecision(12)) };
    expect(checked({ trace: { candidates, ...saving } }).fields).toEqual([]);
  });

  it('that pinned a region was served there, or nowhere', () => {
    const pinned: Partial<RoutingTrace> = {
      policy: 'pinned',
      candidates: [],
      estimated_tokens: null,
      estimated_saving_g: null,
      counterfactual: null,
    };
    const asked = { pinned_region: 'us-east' };
    expect(checked({ receipt: asked, trace: pinned })).toMatchObject({ fields: [], pins: { asked: 1, held: 1 } });
    const nowhere = { receipt: { ...asked, region: null }, trace: { ...pinned, region: null } };
    expect(checked(nowhere)).toMatchObject({ fields: [], pins: { asked: 1, held: 0, unanswered: 1 } });
    const elsewhere = { receipt: { pinned_region: 'eu-north' }, trace: pinned };
    expect(checked(elsewhere)).toMatchObject({ fields: ['region'], pins: { asked: 1, held: 0 } });
    expect(checked({ receipt: asked }).fields).toEqual(['routing.policy']);
    expect(checked({ trace: pinned }).fields).toEqual(['routing.policy']);
  });

  const altered = { ...candidate('us-east', 1.15, 384.4), estimate: { carbon_g: 1e-6, pue: 1.15 } };
  it.each<[string, Partial<RoutingTrace>, string[]]>([
    [
      'another region',
      { region: 'de' },
      ['routing.region', 'routing.region', 'routing.counterfactual.served_carbon_g'],
    ],
    ['another estimate', { candidates: [candidate('de', 1.4, 390), altered] }, ['routing.candidates.us-east']],
    ['a higher saving', { estimated_saving_g: 1 }, ['routing.estimated_saving_g']],
    [
      'a saving that is made to fit',
      {
        estimated_saving_g: 1,
        counterfactual: { region: 'de', g_per_kwh: 390, carbon_g: here + 1, served_carbon_g: here },
      },
      ['routing.counterfactual.carbon_g'],
    ],
    ['a fail-over of one attempt', { fallback: true, fallback_reason: 'failed_over' }, ['routing.attempts']],
    ['no trace at all', { policy: 'magic' as never }, ['routing']],
  ])('is found out if it states %s', (_, changes, fields) => {
    expect(checked({ trace: changes }).fields).toEqual(fields);
  });

  describe('that failed over', () => {
    const lower = candidate('se', 1.1, 40);
    const failed = (...regions: string[]) =>
      regions.map((region) => ({ deployment: `of-${region}`, region, outcome: 'server_error' }));
    const over = (region: string, regions: string[], more: Partial<RoutingTrace> = {}) =>
      checked({
        receipt: { region },
        trace: {
          region,
          fallback: true,
          fallback_reason: 'failed_over',
          attempts: { count: regions.length + 1, failed: failed(...regions) },
          candidates: [candidate('de', 1.4, 390), candidate('us-east', 1.15, 384.4), lower],
          counterfactual: null,
          estimated_saving_g: null,
          ...more,
        },
      }).fields;

    it('went to the next lowest estimate, and to a region without one after all others', () => {
      expect(over('us-east', ['se'])).toEqual([]);
      expect(over('us-east', ['se', 'se'])).toEqual([]);
      expect(over('de', ['se', 'us-east'])).toEqual([]);
      expect(over('fr', ['se', 'us-east', 'de'])).toEqual([]);
      // The last one that was tried has answered, with an error.
      expect(over('us-east', ['se', 'us-east'], { attempts: { count: 2, failed: failed('se', 'us-east') } })).toEqual(
        [],
      );
    });

    it.each([
      ['past the next lowest estimate', 'de', ['se']],
      ['past the choice itself', 'us-east', ['de']],
      ['to a region without an estimate, past one that has one', 'fr', ['se', 'us-east']],
    ])('is found out if it went %s', (_, region, regions) => {
      expect(over(region, regions)).toEqual(['routing.region']);
    });

    it('is found out if nobody has answered it', () => {
      expect(over('us-east', ['se'], { region: null })).toContain('routing.region');
    });
  });

  it('is counted once, with its first version', () => {
    expect(checked({ receipt: { version: 2, pinned_region: 'eu-north' } })).toMatchObject({ fields: [], traces: 0 });
  });
});
