/** A receipt of each kind, of calls that the documentation does not show: what auditing them finds is tested on all of them. */
import { annualReading } from '@gw/methodology/grid-annual';
import { readGpuCounters } from '@gw/methodology/telemetry/gpu-counters';
import { readNeuralwatt } from '@gw/methodology/telemetry/neuralwatt';
import { type Call, type MadeCall, madeCall } from './calls.ts';
import { examples } from './examples.ts';

const entry = { catalogueVersion: 7, changedAt: '2026-10-01T00:00:00.000Z', changedBy: 'jo' };
const pueEvidence = { kind: 'measured', source: 'meter 4', period: '2025-01-01/2026-01-01' } as const;
const usage = { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 };
const seen = (series: string, unit: string, before: number, after: number) => ({
  series,
  unit,
  before: [1_795_253_400, before] as const,
  after: [1_795_253_415, after] as const,
});
const counters = readGpuCounters({
  before: { atS: 1_795_253_400, energyMj: { 'GPU-0': 910_000_000 } },
  after: { atS: 1_795_253_415, energyMj: { 'GPU-0': 924_400_000 } },
  callTokens: 400,
  allTokens: 8000,
  seen: [seen('GPU-0', 'J', 910_000, 924_400), seen('{pod="a"}', 'token', 5000, 13_000)],
});
const notKnown = { activeParametersB: null, totalParametersB: null, modelClass: null };
const ofTheWorld = annualReading('WOR');

const calls: Readonly<Record<string, Call>> = {
  'of a real provider, with who vouches for it': {
    simulated: false,
    entry: { entry, parametersSource: 'a model card', quantizationBits: 8, tokensPerS: 40, ttftS: 0.4 },
    site: {
      entry,
      regionEntry: entry,
      pueEvidence,
      accelerators: { model: 'MI300X', count: 8 },
      typicalConcurrency: 24,
    },
  },
  'with estimated counts, of a guessed size': {
    usage: { ...usage, estimated: 'both' },
    entry: { parametersSource: 'Guessed from its name' },
  },
  'cut short': { status: 'upstream_error', usage: { ...usage, estimated: 'completion' }, isCutShort: true },
  'measured by counters that were seen': { simulated: false, telemetry: counters },
  'of a total that nobody counted': {
    simulated: false,
    usage: null,
    telemetry: readNeuralwatt({ energy: { energy_kwh: 0.0003, duration_seconds: 14.2, attribution_method: 'share' } }),
  },
  'of a total whose model is not known, of a project': {
    simulated: false,
    entry: notKnown,
    project: 'search',
    usage: { ...usage, estimated: 'prompt' },
    telemetry: readNeuralwatt({ energy: { energy_kwh: 0.0003, duration_seconds: 14.2, attribution_method: 'share' } }),
  },
  'of accelerators whose model is not known': {
    boundary: 'narrow',
    simulated: false,
    entry: notKnown,
    telemetry: counters,
  },
  'with the average of the world': { ...(ofTheWorld && { grid: ofTheWorld }) },
};

const shown = ['parametric', 'narrow', 'proxy', 'total', 'counters', 'range', 'embedding', 'live', 'restated'] as const;

export const kinds: readonly (readonly [string, MadeCall])[] = [
  ...shown.map((name) => [name, examples[name]] as const),
  ...Object.entries(calls).map(([name, call], index) => [name, madeCall(100 + index, call)] as const),
];
