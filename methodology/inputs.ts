/**
 * The inputs of a calculation that are facts of the call: name, unit, origin and value.
 *
 * Invariant: a value is what the code calculates with, so an unknown one is null and not its default.
 */

import type { Calculation } from './calculation.ts';
import type { CallFacts, ParameterRange } from './facts.ts';
import type { GridTimes } from './grid.ts';
import { totalOf } from './parametric.ts';
import { isOtherHardware } from './uncertainty.ts';

interface Given {
  readonly unit: string;
  readonly source: string;
}

const usage = 'usage of the call';
const catalogue = 'model catalogue';
const site = 'deployment catalogue';
const time = 'ms since 1970-01-01T00:00:00Z';
const outside = 'outside this methodology';
const telemetry = 'measured energy of the call';

const given: Readonly<Record<string, Given>> = {
  T_in: { unit: 'token', source: usage },
  T_cached: { unit: 'token', source: usage },
  T_out: { unit: 'token', source: usage },
  P_active: { unit: 'billion parameters', source: catalogue },
  P_total: { unit: 'billion parameters', source: catalogue },
  bits: { unit: 'bit', source: catalogue },
  TPS: { unit: 'token/s', source: catalogue },
  TTFT: { unit: 's', source: catalogue },
  upstream_time: { unit: 's', source: 'timing of the call' },
  PUE: { unit: '1', source: site },
  WUE_site: { unit: 'L/kWh', source: site },
  requested_at: { unit: time, source: 'timing of the call' },
  observed_at: { unit: time, source: 'grid reading' },
  period_start: { unit: time, source: 'grid reading' },
  period_end: { unit: time, source: 'grid reading' },
  is_forecast: { unit: '1', source: 'grid reading' },
  is_annual: { unit: '1', source: 'grid reading' },
  is_other_hardware: { unit: '1', source: site },
  charged_input_tokens: { unit: 'token', source: outside },
  prefill_time: { unit: 'GPU·s', source: outside },
  prefill_gpu_energy: { unit: 'Wh', source: outside },
  prefill_server_energy: { unit: 'Wh', source: outside },
  reported_energy: { unit: 'Wh', source: telemetry },
  call_tokens: { unit: 'token', source: telemetry },
  all_tokens: { unit: 'token', source: telemetry },
};

const stated = new Set(['stated_energy', 'stated_min', 'stated_max']);

/** The name without the run that it is for. */
export const baseName = (name: string): string => name.split('@')[0] ?? name;

export function givenOf(name: string, calculation: Calculation): Given {
  const base = baseName(name);
  if (stated.has(base)) return { unit: calculation.measured?.unit ?? 'Wh', source: telemetry };
  return given[base] ?? { unit: '1', source: 'unknown' };
}

/** The value of an input in a run (`min` and `max` are the ends of the parameter range). */
export function inputValues(facts: CallFacts, times: GridTimes): (name: string, run: string | null) => number | null {
  const { model, site: place, usage: tokens } = facts;
  const reading = facts.telemetry && 'energyWh' in facts.telemetry ? facts.telemetry : null;
  const isEmbedding = model.kind === 'embedding';
  const total = totalOf(model);
  const end = (range: ParameterRange | null, run: string | null): number | null =>
    range === null ? null : run === 'min' ? range.min : range.max;
  const values: Readonly<Record<string, number | null | undefined>> = {
    T_in: tokens?.promptTokens,
    T_cached: tokens?.cachedPromptTokens,
    T_out: isEmbedding ? 0 : tokens?.completionTokens,
    bits: model.quantizationBits,
    TPS: model.tokensPerS,
    TTFT: model.ttftS,
    upstream_time: facts.upstreamLatencyS,
    PUE: place.pue,
    WUE_site: place.wueOnsiteLPerKwh,
    grid_intensity: facts.grid?.gPerKwh,
    WUE_grid: facts.grid?.waterLPerKwh,
    requested_at: times.requested,
    observed_at: times.observed,
    period_start: times.start,
    period_end: times.end,
    is_forecast: times.isForecast ? 1 : 0,
    is_annual: facts.grid?.signal === 'annual' ? 1 : 0,
    is_other_hardware: isOtherHardware(place.accelerators) ? 1 : 0,
    charged_input_tokens: 0,
    prefill_time: 0,
    prefill_gpu_energy: 0,
    prefill_server_energy: 0,
    reported_energy: reading?.energyWh,
    stated_energy: reading?.stated?.value,
    stated_min: reading?.stated?.range?.min,
    stated_max: reading?.stated?.range?.max,
    call_tokens: reading?.stated?.tokens?.call,
    all_tokens: reading?.stated?.tokens?.all,
  };
  return (name, run) => {
    const base = baseName(name);
    if (base === 'P_active') return end(model.activeParametersB, run);
    if (base === 'P_total') return end(total, run);
    return values[base] ?? null;
  };
}
