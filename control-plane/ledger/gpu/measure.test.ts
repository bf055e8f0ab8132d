import { cases } from '@gw/testing/cases';
import { dcgm, type StubSeries, vllm } from '@gw/testing/control-plane/stub-prometheus';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Measured, type MeasuredCall, measureCall } from './measure.ts';
import type { Series } from './prometheus.ts';

const rules = { marginS: 1, maxGapS: 60 };
const call: MeasuredCall = { startS: 1003, endS: 1010, tokens: 500, gpus: null };
const mj = { unit: 'mJ' } as const;

const read = ({ metric, values }: StubSeries): Series => ({
  labels: metric,
  samples: values.map(([atS, value]) => ({ atS, value: Number(value) })),
});
/** Scraped every 15 s: at 1000 and 1015 around the call. */
const gpu = (uuid: string, from: number, to: number, more?: Record<string, string>) =>
  read(
    dcgm(
      uuid,
      [
        [985, '0'],
        [1000, String(from)],
        [1015, String(to)],
        [1030, String(to + 9e9)],
      ],
      more,
    ),
  );
const served = (kind: 'prompt' | 'generation', from: number, to: number, more?: Record<string, string>) =>
  read(
    vllm(
      kind,
      [
        [1000, String(from)],
        [1015, String(to)],
      ],
      more,
    ),
  );
const tokens = [served('prompt', 10_000, 11_200), served('generation', 5000, 5800)];
const two = [gpu('a', 5e6, 5e6 + 3_600_000), gpu('b', 7e6, 7e6 + 3_600_000)];

const energyOf = (measured: Measured | null): number => {
  if (measured === null || 'refused' in measured) throw new Error(JSON.stringify(measured));
  return measured.energyWh;
};

describe('the energy of a call', () => {
  it('is what all its GPUs used between the samples around it, by its share of the tokens', () => {
    const measured = measureCall(call, mj, { energy: two, tokens }, rules);
    expect(measured).toMatchObject({
      source: 'gpu_counters',
      scope: 'accelerator',
      includesPue: false,
      energyWh: 0.5,
      intervalS: 15,
      stated: { value: 7_200_000, unit: 'mJ', tokens: { call: 500, all: 2000 } },
    });
    expect(measured?.raw).toEqual({
      callTokens: 500,
      allTokens: 2000,
      seen: [
        { series: 'a', unit: 'mJ', before: [1000, 5e6], after: [1015, 8.6e6] },
        { series: 'b', unit: 'mJ', before: [1000, 7e6], after: [1015, 10.6e6] },
        {
          series: 'vllm:prompt_tokens_total{instance="gpu-1:8000",model_name="m"}',
          unit: 'token',
          before: [1000, 10_000],
          after: [1015, 11_200],
        },
        {
          series: 'vllm:generation_tokens_total{instance="gpu-1:8000",model_name="m"}',
          unit: 'token',
          before: [1000, 5000],
          after: [1015, 5800],
        },
      ],
    });
  });

  it.each([
    ['J', 3600],
    ['Wh', 1],
    ['kWh', 0.001],
  ] as const)('is converted from %s', (unit, used) => {
    const energy = [gpu('a', 100, 100 + used)];
    expect(energyOf(measureCall(call, { unit }, { energy, tokens }, rules))).toBeCloseTo(0.25, 9);
  });

  it('takes the whole of the interval of GPUs that are scraped at different times, and states it', () => {
    const other = read(
      dcgm('b', [
        [995, '0'],
        [1001, '0'],
        [1020, '3600000'],
      ]),
    );
    const measured = measureCall(call, mj, { energy: [gpu('a', 0, 3_600_000), other], tokens }, rules);
    expect(measured).toMatchObject({ energyWh: 0.5, intervalS: 20 });
  });

  it('keeps clear of the ends of the call by the margin', () => {
    const close = read(
      dcgm('a', [
        [990, '0'],
        [1002.5, '1'],
        [1010.5, '2'],
        [1020, '3600000'],
      ]),
    );
    expect(energyOf(measureCall(call, mj, { energy: [close], tokens }, rules))).toBe(0.25);
  });

  it('sums up, over all calls of an interval, to what was counted', () => {
    const parts = fc.array(fc.nat(5000), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 1e9 }), (shares, used) => {
        const all = shares.reduce((sum, share) => sum + share, 0);
        fc.pre(all > 0);
        const energy = [gpu('a', 0, used)];
        const counted = [served('prompt', 0, all), served('generation', 0, 0)];
        const sum = shares
          .map((share) => energyOf(measureCall({ ...call, tokens: share }, mj, { energy, tokens: counted }, rules)))
          .reduce((total, wh) => total + wh, 0);
        expect(Math.abs(sum - used / 3.6e6)).toBeLessThanOrEqual(1e-9 * (used / 3.6e6));
      }),
    );
  });
});

describe('a GPU is counted once', () => {
  it('though two exporters report it', () => {
    const twice = [...two, gpu('a', 5e6 + 10, 5e6 + 3_600_010, { instance: 'replica' })];
    expect(energyOf(measureCall({ ...call, gpus: 2 }, mj, { energy: twice, tokens }, rules))).toBe(0.5);
  });

  it('though its labels changed during the call', () => {
    const before = read(dcgm('a', [[1000, '0']], { pod: 'old' }));
    const after = read(dcgm('a', [[1015, '3600000']], { pod: 'new' }));
    expect(energyOf(measureCall(call, mj, { energy: [before, after], tokens }, rules))).toBe(0.25);
  });

  it('though two exporters that disagree by an instant would look like a reset', () => {
    const first = read(
      dcgm('a', [
        [1000, '100'],
        [1005, '1900'],
        [1015, '3600100'],
      ]),
    );
    const second = read(
      dcgm(
        'a',
        [
          [1000.01, '99'],
          [1005.01, '1899'],
          [1015.01, '3600099'],
        ],
        { job: 'b' },
      ),
    );
    expect(energyOf(measureCall(call, mj, { energy: [first, second], tokens }, rules))).toBe(0.25);
  });
});

describe('nothing is said', () => {
  const silent = (change: Partial<{ energy: Series[]; tokens: Series[]; call: Partial<MeasuredCall> }>) =>
    measureCall({ ...call, ...change.call }, mj, { energy: two, tokens, ...change }, rules);

  it.each<[string, Parameters<typeof silent>[0]]>([
    ['before the sample after the call is there', { energy: [read(dcgm('a', [[1000, '0']]))] }],
    ['without a sample before the call', { energy: [read(dcgm('a', [[1015, '5']]))] }],
    [
      'if a sample is further away than allowed',
      {
        energy: [
          read(
            dcgm('a', [
              [900, '0'],
              [1015, '5'],
            ]),
          ),
        ],
      },
    ],
    ['if one GPU of several has vanished', { energy: [...two, read(dcgm('c', [[1000, '5']]))] }],
    ['if the deployment has more GPUs than are counted', { call: { gpus: 8 } }],
    ['if it has fewer', { call: { gpus: 1 } }],
    ['without GPUs', { energy: [] }],
    ['without token counters', { tokens: [] }],
    [
      'if a token counter is not there yet',
      {
        tokens: [...tokens, served('prompt', 0, 5, { instance: 'b' })].map((each, i) =>
          i < 2 ? each : { ...each, samples: each.samples.slice(0, 1) },
        ),
      },
    ],
    ['if the call has no time', { call: { startS: Number.NaN, endS: Number.NaN } }],
  ])('%s', (_name, change) => {
    expect(silent(change)).toBeNull();
  });

  it('for a counter that went away long before the call, which is no counter of it', () => {
    const gone = read(
      dcgm('old', [
        [100, '5'],
        [900, '6'],
      ]),
    );
    expect(energyOf(silent({ energy: [...two, gone] }))).toBe(0.5);
  });
});

describe('is refused, with what was seen', () => {
  const refusedBy = (energy: Series[], counted: Series[], tokensOfCall = 500) =>
    measureCall({ ...call, tokens: tokensOfCall }, mj, { energy, tokens: counted }, rules);

  it('a counter that went backwards, even if it has grown beyond its old value since', () => {
    const reset = read(
      dcgm('a', [
        [1000, '50'],
        [1005, '0'],
        [1015, '100'],
      ]),
    );
    const result = refusedBy([reset], tokens);
    expect(result).toMatchObject({ refused: 'counter_reset', raw: { seen: [{ before: [1000, 50] }, {}, {}] } });
    const restarted = read(
      vllm('prompt', [
        [1000, '50'],
        [1005, '0'],
        [1015, '1000'],
      ]),
    );
    expect(refusedBy(two, [restarted])).toMatchObject({ refused: 'counter_reset' });
  });

  it('a call with more tokens than all calls together, and an interval without tokens', () => {
    expect(refusedBy(two, tokens, 2001)).toMatchObject({
      refused: 'no_token_share',
      raw: { callTokens: 2001, allTokens: 2000 },
    });
    expect(refusedBy(two, [served('prompt', 7, 7)], 0)).toMatchObject({ refused: 'no_token_share' });
  });
});

it('whatever the samples are, the energy is finite, not negative and at most what was counted', () => {
  const samples = fc
    .array(fc.tuple(fc.integer({ min: 940, max: 1075 }), fc.nat(1e9)), { maxLength: 12 })
    .map((list) => list.toSorted(([a], [b]) => a - b).map(([atS, value]) => ({ atS, value })));
  const series = fc.array(
    fc
      .tuple(fc.constantFrom('a', 'b', 'c'), samples)
      .map(([uuid, list]) => ({ labels: dcgm(uuid, []).metric, samples: list })),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(series, series, fc.nat(1000), (energy, counted, share) => {
      const measured = measureCall({ ...call, tokens: share }, mj, { energy, tokens: counted }, rules);
      if (measured === null || 'refused' in measured) return;
      expect(measured.energyWh).toBeGreaterThanOrEqual(0);
      expect(measured.energyWh).toBeLessThanOrEqual((measured.stated?.value ?? 0) / 3.6e6);
      expect(measured.intervalS).toBeGreaterThanOrEqual(call.endS - call.startS + 2 * rules.marginS);
    }),
    { numRuns: cases(2000) },
  );
});
