import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import annual from '../data/annual-grid.json' with { type: 'json' };
import regional from '../data/regional-grid.json' with { type: 'json' };
import { digestOf } from '../documents/digest.ts';
import type { MethodologyId } from '../documents/methodologies.ts';
import { termsOf } from '../lineage/grid-sources.ts';
import { lineageOf } from '../lineage/lineage.ts';
import earlier from '../testdata/earlier-annual-grid.json' with { type: 'json' };
import { call } from '../testdata/facts.ts';
import { annualReading, annualZones } from './grid-annual.ts';

describe('the bundled yearly grid table', () => {
  it('dates and names the source of each value', () => {
    expect(annualReading('SWE')).toEqual({
      zone: 'SWE',
      gPerKwh: 35.26,
      source: 'ember-2025 (EcoLogits 0.11.3, year inferred)',
      signal: 'annual',
      periodStart: '2025-01-01T00:00:00.000Z',
      periodEnd: '2026-01-01T00:00:00.000Z',
      observedAt: '2026-01-01T00:00:00.000Z',
      temporalMatch: 'annual_fallback',
      basis: 'lifecycle',
      edition:
        'ecologits-0.11.3-py3-none-any.whl sha256:c477b77a95c65abbc0ed475b62708ce64ada871b675df0261f345296b0a6facd',
      waterLPerKwh: 6.0315,
      waterSource: 'EcoLogits 0.11.3 (World Resources Institute)',
    });
  });

  it("has a world's average that says what it is", () => {
    const world = annualReading('WOR');
    expect(world?.source).toBe('ember-2025 (world, EcoLogits 0.11.3, year inferred)');
    // Ember's own figure for the year before: 473 g/kWh (Global Electricity Review 2025).
    expect(Math.abs((world?.gPerKwh ?? 0) / 473 - 1)).toBeLessThan(0.05);
  });

  it('has the values of 2025 that are published elsewhere, to their last digit or the next', () => {
    // Ember's Yearly Electricity Data for 2025, as https://greencalculus.com/data/grid-electricity-emission-factors rounds them.
    const published = {
      AUS: 525,
      BRA: 110,
      CHN: 526,
      DEU: 330,
      FRA: 41,
      IND: 670,
      JPN: 477,
      NOR: 28,
      SGP: 497,
      ZAF: 699,
    };
    for (const [zone, gPerKwh] of Object.entries(published)) {
      expect(Math.abs((annualReading(zone)?.gPerKwh ?? 0) - gPerKwh), zone).toBeLessThan(1);
      expect(annualReading(zone)?.source, zone).toMatch(/^ember-2025 /);
    }
  });

  it('has no value that is another order of magnitude than two editions before', () => {
    // A revision changed it, or a drought has ended: hydropower is most of each.
    const outliers = ['CRI', 'FLK', 'SDN', 'SLV', 'VEN'];
    const earlierOf = new Map(earlier.rows.map((row) => [row.zone, row]));
    const far = annual.rows.filter(({ zone, g_per_kwh }) => {
      const ratio = g_per_kwh / (earlierOf.get(zone)?.g_per_kwh ?? Number.NaN);
      return !(ratio > 0.6 && ratio < 1.4);
    });
    expect(far.map(({ zone }) => zone)).toEqual(outliers);
  });

  it('holds over 200 countries, each once, each above zero, each with licence and water', () => {
    expect(annualZones.length).toBeGreaterThan(200);
    expect(new Set(annualZones).size).toBe(annual.rows.length + regional.rows.length);
    for (const row of annual.rows) {
      expect(row.zone).toMatch(/^[A-Z]{3}$/);
      expect(row.g_per_kwh).toBeGreaterThan(0);
      expect(row.source).toMatch(new RegExp(`^ember-${row.year} \\(.*EcoLogits 0.11.3`));
      expect(annualReading(row.zone)?.waterLPerKwh).toBeGreaterThan(0);
    }
  });

  it('has states and provinces, which differ from their country, and says what their values count', () => {
    expect(annualReading('CA-QC')).toMatchObject({
      gPerKwh: 27.95,
      source: 'ipcc-ar5-1 (production, CodeCarbon 3.3.2, year inferred)',
      periodStart: '2023-01-01T00:00:00.000Z',
      basis: 'lifecycle',
      waterLPerKwh: annualReading('CAN')?.waterLPerKwh,
      waterSource: 'EcoLogits 0.11.3 (World Resources Institute), of CAN',
    });
    // 364.963 lb/MWh.
    expect(annualReading('US-OR')).toMatchObject({
      gPerKwh: 165.54,
      source: 'egrid-2023 (combustion, CodeCarbon 3.3.2)',
    });
    expect(regional.rows.filter(({ zone }) => zone.startsWith('CA-'))).toHaveLength(13);
    expect(regional.rows.filter(({ zone }) => zone.startsWith('US-'))).toHaveLength(51);
    for (const { basis, g_per_kwh, zone } of regional.rows) {
      expect(zone).toMatch(/^(CA|US)-[A-Z]{2}$/);
      expect(annualReading(zone)?.basis).toBe(basis);
      expect(basis).toBe(zone.startsWith('CA-') ? 'lifecycle' : 'direct');
      expect(g_per_kwh).toBeGreaterThan(0);
      expect(g_per_kwh).toBeLessThan(1000);
    }
  });

  it.each(['XXX', 'US-XX', '-', 'usa', '', '__proto__'])('has nothing for "%s"', (zone) => {
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

describe('the water factor', () => {
  const factorOf = (zone: string, id: MethodologyId) => {
    const traced = lineageOf({ ...call, grid: annualReading(zone) }, id);
    if (!traced.ok) throw new Error(traced.explanation);
    return traced.lineage.factors.find(({ name }) => name === 'WUE_grid');
  };

  it('says that it is the world average where a country has none of its own', () => {
    const origin = { version: '0.11.3', licence: 'MPL-2.0' };
    const [own, none] = ['World Resources Institute', 'world average, none for ZAF'];
    expect(factorOf('ZAF', 'gw-2.0')).toMatchObject({ source: `EcoLogits 0.11.3 (${none})`, ...origin });
    expect(factorOf('WOR', 'gw-2.0')).toMatchObject({ source: 'EcoLogits 0.11.3 (world average)', ...origin });
    expect(factorOf('FRA', 'gw-2.0')).toMatchObject({ source: `EcoLogits 0.11.3 (${own})`, ...origin });
    expect(factorOf('ZAF', 'ecologits-0.11.3')).toMatchObject({ source: `EcoLogits 0.11.3 (${own})`, ...origin });
  });
});

describe('a receipt by an earlier table', () => {
  // If this fails, the lineages of receipts that are stored are no longer what they were.
  it.each([
    ['gw-2.0', 'c46ae4b5d0ebd86f7b3cd15ef1cc310343c59309d941046ee98aa9ef0ebf7d02'],
    ['ecologits-0.11.3', '4b68a015a3458816cc048360cfaa473654e887d6c6562e485efe9395b3582b74'],
  ] as const)('of %s has the lineage that it had, in every zone', (id, digest) => {
    const digests = earlier.rows.map(({ g_per_kwh, source, year, zone }) => {
      const periodEnd = `${year + 1}-01-01T00:00:00.000Z`;
      const grid = {
        zone,
        gPerKwh: g_per_kwh,
        source,
        signal: 'annual',
        periodStart: `${year}-01-01T00:00:00.000Z`,
        periodEnd,
        observedAt: periodEnd,
        temporalMatch: 'annual_fallback',
        // The water factors are still those of that table.
        waterLPerKwh: annualReading(zone)?.waterLPerKwh ?? null,
      } as const;
      const traced = lineageOf({ ...call, grid }, id);
      return traced.ok ? digestOf(traced.lineage) : null;
    });
    expect(digestOf(digests)).toBe(`sha256:${digest}`);
  });
});

it('each bundled value has a licence, the date of its publication and a place where it is found', () => {
  for (const zone of annualZones) {
    const result = lineageOf({ ...call, grid: annualReading(zone) });
    if (!result.ok) throw new Error(`${zone}: ${result.explanation}`);
    const ofGrid = result.lineage.factors.filter(
      ({ name, value }) => ['grid_intensity', 'WUE_grid'].includes(name) && value !== null,
    );
    expect(ofGrid.length, zone).toBe(2);
    const fields = ['licence', 'date', 'locator', 'version', 'uncertainty'] as const;
    const missing = ofGrid.flatMap((factor) =>
      fields.filter((field) => !factor[field]).map((field) => `${field} of ${factor.name}, ${factor.source}`),
    );
    expect(missing, zone).toEqual([]);
  }
});

it.each(['electricity-maps', 'entsoe (production, ipcc-ar5-1)', 'neso', 'watttime'])(
  'a value of %s has the terms of its source and where that is',
  (source) => {
    expect(termsOf(source)).toEqual({
      licence: expect.any(String),
      date: null,
      locator: expect.stringMatching(/^https:/),
    });
    expect(termsOf('somebody')).toEqual({ licence: null, date: null, locator: null });
  },
);
