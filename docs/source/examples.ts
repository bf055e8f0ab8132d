/** The receipts that the documentation shows, one for each thing that there is to see. */
import type { SettledReading } from '@gw/control-plane/internals/ledger/receipts/settled-grid';
import type { GridReading } from '@gw/methodology/assess';
import { readGpuCounters } from '@gw/methodology/telemetry/gpu-counters';
import { readNeuralwatt } from '@gw/methodology/telemetry/neuralwatt';
import { madeCall, restatedCall } from './calls.ts';

/** A made-up hour of a live source. */
const hour: GridReading = {
  zone: 'USA',
  gPerKwh: 352,
  source: 'electricity-maps',
  signal: 'average',
  periodStart: '2026-11-21T08:00:00.000Z',
  periodEnd: '2026-11-21T09:00:00.000Z',
  observedAt: '2026-11-21T08:00:00.000Z',
  temporalMatch: null,
  waterLPerKwh: 3.1321,
};
const forecast: GridReading = {
  ...hour,
  gPerKwh: 340,
  signal: 'forecast',
  periodStart: '2026-11-21T09:00:00.000Z',
  periodEnd: '2026-11-21T10:00:00.000Z',
  observedAt: '2026-11-21T09:00:00.000Z',
  temporalMatch: 'forecast',
};
/** The same hour, two hours later. */
const settled: SettledReading = {
  zone: forecast.zone,
  source: forecast.source,
  place: 'US-MIDA-PJM',
  kind: 'average',
  signal: 'average',
  basis: 'lifecycle',
  gPerKwh: 361,
  isEstimated: false,
  periodStart: new Date(forecast.periodStart),
  periodEnd: new Date(forecast.periodEnd),
  observedAt: new Date(forecast.periodStart),
  fetchedAt: new Date(forecast.periodEnd),
  revision: 2,
  heardFrom: new Date('2026-11-01T00:00:00.000Z'),
  rawSha256: '5f1c3c1b4b1f2a1f4d8a7f3bb7d5a4f0a9d5f4e1c2b3a495867768594a3b2c1d',
};

const unknownCounts = { activeParametersB: null, totalParametersB: null };
const joules = (energy_joules: number) => readNeuralwatt({ energy: { energy_joules, duration_seconds: 14.2 } });
const counters = readGpuCounters({
  before: { atS: 1_795_253_400, energyMj: { 'GPU-0': 910_000_000, 'GPU-1': 912_000_000 } },
  after: { atS: 1_795_253_415, energyMj: { 'GPU-0': 917_200_000, 'GPU-1': 919_300_000 } },
  callTokens: 400,
  allTokens: 8000,
});

const asIssued = madeCall(12, { grid: forecast });

export const examples = {
  parametric: madeCall(1, {}),
  narrow: madeCall(2, { boundary: 'narrow' }),
  proxy: madeCall(3, { entry: unknownCounts }),
  proxyNarrow: madeCall(4, { tier: 'proxy', boundary: 'narrow' }),
  total: madeCall(5, { telemetry: joules(1080) }),
  counters: madeCall(6, { telemetry: counters }),
  countersNarrow: madeCall(7, { telemetry: counters, boundary: 'narrow' }),
  range: madeCall(8, {
    entry: { activeParametersB: { min: 44, max: 132 }, totalParametersB: { min: 440, max: 440 } },
  }),
  embedding: madeCall(9, {
    model: 'sim-embed',
    region: 'eu-west',
    usage: { promptTokens: 1500, cachedPromptTokens: 0, completionTokens: 0 },
  }),
  live: madeCall(10, { grid: hour }),
  refused: madeCall(11, { telemetry: joules(-5) }),
  asIssued,
  restated: restatedCall(asIssued, settled),
  degraded: madeCall(13, { usage: null }),
} as const;
export type ExampleName = keyof typeof examples;
