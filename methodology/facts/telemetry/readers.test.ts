import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEcologitsImpacts } from './ecologits-impacts.ts';
import { readEnergyHeader } from './energy-header.ts';
import { readGpuCounters } from './gpu-counters.ts';
import { readGreenpt } from './greenpt.ts';
import { readMelious } from './melious.ts';
import { readNeuralwatt, readNeuralwattComment } from './neuralwatt.ts';
import type { TelemetryResult } from './reading.ts';

const neuralwatt = {
  energy_joules: 720,
  energy_kwh: 0.0002,
  avg_power_watts: 480,
  duration_seconds: 1.5,
  attribution_method: 'token_pool',
  attribution_ratio: 0.12,
};
const counters = {
  before: { atS: 1_700_000_000, energyMj: { 'GPU-0': 1_000_000, 'GPU-1': 2_000_000 } },
  after: { atS: 1_700_000_015, energyMj: { 'GPU-0': 4_600_000, 'GPU-1': 5_600_000 } },
  callTokens: 250,
  allTokens: 1000,
};

describe('each published shape gives its energy in Wh', () => {
  it.each<[string, TelemetryResult, object]>([
    [
      'Neuralwatt body',
      readNeuralwatt({ energy: neuralwatt }),
      { energyWh: 0.2, scope: 'total', includesPue: null, durationS: 1.5, attribution: 'token_pool, ratio 0.12' },
    ],
    ['Neuralwatt, kWh alone', readNeuralwatt({ energy: { energy_kwh: 0.0002 } }), { energyWh: 0.2 }],
    [
      'Neuralwatt comment of a stream',
      readNeuralwattComment(`: energy ${JSON.stringify(neuralwatt)}`),
      { energyWh: 0.2, source: 'neuralwatt' },
    ],
    [
      'GreenPT',
      readGreenpt({
        choices: [],
        impact: {
          version: '20250922',
          inferenceTime: { total: 1200, unit: 'ms' },
          energy: { total: 720_000, unit: 'Wms' },
          emissions: { total: 9, unit: 'ugCO2e' },
        },
      }),
      { energyWh: 0.2, durationS: 1.2, attribution: 'impact version 20250922', includesPue: null },
    ],
    [
      'Melious',
      readMelious({ environment_impact: { energy_kwh: 0.0002, carbon_g_co2: 0.1, pue: 1.2, location: 'FI' } }),
      { energyWh: 0.2, attribution: 'the provider names a PUE of 1.2', includesPue: null },
    ],
    [
      'headers',
      readEnergyHeader({ 'x-energy-joules': ' 720.0 ', 'x-energy-method': 'rapl' }),
      { energyWh: 0.2, attribution: 'rapl' },
    ],
    [
      'EcoLogits value',
      readEcologitsImpacts({ impacts: { energy: { type: 'energy', value: 0.0002, unit: 'kWh' } } }),
      { energyWh: 0.2, includesPue: true, stated: { range: null } },
    ],
    [
      'EcoLogits range',
      readEcologitsImpacts({ impacts: { energy: { value: { min: 0.0001, max: 0.0003 }, unit: 'kWh' } } }),
      { energyWh: expect.closeTo(0.2, 12), stated: { range: { min: 0.0001, max: 0.0003 } } },
    ],
    [
      'GPU counters',
      readGpuCounters(counters),
      { energyWh: 0.5, scope: 'accelerator', includesPue: false, intervalS: 15, source: 'gpu_counters' },
    ],
  ])('%s', (_name, result, wanted) => {
    expect(result).toMatchObject(wanted);
  });

  it('and keeps what the source said', () => {
    expect(readNeuralwatt({ energy: neuralwatt })?.raw).toEqual(neuralwatt);
    expect(readGpuCounters(counters)?.raw).toEqual(counters);
    const long = readMelious({ environment_impact: { energy_kwh: 1, provider_id: 'x'.repeat(5000) } });
    expect(JSON.stringify(long?.raw).length).toBeLessThan(300);
  });

  it('within bounds, however wide and deep it is', () => {
    const wide = (value: unknown) =>
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, value]));
    const giant = { energy_joules: 1, ...wide(wide(wide('x'.repeat(5000)))) };
    const body = readNeuralwatt({ energy: giant });
    expect(body).toMatchObject({ energyWh: 1 / 3600 });
    expect(JSON.stringify(body).length).toBeLessThan(20_000);
    const comment = readNeuralwattComment(`: energy ${JSON.stringify({ energy_joules: 1, note: 'x'.repeat(1e6) })}`);
    expect(comment).toMatchObject({ refused: 'not_a_number' });
    expect(JSON.stringify(comment).length).toBeLessThan(300);
  });

  it('without NUL, which no store takes', () => {
    const text = JSON.stringify(
      readNeuralwatt({ energy: { energy_joules: 1, 'a\0b': 'c\0d', attribution_method: '\0' } }),
    );
    expect(text).not.toContain('\\u0000');
  });
});

describe('what is absent is null, what cannot be right is refused', () => {
  it('a reply without the shape has no reading', () => {
    for (const body of [null, 7, [], {}, { energy: null }, { energy: {} }, { impact: {} }, { impacts: {} }]) {
      for (const read of [readNeuralwatt, readGreenpt, readMelious, readEnergyHeader, readEcologitsImpacts]) {
        expect(read(body)).toBeNull();
      }
    }
    expect(readNeuralwattComment(': keep-alive')).toBeNull();
  });

  it.each<[string, TelemetryResult, string]>([
    ['negative', readNeuralwatt({ energy: { energy_joules: -1 } }), 'negative'],
    ['infinite', readMelious({ environment_impact: { energy_kwh: Number.POSITIVE_INFINITY } }), 'not_finite'],
    ['an overflow', readMelious({ environment_impact: { energy_kwh: 1e308 } }), 'not_finite'],
    ['a text', readMelious({ environment_impact: { energy_kwh: '0.1' } }), 'not_a_number'],
    ['a null', readGreenpt({ impact: { energy: { total: null, unit: 'Wms' } } }), 'not_a_number'],
    ['another unit', readGreenpt({ impact: { energy: { total: 1, unit: 'Wh' } } }), 'unknown_unit'],
    ['no unit', readGreenpt({ impact: { energy: { total: 1 } } }), 'unknown_unit'],
    ['joules against kWh', readNeuralwatt({ energy: { energy_joules: 720, energy_kwh: 0.2 } }), 'inconsistent'],
    ['a broken comment', readNeuralwattComment(': energy {"energy_joules":}'), 'not_a_number'],
    ['two headers', readEnergyHeader({ 'x-energy-joules': '1, 2' }), 'not_a_number'],
    ['hexadecimal', readEnergyHeader({ 'x-energy-joules': '0x10' }), 'not_a_number'],
    ['an empty header', readEnergyHeader({ 'x-energy-joules': '' }), 'not_a_number'],
    ['a negative header', readEnergyHeader({ 'x-energy-joules': '-3' }), 'negative'],
    [
      'a crossed range',
      readEcologitsImpacts({ impacts: { energy: { value: { min: 2, max: 1 }, unit: 'kWh' } } }),
      'inconsistent',
    ],
    [
      'a reset counter',
      readGpuCounters({ ...counters, after: { ...counters.before, atS: 2e9 - 1 }, before: counters.after }),
      'counter_reset',
    ],
    [
      'a vanished GPU',
      readGpuCounters({ ...counters, after: { ...counters.after, energyMj: { 'GPU-0': 9e9 } } }),
      'counter_reset',
    ],
    [
      'samples at one time',
      readGpuCounters({ ...counters, after: { ...counters.after, atS: 1_700_000_000 } }),
      'no_interval',
    ],
    ['no tokens', readGpuCounters({ ...counters, callTokens: 0, allTokens: 0 }), 'no_token_share'],
    ['more than all tokens', readGpuCounters({ ...counters, callTokens: 1001 }), 'no_token_share'],
  ])('%s', (_name, result, reason) => {
    expect(result).toMatchObject({ refused: reason });
  });
});

describe('hostile input', () => {
  const number = fc.oneof(fc.double(), fc.constantFrom(0, -0, -1, Infinity, -Infinity, Number.NaN, 5e-324, 1.7e308));
  const value = fc.oneof(number, fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true }));
  const object = (...keys: string[]) =>
    fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
  const bodies = fc.oneof(
    value,
    fc.record({
      energy: fc.oneof(value, object('energy_joules', 'energy_kwh', 'duration_seconds', 'attribution_ratio')),
    }),
    fc.record({
      impact: fc.record({ energy: fc.record({ total: value, unit: fc.constantFrom('Wms', 'kWh') }), version: value }),
    }),
    fc.record({ environment_impact: object('energy_kwh', 'pue') }),
    fc.record({ impacts: fc.record({ energy: fc.oneof(value, fc.record({ value: object('min', 'max') })) }) }),
    object('x-energy-joules', 'x-energy-method'),
  );
  const sound = (result: TelemetryResult): void => {
    if (result === null) return;
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    if ('refused' in result) return;
    expect(Number.isFinite(result.energyWh) && result.energyWh >= 0 && !Object.is(result.energyWh, -0)).toBe(true);
  };

  it('never throws, and what is read is finite, not negative, and the same after JSON', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        for (const read of [readNeuralwatt, readGreenpt, readMelious, readEnergyHeader, readEcologitsImpacts]) {
          sound(read(body));
        }
      }),
      { numRuns: cases(3000) },
    );
  });

  it('in comments, headers and counters neither', () => {
    const samples = fc.record({ atS: number, energyMj: fc.oneof(fc.dictionary(fc.string(), number), value) });
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.oneof(number, fc.nat(1000)), (text, json, count) => {
        for (const comment of [text, `: energy ${text}`, `: energy ${JSON.stringify(json)}`, `: energy {${text}}`]) {
          sound(readNeuralwattComment(comment));
        }
        sound(readEnergyHeader({ 'x-energy-joules': text }));
        sound(readEnergyHeader({ 'x-energy-joules': String(count) }));
      }),
    );
    fc.assert(
      fc.property(samples, samples, number, number, (before, after, callTokens, allTokens) => {
        // Counters of any type: what a scrape returns is not typed.
        const interval = { before, after, callTokens, allTokens } as Parameters<typeof readGpuCounters>[0];
        sound(readGpuCounters(interval));
        sound(readGpuCounters({ ...interval, callTokens: 1, allTokens: 3 }));
      }),
    );
  });
});
