/**
 * The numbers of a receipt, computed once more from what the receipt itself says and what is published.
 *
 * Invariant: nothing here comes from the methodology package, so an error there cannot agree with itself. Constants and
 * formulas: docs/receipts.md for the output, as fitted to the ML.ENERGY leaderboard v3; for the input 2 operations per parameter
 * and token, and attention (arXiv:2001.08361), on an H100 SXM5 (989.4 TFLOP/s, 700 W) at 40 % utilisation; the host and the making of
 * the hardware from EcoLogits 0.11.3 (doi:10.21105/joss.07471); a tenth of idle capacity (arXiv:2508.15734). The bounds are in
 * published-bounds.ts.
 */

import { boundsAt, type Amounts as Work } from './published-bounds.ts';

/** Billions of parameters. */
export interface Parameters {
  readonly active: number;
  readonly total: number;
}

/** The stated sizes of the simulated provider's models. */
export const parametersOf: Readonly<Record<string, Parameters>> = {
  'sim-small': { active: 8, total: 8 },
  'sim-large': { active: 70, total: 70 },
  'sim-measured': { active: 5.1, total: 117 },
  'sim-embed': { active: 0.3, total: 0.3 },
};

/** PUE and on-site water (L/kWh) of the made-up data centres; yearly grid (gCO2e/kWh, Ember 2023); grid water (L/kWh, EcoLogits). */
export const siteOf: Readonly<Record<string, { pue: number; wue: number; gPerKwh: number; gridWue: number }>> = {
  'us-east': { pue: 1.15, wue: 0.4, gPerKwh: 384.4, gridWue: 3.1321 },
  'eu-north': { pue: 1.1, wue: 0.05, gPerKwh: 35.26, gridWue: 6.0315 },
  'eu-west': { pue: 1.2, wue: 0.2, gPerKwh: 41.44, gridWue: 3.6737 },
};

/** Requests at once, and bits of the weights, where nobody states them. */
const atOnce = 64;
const bits = 8;

/** `contextTimes`: at the bounds, models share keys and values more or less than is assumed. */
function writing({ completion, prompt }: Tokens, { active, total }: Parameters, contextTimes = 1): Work {
  // A mixture of experts reads those that any of its requests needs.
  const read = total * (1 - (1 - active / total) ** atOnce);
  const gigabytes = (read * bits) / 8 / atOnce;
  const context = ((prompt + completion / 2) / 1000) * Math.cbrt(active * total) * contextTimes;
  return {
    acceleratorWh: completion * (67.6e-6 * gigabytes + 1.19e-6 * active + 1.18e-6 * context + 4.8e-6),
    gpuSeconds: completion * (517e-6 * gigabytes + 3.71e-6 * active + 5.2e-6 * context + 47.9e-6),
  };
}

/** `context`: twice the tokens that a token finds before it, on average. */
function reading(tokens: number, { active, total }: Parameters, context: number, utilisation = 0.4): Work {
  // 12 · width² parameters in a layer, 100 layers wide: width = 100 · layers.
  const layers = Math.cbrt((Math.sqrt(active * total) * 1e9) / (12 * 100 * 100));
  const attention = 1 + (context * layers * (100 * layers)) / (active * 1e9);
  const gpuSeconds = (tokens * 2 * active * 1e9 * attention) / (989.4e12 * utilisation);
  return { acceleratorWh: (gpuSeconds * 700) / 3600, gpuSeconds };
}

interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

const sum = (a: Work, b: Work): Work => ({
  acceleratorWh: a.acceleratorWh + b.acceleratorWh,
  gpuSeconds: a.gpuSeconds + b.gpuSeconds,
});

export interface Inputs {
  readonly model: Parameters;
  /** Tokens that no cache served. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly pue: number;
  readonly gPerKwh: number;
  readonly wue: number;
  readonly gridWue: number;
  /** False: what the grid value counts is combustion alone, or is not known. */
  readonly isLifecycle?: boolean;
  /** Prompt tokens with those of a cache, if it served some. */
  readonly allTokens?: number;
  /** Years from the yearly grid value to the call; null: the value is of the hour. */
  readonly gridYears: number | null;
}

/** As the receipt states it. */
export function gridYearsOf(receipt: {
  readonly grid_temporal_match: string | null;
  readonly grid_intensity_age_minutes: number | null;
}): number | null {
  const age = receipt.grid_intensity_age_minutes;
  if (receipt.grid_temporal_match !== 'annual_fallback' && age !== null && age <= 120) return null;
  return (age ?? 0) / (365 * 24 * 60);
}

function comprehensive(work: Work, inputs: Inputs) {
  const host = (work.gpuSeconds * 1200) / 8 / 3600;
  const idle = 0.1 * (work.acceleratorWh + host);
  const it = work.acceleratorWh + host + idle;
  const energy = inputs.pue * it;
  const operation = (energy / 1000) * inputs.gPerKwh;
  const embodied = (1000 * work.gpuSeconds * (5700 / 8 + 273)) / 94_608_000;
  return {
    energy_accelerator_wh: work.acceleratorWh,
    energy_host_wh: host,
    energy_idle_wh: idle,
    energy_overhead_wh: energy - it,
    energy_wh: energy,
    carbon_operation_g: operation,
    carbon_embodied_g: embodied,
    carbon_g: operation + embodied,
    sci_g_per_request: operation + embodied,
    water_ml: it * (inputs.wue + inputs.pue * inputs.gridWue),
  };
}

function narrow(work: Work, inputs: Inputs) {
  const carbon = (work.acceleratorWh / 1000) * inputs.gPerKwh;
  return {
    energy_accelerator_wh: work.acceleratorWh,
    energy_host_wh: null,
    energy_idle_wh: null,
    energy_overhead_wh: null,
    energy_wh: work.acceleratorWh,
    carbon_operation_g: carbon,
    carbon_embodied_g: null,
    carbon_g: carbon,
    sci_g_per_request: null,
    water_ml: null,
  };
}

/** The receipt's number fields. */
export function expectedNumbers(inputs: Inputs, boundary: 'comprehensive' | 'narrow', tier: 'parametric' | 'proxy') {
  const { completionTokens: completion, model, promptTokens } = inputs;
  const allTokens = inputs.allTokens ?? promptTokens;
  const written = writing({ prompt: allTokens, completion }, model);
  const cached = allTokens - promptTokens;
  const read = reading(promptTokens, model, allTokens + cached);
  const account = boundary === 'narrow' ? narrow : comprehensive;
  const central = account(sum(written, read), inputs);
  const [low, high] = (['low', 'high'] as const).map((side) => boundsOf(side, inputs, boundary === 'narrow', tier));
  return {
    ...central,
    energy_low_wh: low?.energyWh ?? null,
    energy_high_wh: high?.energyWh ?? null,
    carbon_low_g: low?.carbonG ?? null,
    carbon_high_g: high?.carbonG ?? null,
    water_low_ml: low?.waterMl ?? null,
    water_high_ml: high?.waterMl ?? null,
  };
}

/** The smallest and the largest model of the size class of one, in billions: dense, or a mixture with few active parameters. */
function classOf({ active, total }: Parameters): readonly [Parameters, Parameters] {
  if (active !== total)
    return [
      { active: 3, total: 20 },
      { active: 15, total: 200 },
    ];
  const spans = [[0.1, 10] as const, [10, 40] as const, [40, 120] as const];
  const [least, most] = spans.find(([, end]) => active <= end) ?? [active, active];
  return [
    { active: least, total: least },
    { active: most, total: most },
  ];
}

function boundsOf(side: 'low' | 'high', inputs: Inputs, isNarrow: boolean, tier: 'parametric' | 'proxy') {
  const { completionTokens: completion, model, promptTokens } = inputs;
  const [least, most] = tier === 'proxy' ? classOf(model) : [model, model];
  // Nobody but the provider sees whether a cache spared it the reading.
  const prompt = inputs.allTokens ?? promptTokens;
  const parts =
    side === 'low'
      ? { written: writing({ prompt, completion }, least, 1 / 4), read: reading(promptTokens, least, 0, 0.6) }
      : {
          written: writing({ prompt, completion }, most, 4),
          read: reading(prompt, most, 2 * prompt, 0.25),
        };
  const architecture = tier === 'proxy' ? 'any' : model.active === model.total ? 'dense' : 'sparse';
  return boundsAt(side, parts, isNarrow, { ...inputs, architecture });
}
