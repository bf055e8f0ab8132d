/**
 * Calls whose receipts are made by the benchmark: one for each way in which the numbers come about.
 *
 * Invariant: what the catalogue says of them is the same object for every call, as in a running sidecar.
 */

import { err } from '@gw/contract/internal/result';
import { annualReading } from '@gw/methodology/grid-annual';
import { readEnergyHeader } from '@gw/methodology/telemetry/energy-header';
import type { CallIdentity, CallOutcome } from '@gw/receipt-sidecar/internals/receipt/receipt';
import { plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests } from '@gw/testing/receipt-sidecar/asked';

export interface FinishedCall {
  readonly identity: CallIdentity;
  readonly outcome: CallOutcome;
}

type Candidate = NonNullable<CallOutcome['servedBy']>;
type Model = CallIdentity['route']['model'];

const grid = annualReading('FRA');
const servedBy: Candidate = {
  deployment: {
    ...plainDeployment,
    id: 'bench-fr',
    provider: 'bench',
    region: 'eu-west',
    models: { 'bench-large': 'bench-large' },
    pue: 1.2,
    wueOnsiteLPerKwh: 0.3,
    telemetry: 'energy_header',
  },
  region: { code: 'eu-west', name: 'Paris', country: 'FR', gridZone: 'FRA', status: 'active', preference: 0 },
  gridAt: () => grid,
  priceAt: () => null,
  signals: [],
};

const model: Model = {
  ...plainModel,
  id: 'bench-large',
  created: 1_735_689_600,
  ownedBy: 'bench',
  contextWindow: 128_000,
  activeParametersB: { min: 70, max: 70 },
  totalParametersB: { min: 70, max: 70 },
  modelClass: 'large',
};

function callTo(entry: Model, telemetry: CallOutcome['telemetry'] = null): FinishedCall {
  return {
    identity: {
      receiptId: 'rcpt_019b78a5-d800-7000-8000-000000000001',
      createdAt: '2026-01-01T12:00:00.000Z',
      project: null,
      requestId: '00000000-0000-4000-8000-000000000001',
      request: parsedForTests({ model: entry.id, promptBytes: 1000 }),
      route: {
        model: entry,
        modelOf: () => entry,
        alias: null,
        passed: [],
        pinned: false,
        comparison: err('no_live_grid_signal'),
        failoverChain: [servedBy],
        estimated: { promptTokens: 200, completionTokens: 400 },
        offered: [servedBy],
        bound: null,
        peers: [servedBy],
        shared: null,
        outside: () => null,
        barredBy: () => null,
      },
    },
    outcome: {
      status: 'complete',
      servedBy,
      usage: { promptTokens: 200, cachedPromptTokens: 0, completionTokens: 150 },
      upstreamLatencyS: 2,
      telemetry,
    },
  };
}

const range: Model = { ...model, activeParametersB: { min: 20, max: 90 }, totalParametersB: { min: 200, max: 600 } };
const byClass: Model = { ...model, activeParametersB: null, totalParametersB: null };

/** Each call is named after its distinguishing feature. */
export const finishedCalls: readonly (readonly [string, FinishedCall])[] = [
  ['parameters known', callTo(model)],
  ['a range of parameters', callTo(range)],
  ['a size class', callTo(byClass)],
  ['measured energy', callTo(model, readEnergyHeader({ 'x-energy-joules': '600' }))],
];
