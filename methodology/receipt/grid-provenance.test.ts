import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MethodologyId } from '../documents/methodologies.ts';
import { annualReading } from '../facts/grid-annual.ts';
import { lineageOf } from '../lineage/lineage.ts';
import { recompute } from '../lineage/recompute.ts';
import { call, hourly } from '../testdata/facts.ts';
import { assess } from './assess.ts';
import { gridProvenance } from './grid-provenance.ts';

const at = (time: string, reading = hourly) => gridProvenance(reading, `2026-11-21T${time}Z`);

describe('the age of a carbon intensity', () => {
  it.each([
    ['09:00:00.000', 0, 'live_window'],
    ['09:59:59.999', 0, 'live_window'],
    ['10:00:00.000', 60, 'fresh'],
    ['10:33:03.000', 93.1, 'fresh'],
    ['11:00:00.000', 120, 'fresh'],
    ['11:00:02.999', 120, 'fresh'],
    ['11:00:03.000', 120.1, 'none'],
    ['08:59:59.999', null, 'forecast'],
  ])('at %s is %s minutes and the match %s', (time, ageMinutes, temporalMatch) => {
    expect(at(time)).toMatchObject({ ageMinutes, temporalMatch });
  });

  it('is live within 15 minutes after the interval too', () => {
    const reading = { ...hourly, observedAt: hourly.periodEnd };
    expect(at('10:15:00.000', reading)).toMatchObject({ ageMinutes: 15, temporalMatch: 'live_window' });
    expect(at('10:15:02.999', reading)).toMatchObject({ ageMinutes: 15, temporalMatch: 'live_window' });
    expect(at('10:15:03.000', reading)).toMatchObject({ ageMinutes: 15.1, temporalMatch: 'fresh' });
  });

  it('and the match agree as they are printed; by EcoLogits the match knows more than the age', () => {
    const facts = {
      ...call,
      grid: { ...hourly, observedAt: hourly.periodEnd },
      requestedAt: '2026-11-21T10:15:02.400Z',
    };
    const printedBy = (id: MethodologyId) => {
      const assessment = assess(facts, id);
      const traced = lineageOf(facts, id);
      if (!assessment.ok || !traced.ok) throw new Error('This call has no receipt.');
      expect(recompute(traced.lineage)).toEqual(expect.objectContaining(assessment));
      return [assessment.impact.grid_intensity_age_minutes, assessment.impact.grid_temporal_match];
    };
    expect(printedBy('gw-2.0')).toEqual([15, 'live_window']);
    expect(printedBy('ecologits-0.11.3')).toEqual([15, 'fresh']);
  });

  it('decides the match by itself, whatever the times', () => {
    const ms = fc.integer({ min: 0, max: 4 * 3_600_000 });
    fc.assert(
      fc.property(ms, (afterwards) => {
        const requestedAt = new Date(Date.parse(hourly.periodEnd) + afterwards).toISOString();
        const found = gridProvenance({ ...hourly, observedAt: hourly.periodEnd }, requestedAt);
        const age = found?.ageMinutes ?? Number.NaN;
        expect(found?.temporalMatch).toBe(age <= 15 ? 'live_window' : age <= 120 ? 'fresh' : 'none');
      }),
    );
  });

  it('is unknown for a forecast, also for the current hour', () => {
    const wanted = { ageMinutes: null, temporalMatch: 'forecast' };
    expect(at('09:30:00.000', { ...hourly, signal: 'forecast' })).toMatchObject(wanted);
    expect(at('09:30:00.000', { ...hourly, temporalMatch: 'forecast' })).toMatchObject(wanted);
  });

  it('of an estimate is stated, and its match is that of a forecast; by EcoLogits it is live', () => {
    const estimate = { ...hourly, temporalMatch: 'fresh' as const };
    expect(at('09:30:00.000', estimate)).toMatchObject({ ageMinutes: 0, temporalMatch: 'forecast' });
    expect(at('11:00:00.000', estimate)).toMatchObject({ ageMinutes: 60 + 60, temporalMatch: 'forecast' });
    expect(at('11:00:06.000', estimate)).toMatchObject({ temporalMatch: 'none' });
    const facts = { ...call, grid: estimate };
    const matchBy = (id: MethodologyId) => {
      const assessment = assess(facts, id);
      const lineage = lineageOf(facts, id);
      if (!assessment.ok || !lineage.ok) throw new Error('This call has no receipt.');
      expect(recompute(lineage.lineage)).toEqual(expect.objectContaining(assessment));
      return assessment.impact.grid_temporal_match;
    };
    expect([matchBy('gw-2.0'), matchBy('ecologits-0.11.3')]).toEqual(['forecast', 'live_window']);
  });

  it('keeps what the source says about last week', () => {
    const reading = {
      ...hourly,
      periodStart: '2026-11-14T09:00:00Z',
      periodEnd: '2026-11-14T10:00:00Z',
      observedAt: '2026-11-14T09:30:00Z',
      temporalMatch: 'prior_week' as const,
    };
    expect(at('09:30:00.000', reading)).toMatchObject({ ageMinutes: 10_080, temporalMatch: 'prior_week' });
  });

  it('of a yearly value counts from the end of its year', () => {
    const reading = annualReading('DEU');
    expect(reading).not.toBeNull();
    if (reading === null) return;
    const provenance = gridProvenance({ ...reading, observedAt: reading.periodStart }, '2026-01-01T10:00:00.000Z');
    expect(provenance).toEqual({
      observedAt: '2026-01-01T00:00:00.000Z',
      requestedAt: '2026-01-01T10:00:00.000Z',
      ageMinutes: 600,
      temporalMatch: 'annual_fallback',
    });
  });

  it('prints times in UTC with milliseconds', () => {
    const reading = { ...hourly, observedAt: '2026-11-21T10:00+01:00' };
    expect(at('09:30:00.000', reading)?.observedAt).toBe('2026-11-21T09:00:00.000Z');
  });

  it.each(['', 'yesterday', '2026-13-01T00:00:00Z'])('is refused for the time "%s"', (time) => {
    expect(gridProvenance({ ...hourly, observedAt: time }, '2026-11-21T09:30:00.000Z')).toBeNull();
    expect(gridProvenance(hourly, time)).toBeNull();
  });

  it('is never negative', () => {
    const dates = fc
      .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
    fc.assert(
      fc.property(dates, dates, dates, dates, (requestedAt, periodStart, periodEnd, observedAt) => {
        const age = gridProvenance({ ...hourly, periodStart, periodEnd, observedAt }, requestedAt)?.ageMinutes;
        expect(age === null || (age !== undefined && age >= 0 && !Object.is(age, -0))).toBe(true);
      }),
    );
  });
});
