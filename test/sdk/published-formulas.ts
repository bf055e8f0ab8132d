/**
 * The numbers of a receipt, computed once more from what the receipt itself says and what is published.
 *
 * Invariant: nothing here comes from the methodology package, so an error there cannot agree with itself. Constants and
 * formulas: EcoLogits 0.11.3 (doi:10.21105/joss.07471) for the output; for the input 2 operations per parameter and
 * token (arXiv:2001.08361) on an H100 SXM5 (989.4 TFLOP/s, 700 W) at 40 % utilisation, 25 to 60 % as its bounds; a
 * tenth of idle capacity (arXiv:2508.15734).
 */

/** Billions of parameters. */
export interface Parameters {
  readonly active: number;
  readonly total: number;
}

/** What the simulated provider's models are said to be. */
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

const batch = 64;

/** Seconds that writing takes by the fit, if the provider was not faster. */
export function fittedLatencyS(outputTokens: number, active: number): number {
  return outputTokens * (0.0006785088094353663 * active + 0.0003119310311688259 * batch + 0.019473717579473387);
}

const gpusFor = (total: number): number => 2 ** Math.ceil(Math.log2(Math.ceil((1.2 * total * 16) / 8 / 80)));

interface Work {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  readonly gpuSeconds: number;
}

const nothing: Work = { acceleratorWh: 0, hostWh: 0, gpuSeconds: 0 };

function writing(tokens: number, { active, total }: Parameters, latencyS: number): Work {
  if (tokens === 0) return nothing;
  const gpus = gpusFor(total);
  const perToken = 1.1665273170451914e-6 * Math.exp(-0.011205921025579175 * batch) * active + 4.052928146734005e-5;
  return {
    acceleratorWh: gpus * tokens * perToken,
    hostWh: ((latencyS / 3600) * 1200 * (gpus / 8)) / batch,
    gpuSeconds: (latencyS * gpus) / batch,
  };
}

function reading(tokens: number, { active }: Parameters, utilisation: number): Work {
  const gpuSeconds = (tokens * 2 * active * 1e9) / (989.4e12 * utilisation);
  return { acceleratorWh: (gpuSeconds * 700) / 3600, hostWh: (gpuSeconds * 1200) / 8 / 3600, gpuSeconds };
}

const sum = (a: Work, share: number, b: Work): Work => ({
  acceleratorWh: a.acceleratorWh * share + b.acceleratorWh,
  hostWh: a.hostWh * share + b.hostWh,
  gpuSeconds: a.gpuSeconds * share + b.gpuSeconds,
});

export interface Inputs {
  readonly model: Parameters;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Seconds that writing took. */
  readonly latencyS: number;
  readonly pue: number;
  readonly gPerKwh: number;
  readonly wue: number;
  readonly gridWue: number;
}

function comprehensive(work: Work, inputs: Inputs) {
  const idle = 0.1 * (work.acceleratorWh + work.hostWh);
  const it = work.acceleratorWh + work.hostWh + idle;
  const energy = inputs.pue * it;
  const operation = (energy / 1000) * inputs.gPerKwh;
  const embodied = (1000 * work.gpuSeconds * (5700 / 8 + 273)) / 94_608_000;
  return {
    energy_accelerator_wh: work.acceleratorWh,
    energy_host_wh: work.hostWh,
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

/**
 * The receipt's number fields. The bounds of the proxy tier are 60 % around all of the work; those of the parametric tier
 * are 35 % around the writing, and the bounds of the utilisation around the reading.
 */
export function expectedNumbers(inputs: Inputs, boundary: 'comprehensive' | 'narrow', tier: 'parametric' | 'proxy') {
  const written = writing(inputs.completionTokens, inputs.model, inputs.latencyS);
  const read = (utilisation: number) => reading(inputs.promptTokens, inputs.model, utilisation);
  const account = boundary === 'narrow' ? narrow : comprehensive;
  const central = sum(written, 1, read(0.4));
  const low = tier === 'proxy' ? sum(central, 0.4, nothing) : sum(written, 0.65, read(0.6));
  const high = tier === 'proxy' ? sum(central, 1.6, nothing) : sum(written, 1.35, read(0.25));
  return {
    ...account(central, inputs),
    energy_low_wh: account(low, inputs).energy_wh,
    energy_high_wh: account(high, inputs).energy_wh,
    carbon_low_g: account(low, inputs).carbon_g,
    carbon_high_g: account(high, inputs).carbon_g,
  };
}
