/**
 * Energy as a provider with meters reports it: the `energy` object of Neuralwatt, in the body of JSON replies and as an
 * SSE comment in streams. The numbers are made up, but agree with each other:
 * energy_joules = avg_power_watts × duration_seconds × attribution_ratio, and 3.6 MJ are one kWh.
 */

export interface MeasuredEnergy {
  readonly energy_joules: number;
  readonly energy_kwh: number;
  readonly avg_power_watts: number;
  readonly duration_seconds: number;
  readonly attribution_method: string;
  readonly attribution_ratio: number;
}

const POWER_W = 640;
const TOKENS_PER_S = 60;
/** Reading a prompt is much quicker than writing an answer. */
const PROMPT_TOKENS_PER_S = 3000;
const RATIO = 0.125;

export function measuredEnergy(promptTokens: number, completionTokens: number): MeasuredEnergy {
  const durationS = completionTokens / TOKENS_PER_S + promptTokens / PROMPT_TOKENS_PER_S;
  const joules = POWER_W * durationS * RATIO;
  return {
    energy_joules: joules,
    energy_kwh: joules / 3_600_000,
    avg_power_watts: POWER_W,
    duration_seconds: durationS,
    attribution_method: 'token_pool_ratio',
    attribution_ratio: RATIO,
  };
}
