/** Generators of calls with measured energy, plausible for the call, in every shape. */
import fc from 'fast-check';
import type { CallFacts } from '../facts/facts.ts';
import { readEcologitsImpacts } from '../facts/telemetry/ecologits-impacts.ts';
import { readEnergyHeader } from '../facts/telemetry/energy-header.ts';
import { readGpuCounters } from '../facts/telemetry/gpu-counters.ts';
import { readGreenpt } from '../facts/telemetry/greenpt.ts';
import { readMelious } from '../facts/telemetry/melious.ts';
import { readNeuralwatt } from '../facts/telemetry/neuralwatt.ts';
import type { TelemetryResult } from '../facts/telemetry/reading.ts';
import { assess } from '../receipt/assess.ts';
import { calls } from './facts.ts';

/** Wh → a reply of each shape that states it. */
export const shapes: Readonly<Record<string, (wh: number) => TelemetryResult>> = {
  neuralwatt: (wh) => readNeuralwatt({ energy: { energy_joules: wh * 3600, duration_seconds: 1.5 } }),
  greenpt: (wh) => readGreenpt({ impact: { version: '20250922', energy: { total: wh * 3.6e6, unit: 'Wms' } } }),
  melious: (wh) => readMelious({ environment_impact: { energy_kwh: wh / 1000, pue: 1.1 } }),
  energy_header: (wh) => readEnergyHeader({ 'x-energy-joules': (wh * 3600).toFixed(12) }),
  ecologits_impacts: (wh) => readEcologitsImpacts({ impacts: { energy: { value: wh / 1000, unit: 'kWh' } } }),
  ecologits_range: (wh) =>
    readEcologitsImpacts({ impacts: { energy: { value: { min: wh / 2000, max: wh / 500 }, unit: 'kWh' } } }),
  gpu_counters: (wh) =>
    readGpuCounters({
      before: { atS: 1_700_000_000, energyMj: { a: 5e9, b: 7e9 } },
      after: { atS: 1_700_000_015, energyMj: { a: 5e9 + wh * 7.2e6, b: 7e9 + wh * 7.2e6 } },
      callTokens: 500,
      allTokens: 2000,
    }),
};

const ratios = fc.double({ min: 0.02, max: 50, noNaN: true });

export const measuredCalls: fc.Arbitrary<CallFacts> = fc
  .tuple(calls, fc.constantFrom(...Object.keys(shapes)), ratios, fc.constantFrom('auto', 'telemetry'))
  .map(([facts, shape, ratio, tier]): CallFacts => {
    const modelled = assess({ ...facts, requestedTier: 'auto' });
    const wh = modelled.ok ? modelled.impact.energy_wh * ratio : 1;
    const requestedTier = tier === 'telemetry' ? 'telemetry' : 'auto';
    return { ...facts, requestedTier, telemetry: shapes[shape]?.(wh) ?? null };
  });
