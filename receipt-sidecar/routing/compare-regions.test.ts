import { defined as present } from '@gw/contract/internal/defined';
import type { Snapshot, SnapshotGridReading } from '@gw/contract/internal/snapshot';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveSignals } from '../catalogue/grid-signals.ts';
import { type Contender, compareRegions } from './compare-regions.ts';

const now = Date.parse('2026-11-21T09:10:00.000Z');
const time = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();

interface Said {
  readonly gPerKwh: number;
  readonly signal?: SnapshotGridReading['signal'];
  readonly basis?: SnapshotGridReading['basis'];
  readonly source?: string;
  /** Minutes since the beginning of the interval, which is an hour long. */
  readonly begun?: number;
}

const reading = (zone: string, { gPerKwh, signal = 'average', basis, source = 's', begun = 10 }: Said) => ({
  zone,
  gPerKwh,
  source,
  signal,
  basis,
  waterLPerKwh: null,
  periodStart: time(-begun),
  periodEnd: time(60 - begun),
  observedAt: time(-begun),
  temporalMatch: signal === 'forecast' ? ('forecast' as const) : null,
});

/** Regions in the order of preference, each in a zone of its own with the values that its sources say; a call takes 1 Wh in each. */
function contenders(said: Readonly<Record<string, readonly Said[]>>): Contender[] {
  return Object.entries(said).map(([region, values]) => {
    const grid = values.filter(({ signal }) => signal !== 'marginal').map((each) => reading(region, each));
    const marginal = values.filter(({ signal }) => signal === 'marginal').map((each) => reading(region, each));
    const operationalGrid = marginal.map((each) => ({ ...each, kind: 'marginal' as const }));
    const signals = liveSignals({ grid, operationalGrid } as unknown as Snapshot, region);
    return { region, signals, gramsBy: (signal) => signal.reading.gPerKwh / 1000 };
  });
}
function choice(said: Readonly<Record<string, readonly Said[]>>): string {
  const compared = compareRegions(contenders(said), now);
  return compared.ok ? compared.value.region : compared.error;
}
const lifecycle = (gPerKwh: number, more: Partial<Said> = {}): Said => ({ gPerKwh, basis: 'lifecycle', ...more });

describe('the choice of a region', () => {
  it('is the lowest carbon intensity; of equals the first by preference', () => {
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20)], c: [lifecycle(50)] })).toBe('b');
    expect(choice({ a: [lifecycle(20)], b: [lifecycle(20)] })).toBe('a');
    expect(choice({ a: [lifecycle(20)], b: [lifecycle(0)] })).toBe('b');
  });

  it('never compares a life cycle with combustion alone, nor an average with a marginal value', () => {
    expect(choice({ a: [lifecycle(300)], b: [{ gPerKwh: 20, basis: 'direct' }] })).toBe('no_comparable_signals');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { signal: 'marginal' })] })).toBe('no_comparable_signals');
    // The scale on which more regions can be compared.
    expect(choice({ a: [lifecycle(300)], b: [{ gPerKwh: 1, basis: 'direct' }], c: [lifecycle(200)] })).toBe('c');
    const both = (average: number, marginal: number) => [
      lifecycle(average),
      lifecycle(marginal, { signal: 'marginal' }),
    ];
    expect(choice({ a: both(300, 10), b: both(200, 20) })).toBe('b');
  });

  it('compares unknown bases only within one source', () => {
    expect(choice({ a: [{ gPerKwh: 300 }], b: [{ gPerKwh: 20 }] })).toBe('b');
    expect(choice({ a: [{ gPerKwh: 300 }], b: [{ gPerKwh: 20, source: 't' }] })).toBe('no_comparable_signals');
  });

  it('needs values of this moment', () => {
    expect(choice({ a: [], b: [] })).toBe('no_live_grid_signal');
    expect(choice({ a: [lifecycle(300)] })).toBe('single_region');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { begun: 121 })] })).toBe('too_few_live_signals');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { begun: 120 })] })).toBe('b');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { signal: 'annual' })] })).toBe('too_few_live_signals');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { signal: 'forecast' })] })).toBe('b');
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { signal: 'forecast', begun: 60 })] })).toBe(
      'too_few_live_signals',
    );
    expect(choice({ a: [lifecycle(300)], b: [lifecycle(20, { signal: 'forecast', begun: -1 })] })).toBe(
      'too_few_live_signals',
    );
  });

  it('counts grams and not intensities, and leaves out what nobody can estimate', () => {
    const [dirty, clean, unknown] = contenders({ a: [lifecycle(300)], b: [lifecycle(280)], c: [lifecycle(1)] });
    const chosen = (...regions: readonly Contender[]) => {
      const compared = compareRegions(regions, now);
      return compared.ok ? compared.value.ranked.map(({ region }) => region).join('>') : compared.error;
    };
    const [a, b, c] = [present(dirty, 'a'), present(clean, 'b'), { ...present(unknown, 'c'), gramsBy: () => null }];
    expect(chosen(a, b)).toBe('b>a');
    expect(chosen(a, { ...b, gramsBy: (signal) => 1.2 * (b.gramsBy(signal) ?? 0) })).toBe('a>b');
    expect(chosen(a, b, c)).toBe('b>a');
    expect(chosen(a, c)).toBe('no_comparable_signals');
  });
});

const codes = ['a', 'b', 'c', 'd'];
const said = fc.record({
  gPerKwh: fc.double({ min: 0, max: 1000, noNaN: true }),
  signal: fc.constantFrom('average', 'marginal', 'forecast', 'annual'),
  basis: fc.constantFrom('lifecycle', 'direct', 'unknown', undefined),
  source: fc.constantFrom('s', 't'),
  begun: fc.integer({ min: -60, max: 240 }),
}) as fc.Arbitrary<Said>;

it('a choice is the lowest of its scale, and depends on nothing but its arguments', () => {
  const regions = fc.dictionary(fc.constantFrom(...codes), fc.array(said, { maxLength: 3 }), { minKeys: 1 });
  fc.assert(
    fc.property(regions, (offered) => {
      const rated = contenders(offered);
      const compared = compareRegions(rated, now);
      if (!compared.ok) {
        expect(compareRegions(rated, now)).toEqual(compared);
        return;
      }
      const { of, ranked, region } = compared.value;
      expect(compareRegions(rated, now)).toMatchObject({ ok: true, value: { ranked, region } });
      expect(new Set(ranked.map((each) => each.region)).size).toBe(ranked.length);
      expect(ranked.length).toBeGreaterThan(1);
      expect(new Set(ranked.map(({ signal }) => signal.scale)).size).toBe(1);
      for (const { signal } of ranked) expect(signal.from <= now && now < signal.until).toBe(true);
      const grams = ranked.map((each) => each.grams);
      expect(grams).toEqual(grams.toSorted((a, b) => a - b));
      expect(of(region)?.grams).toBe(Math.min(...grams));
    }),
    { numRuns: cases(2000) },
  );
});
