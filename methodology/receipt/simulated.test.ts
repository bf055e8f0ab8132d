/** Calls of a simulated provider: their receipts, and lineages that say so. */
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineageOf } from '../lineage/lineage.ts';
import { recompute, verify } from '../lineage/recompute.ts';
import { call, calls } from '../testdata/facts.ts';
import { measuredCalls, shapes } from '../testdata/telemetry.ts';
import { assess, type CallFacts } from './assess.ts';

const simulated = (facts: CallFacts): CallFacts => ({ ...facts, simulated: true });

function madeOf(facts: CallFacts) {
  const [assessment, result] = [assess(facts), lineageOf(facts)];
  return assessment.ok && result.ok ? { impact: assessment.impact, lineage: result.lineage } : null;
}

describe('a simulated call', () => {
  it.each(Object.keys(shapes).filter((shape) => !shape.startsWith('ecologits')))(
    'has energy that nobody measured, whoever the shape is of: %s',
    (shape) => {
      const made = madeOf(simulated({ ...call, telemetry: shapes[shape]?.(0.2) ?? null }));
      expect(made?.impact.tier).toBe('telemetry');
      expect(made?.impact.tier_reason).toMatch(/a simulator made (them )?up, not measured/);
      expect(made?.impact.tier_reason).not.toMatch(/neuralwatt|greenpt|melious|ecologits|header|gpu_counters/i);
      expect(made?.lineage).toMatchObject({
        simulated: true,
        telemetry: { energy_source: 'simulated', source: 'simulator' },
      });
    },
  );

  it('has the numbers of any other call', () => {
    fc.assert(
      fc.property(fc.oneof(calls, measuredCalls), (facts) => {
        const [real, made] = [madeOf(facts), madeOf(simulated(facts))];
        if (made !== null) expect({ ...made.impact, tier_reason: '' }).toEqual({ ...real?.impact, tier_reason: '' });
        expect(made === null).toBe(real === null);
        if (real !== null) expect(real.lineage).not.toHaveProperty('simulated');
      }),
      { numRuns: cases(200) },
    );
  });

  it('cannot be passed off as a real one, nor a real one as simulated', () => {
    const [real, made] = [madeOf(call), madeOf(simulated(call))];
    if (real === null || made === null) throw new Error('no lineage');
    expect(verify(made.lineage, { ...made.impact, simulated: true }).ok).toBe(true);
    expect(verify(made.lineage, { ...made.impact })).toMatchObject({
      ok: false,
      mismatches: [expect.stringMatching(/simulated/)],
    });
    expect(verify(real.lineage, { ...real.impact, simulated: true }).ok).toBe(false);
    expect(verify(real.lineage, { ...real.impact }).ok).toBe(true);
    const { simulated: _, ...without } = made.lineage;
    expect(recompute(without)).toMatchObject({ ok: false, mismatches: [expect.stringMatching(/^simulated/)] });
  });
});
