/**
 * Whether the measured energy of a call can be used.
 *
 * Invariant: a figure that cannot be right (no number, zero for tokens that were computed, a hundred times the modelled
 * energy or a hundredth of it) is not used, and the reason says so. It is never corrected. A model of which nothing is known is one of
 * any size, so that a figure of it is compared too.
 */
import { type Calculation, calculationOf, unknownOf } from '../choice/calculation.ts';
import { chooseTier, type Modelling } from '../choice/tier.ts';
import { telemetryLimits, uncountedCalls } from '../documents/factors.ts';
import type { Methodology } from '../documents/methodologies.ts';
import type { CallFacts, ModelFacts } from '../facts/facts.ts';
import type { Inputs, PlacedFacts } from '../facts/inputs.ts';
import { refusals, type TelemetryReading, type TelemetryRefusal, wattHours } from '../facts/telemetry/reading.ts';
import type { Results, Trace } from '../generated/receipt.ts';
import { run } from './programs.ts';

export type Measurement =
  | {
      readonly ok: true;
      readonly reading: TelemetryReading;
      readonly calculation: Calculation;
      readonly figures: Results;
    }
  | { readonly ok: false; readonly why: string };

const unused = (why: string): Measurement => ({ ok: false, why });
const refusedFor = (why: string): string => `the figure was refused, ${why}`;

/** An estimate in the place of a measurement is kept in the lineage, beside the model of our own that is used. */
export const estimateUnused = unused("it is the provider's own EcoLogits estimate, not a measurement");

const ratio = telemetryLimits.plausibleRatio;

/** `facts` are sound; their token counts may be missing. The steps of a figure that is used are written into the trace. */
export function measure(
  telemetry: TelemetryReading | TelemetryRefusal,
  facts: PlacedFacts,
  inputs: Inputs,
  method: Methodology,
  trace: Trace | null,
): Measurement {
  if ('refused' in telemetry) return unused(refusedFor(refusals[telemetry.refused]));
  const isCounted = facts.usage !== null;
  const modelling = isCounted ? modellingOf(facts.model) : null;
  const obstacle =
    faultOf(telemetry) ?? (isCounted ? countedFault(telemetry, facts) : uncountedFault(telemetry, facts));
  if (obstacle !== null) return unused(obstacle);
  const calculation = calculationOf(facts, modelling, telemetry, method);
  const steps: Trace | null = trace === null ? null : {};
  const figures = run(method.id, calculation, inputs, steps);
  const implausible = isCounted
    ? comparedFault(telemetry, figures)
    : (rackFault(telemetry, facts, figures) ?? tokenFault(telemetry, figures));
  if (implausible !== null) return unused(refusedFor(implausible));
  if (trace !== null) Object.assign(trace, steps);
  return { ok: true, reading: telemetry, calculation, figures };
}

function modellingOf(model: ModelFacts): Modelling {
  const choice = chooseTier('auto', model);
  return choice.tier === null ? { tier: 'proxy', modelClass: unknownOf(model) } : choice;
}

const unsplit = 'a total does not tell the accelerator that the narrow boundary counts';

function countedFault({ energyWh, scope }: TelemetryReading, { boundary, model, usage }: CallFacts): string | null {
  if (boundary === 'narrow' && scope === 'total') return unsplit;
  const isUnknown = chooseTier('auto', model).tier === null;
  if (boundary === 'comprehensive' && scope === 'accelerator' && isUnknown)
    return 'only the accelerator was measured and there is no model of the host';
  const isEmpty = usage === null || usage.promptTokens + usage.completionTokens === 0;
  return energyWh === 0 && !isEmpty ? refusedFor('it is zero for a call with tokens') : null;
}

/**
 * Nobody counted the tokens, so there is no modelled energy to compare a figure with, and an accelerator's part cannot be
 * completed: a total is taken up to what a whole rack draws in the time of the call, and down to what next to nothing takes.
 */
function uncountedFault({ energyWh, scope }: TelemetryReading, { boundary }: CallFacts): string | null {
  if (scope !== 'total') return 'the tokens of the call are not known, by which its share is found';
  if (boundary === 'narrow') return unsplit;
  return energyWh === 0 ? refusedFor('it is zero') : null;
}

/** The figure can be of any model in the range, or in the class. */
function comparedFault(
  { energyWh }: TelemetryReading,
  { modelled_largest: largest, modelled_smallest: smallest }: Results,
): string | null {
  if (largest == null || smallest == null) return null;
  if (energyWh > largest * ratio) return `it is more than ${ratio} times the modelled energy`;
  return energyWh * ratio < smallest ? `it is less than 1/${ratio} of the modelled energy` : null;
}

function rackFault(
  { energyWh }: TelemetryReading,
  { upstreamLatencyS }: CallFacts,
  { most_believed }: Results,
): string | null {
  if (most_believed == null || energyWh <= most_believed) return null;
  const time = upstreamLatencyS === null ? 'an hour' : 'the upstream time';
  return `it is more than ${uncountedCalls.ceilingPowerW} W take in ${time}`;
}

function tokenFault({ energyWh }: TelemetryReading, { least_believed }: Results): string | null {
  return least_believed != null && energyWh * ratio < least_believed
    ? `it is less than 1/${ratio} of what a token of the smallest model takes`
    : null;
}

/** A reading can come from a store, so what its reader made sure of is looked at again. */
function faultOf({ energyWh, scope, stated }: TelemetryReading): string | null {
  if (typeof energyWh !== 'number') return refusedFor(refusals.not_a_number);
  if (!Number.isFinite(energyWh)) return refusedFor(refusals.not_finite);
  if (energyWh < 0) return refusedFor(refusals.negative);
  if (!stated) return null;
  const { range, tokens, unit, value } = stated;
  const isCounter = unit === 'mJ';
  if (isCounter !== (tokens !== null) || wattHours(stated, value) !== energyWh)
    return refusedFor(refusals.inconsistent);
  if (range === null) return null;
  const fits = unit === 'kWh' && scope === 'total' && range.min >= 0 && range.min <= value && value <= range.max;
  return fits && Number.isFinite(wattHours(stated, range.max)) ? null : refusedFor(refusals.inconsistent);
}
