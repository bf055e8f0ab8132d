import type { Snapshot, SnapshotGridReading } from '@gw/contract/internal/snapshot';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveSignals } from '../catalogue/grid-signals.ts';
import { compareRegions, switchMargin } from './compare-regions.ts';

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

/** Regions in the order of preference, each in a zone of its own with the values that its sources say. */
function contenders(said: Readonly<Record<string, readonly Said[]>>) {
  return Object.entries(said).map(([region, values]) => {
    const grid = values.filter(({ signal }) => signal !== 'marginal').map((each) => reading(region, each));
    const marginal = values.filter(({ signal }) => signal === 'marginal').map((each) => reading(region, each));
    const operationalGrid = marginal.map((each) => ({ ...each, kind: 'marginal' as const }));
    return { region, signals: liveSignals({ grid, operationalGrid } as unknown as Snapshot, region) };
  });
}
function choice(said: Readonly<Record<string, readonly Said[]>>, current?: string): string {
  const compared = compareRegions(contenders(said), current, now);
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

  it('stays with a region until another one is lower by more than the margin', () => {
    const regions = (a: number, b: number) => ({ a: [lifecycle(a)], b: [lifecycle(b)] });
    expect(choice(regions(100, 96), 'a')).toBe('a');
    expect(choice(regions(100, 94), 'a')).toBe('b');
    expect(choice(regions(94, 100), 'b')).toBe('a');
    expect(choice(regions(100, 96), 'gone')).toBe('b');
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

it('a choice is within the margin of the lowest of its scale, and depends on nothing but its arguments', () => {
  const regions = fc.dictionary(fc.constantFrom(...codes), fc.array(said, { maxLength: 3 }), { minKeys: 1 });
  fc.assert(
    fc.property(regions, fc.constantFrom(undefined, ...codes), (offered, current) => {
      const rated = contenders(offered);
      const compared = compareRegions(rated, current, now);
      if (!compared.ok) {
        expect(compareRegions(rated, current, now)).toEqual(compared);
        return;
      }
      const { isKept, region, regions, signalOf } = compared.value;
      expect(compareRegions(rated, current, now)).toMatchObject({ ok: true, value: { isKept, region, regions } });
      const own = signalOf(region);
      const values = regions.flatMap((code) => signalOf(code) ?? []);
      expect(new Set(regions).size).toBe(values.length);
      expect(values.length).toBeGreaterThan(1);
      expect(new Set(values.map(({ scale }) => scale))).toEqual(new Set([own?.scale]));
      for (const { from, until } of values) expect(from <= now && now < until).toBe(true);
      const lowest = Math.min(...values.map((each) => each.reading.gPerKwh));
      expect((own?.reading.gPerKwh ?? Number.NaN) * (isKept ? 1 - switchMargin : 1)).toBeLessThanOrEqual(lowest);
      if (isKept) expect(region).toBe(current);
    }),
    { numRuns: cases(2000) },
  );
});
