import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import annual from './data/annual-grid.json' with { type: 'json' };
import { annualReading, annualZones } from './grid-annual.ts';

describe('the bundled yearly grid table', () => {
  it('dates and names the source of each value', () => {
    expect(annualReading('SWE')).toEqual({
      zone: 'SWE',
      gPerKwh: 40.695,
      source: 'ember-2023',
      signal: 'annual',
      periodStart: '2023-01-01T00:00:00.000Z',
      periodEnd: '2024-01-01T00:00:00.000Z',
      observedAt: '2024-01-01T00:00:00.000Z',
      temporalMatch: 'annual_fallback',
      waterLPerKwh: 6.0315,
    });
  });

  it("has a world's average that says that it is derived, of which countries and years, and how", () => {
    const world = annualReading('WOR');
    expect(world?.source).toMatch(/^ember-2023 \(world, derived: 212 countries of 2009-2023 by generation\)$/);
    const values = annual.rows.flatMap((row) => (row.zone === 'WOR' ? [] : [row.g_per_kwh]));
    expect(values).toHaveLength(212);
    expect(world?.gPerKwh).toBeGreaterThan(Math.min(...values));
    expect(world?.gPerKwh).toBeLessThan(Math.max(...values));
    // Ember's own figure for 2023, from its whole table: 480 g/kWh (Global Electricity Review 2024).
    expect(Math.abs((world?.gPerKwh ?? 0) - 480)).toBeLessThan(5);
  });

  it('holds over 200 countries, each once, each above zero, each with licence and water', () => {
    expect(annualZones.length).toBeGreaterThan(200);
    expect(new Set(annualZones).size).toBe(annual.rows.length);
    for (const row of annual.rows) {
      expect(row.zone).toMatch(/^[A-Z]{3}$/);
      expect(row.g_per_kwh).toBeGreaterThan(0);
      expect(row.licence).toBe('CC-BY-4.0');
      if (row.zone !== 'WOR') expect(row.source).toBe(`ember-${row.year}`);
      expect(annualReading(row.zone)?.waterLPerKwh).toBeGreaterThan(0);
    }
  });

  it.each(['XXX', 'usa', '', '__proto__'])('has nothing for "%s"', (zone) => {
    expect(annualReading(zone)).toBeNull();
  });

  it('survives bundling, without files beside it', async () => {
    const entry = new URL('./grid-annual.ts', import.meta.url).pathname;
    const bundle = await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', write: false });
    const code = Buffer.from(bundle.outputFiles[0]?.contents ?? []).toString('base64');
    const loaded: { annualReading: typeof annualReading } = await import(`data:text/javascript;base64,${code}`);
    expect(loaded.annualReading('FRA')).toEqual(annualReading('FRA'));
  });
});
