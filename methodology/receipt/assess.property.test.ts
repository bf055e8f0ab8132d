import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exact, significantDigits } from '../testdata/exact-decimal.ts';
import { call, calls } from '../testdata/facts.ts';
import { assess, type CallFacts, type Impact } from './assess.ts';

function impact(facts: CallFacts): Impact {
  const assessment = assess(facts);
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

/** Room for the rounding of five parts to the twelfth digit of their sum. */
const roundingRoom = 1 - 1e-10;
const notBelow = (larger: number | null, smaller: number | null) =>
  expect(larger ?? Number.NaN).toBeGreaterThanOrEqual((smaller ?? Number.NaN) * roundingRoom);

const grows = (change: fc.Arbitrary<(facts: CallFacts) => CallFacts>, fields: readonly (keyof Impact)[]) =>
  fc.assert(
    fc.property(calls, change, (facts, more) => {
      const before: Record<string, unknown> = { ...impact(facts) };
      const after: Record<string, unknown> = { ...impact(more(facts)) };
      for (const field of fields) {
        if (before[field] === null) expect(after[field]).toBeNull();
        else notBelow(Number(after[field]), Number(before[field]));
      }
    }),
    { numRuns: cases(1000) },
  );

const amounts = ['energy_wh', 'energy_low_wh', 'energy_high_wh', 'carbon_g', 'carbon_low_g', 'carbon_high_g'] as const;

describe('every impact', () => {
  it('has components that print as exactly their sum', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        const figures = impact(facts);
        const parts = [
          figures.energy_accelerator_wh,
          figures.energy_host_wh,
          figures.energy_idle_wh,
          figures.energy_overhead_wh,
        ];
        const add = (sum: bigint, part: number | null) => sum + (part === null ? 0n : exact(part));
        expect(parts.reduce(add, 0n)).toBe(exact(figures.energy_wh));
        expect([figures.carbon_operation_g, figures.carbon_embodied_g].reduce(add, 0n)).toBe(exact(figures.carbon_g));
      }),
      { numRuns: cases(3000) },
    );
  });

  it('has finite numbers, none negative or -0, of at most 12 digits', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        for (const value of Object.values(impact(facts))) {
          if (typeof value !== 'number') continue;
          expect(Number.isFinite(value) && value >= 0 && !Object.is(value, -0)).toBe(true);
          expect(significantDigits(value)).toBeLessThanOrEqual(12);
        }
      }),
      { numRuns: cases(1000) },
    );
  });

  it('lies within its bounds', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        const figures = impact(facts);
        expect(figures.energy_low_wh <= figures.energy_wh && figures.energy_wh <= figures.energy_high_wh).toBe(true);
        expect(figures.carbon_low_g <= figures.carbon_g && figures.carbon_g <= figures.carbon_high_g).toBe(true);
      }),
      { numRuns: cases(3000) },
    );
  });

  it('is no larger in the narrow boundary than in the comprehensive one', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        const narrow = impact({ ...facts, boundary: 'narrow' });
        const wide = impact({ ...facts, boundary: 'comprehensive' });
        for (const field of amounts) notBelow(wide[field], narrow[field]);
      }),
    );
  });

  it('states an SCI that is operation plus embodied, and a carbon that is energy times intensity', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        const figures = impact({ ...facts, boundary: 'comprehensive' });
        expect(figures.sci_g_per_request).toBe(figures.carbon_g);
        const operation = (figures.energy_wh / 1000) * figures.grid_intensity_g_per_kwh;
        // At the end of what a double can hold there are no twelve digits.
        const least = 1e-200;
        expect(Math.abs(figures.carbon_operation_g - operation)).toBeLessThanOrEqual(
          1e-10 * Math.max(operation, figures.carbon_g) + least,
        );
      }),
    );
  });

  it('does not shrink with more output tokens', () => {
    const more = fc.nat(10_000).map((extra) => (facts: CallFacts) => withTokens(facts, 'completionTokens', extra));
    grows(more, [...amounts, 'water_ml']);
  });

  it('does not shrink with more input tokens', () => {
    const more = fc.nat(10_000).map((extra) => (facts: CallFacts) => withTokens(facts, 'promptTokens', extra));
    grows(more, [...amounts, 'water_ml']);
  });

  it('does not shrink with a higher PUE', () => {
    const more = fc.double({ min: 0, max: 2, noNaN: true }).map((extra) => (facts: CallFacts) => ({
      ...facts,
      site: { ...facts.site, pue: facts.site.pue + extra },
    }));
    grows(more, [...amounts, 'energy_overhead_wh', 'water_ml']);
  });

  it('does not shrink with a dirtier grid, and its energy does not change', () => {
    const more = fc.double({ min: 0, max: 1000, noNaN: true }).map((extra) => (facts: CallFacts) => ({
      ...facts,
      grid: facts.grid === null ? null : { ...facts.grid, gPerKwh: facts.grid.gPerKwh + extra },
    }));
    grows(more, ['carbon_g', 'carbon_operation_g', 'carbon_low_g', 'carbon_high_g']);
    grows(more, ['energy_wh']);
  });

  it('is the same for the same facts', () => {
    fc.assert(
      fc.property(calls, (facts) => {
        expect(assess(structuredClone(facts))).toEqual(assess(facts));
      }),
    );
  });
});

describe('facts out of any range', () => {
  it('never throw, and never give a number that is not finite', () => {
    const wild = fc.oneof(
      fc.double(),
      fc.constantFrom(0, -1, Number.MIN_VALUE, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY),
    );
    const facts = fc.tuple(wild, wild, wild, wild, wild, wild, fc.string()).map(
      ([a, b, c, d, e, f, text]): CallFacts => ({
        ...call,
        requestedAt: text.length > 5 ? text : call.requestedAt,
        usage: { promptTokens: Math.trunc(a), cachedPromptTokens: 0, completionTokens: Math.trunc(b) },
        upstreamLatencyS: c,
        model: { ...call.model, activeParametersB: { min: d, max: e }, tokensPerS: f },
        site: { pue: c, wueOnsiteLPerKwh: a },
        grid: call.grid === null ? null : { ...call.grid, gPerKwh: f, waterLPerKwh: e },
      }),
    );
    fc.assert(
      fc.property(facts, (any) => {
        const assessment = assess(any);
        if (!assessment.ok) return;
        for (const value of Object.values(assessment.impact)) {
          if (typeof value === 'number') expect(Number.isFinite(value) && value >= 0).toBe(true);
        }
      }),
      { numRuns: cases(3000) },
    );
  });
});

function withTokens(facts: CallFacts, field: 'promptTokens' | 'completionTokens', extra: number): CallFacts {
  return facts.usage === null ? facts : { ...facts, usage: { ...facts.usage, [field]: facts.usage[field] + extra } };
}
