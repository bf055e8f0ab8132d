/**
 * Whether the measured energy of a call can be used.
 *
 * Invariant: a figure that cannot be right (no number, zero for tokens that were computed, a hundred times the modelled
 * energy or a hundredth of it) is not used, and the reason says so. Where the model is not known, a figure can be at most a
 * hundred times what the largest class takes, and no less than a hundredth of the smallest. It is never corrected. A figure that
 * cannot be compared with a model is not surer for it: its bounds reach to all that it could be compared with.
 */
import { type Calculation, calculationOf } from '../choice/calculation.ts';
import { chooseTier, type Modelling } from '../choice/tier.ts';
import { ceilingClass, floorClasses } from '../documents/factor-table.ts';
import { telemetryLimits, uncountedBounds, uncountedCalls } from '../documents/factors.ts';
import type { Methodology } from '../documents/methodologies.ts';
import type { CallFacts, ModelClass } from '../facts/facts.ts';
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
  const choice = isCounted ? chooseTier('auto', facts.model) : null;
  const modelling = choice === null || choice.tier === null ? null : choice;
  const obstacle =
    faultOf(telemetry) ?? (isCounted ? countedFault(telemetry, facts, modelling) : uncountedFault(telemetry, facts));
  if (obstacle !== null) return unused(obstacle);
  const calculation = calculationOf(facts, modelling, telemetry, method);
  const steps: Trace | null = trace === null ? null : {};
  const figures = run(method.id, calculation, inputs, steps);
  const expected = figures.modelled_energy ?? null;
  const implausible =
    expected !== null
      ? comparedFault(telemetry, expected)
      : isCounted
        ? classesFault(telemetry, facts, inputs, method)
        : (rackFault(telemetry, facts, figures) ?? tokenFault(telemetry, facts, inputs, method));
  if (implausible !== null) return unused(refusedFor(implausible));
  if (trace !== null) Object.assign(trace, steps);
  return { ok: true, reading: telemetry, calculation, figures };
}

const unsplit = 'a total does not tell the accelerator that the narrow boundary counts';

function countedFault(
  { energyWh, scope }: TelemetryReading,
  facts: CallFacts,
  modelling: Modelling | null,
): string | null {
  const { boundary, usage } = facts;
  if (boundary === 'narrow' && scope === 'total') return unsplit;
  if (boundary === 'comprehensive' && scope === 'accelerator' && modelling === null) {
    return 'only the accelerator was measured and there is no model of the host';
  }
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

function comparedFault({ energyWh }: TelemetryReading, expectedWh: number): string | null {
  if (energyWh > expectedWh * ratio) return `it is more than ${ratio} times the modelled energy`;
  return energyWh * ratio < expectedWh ? `it is less than 1/${ratio} of the modelled energy` : null;
}

function classesFault(
  reading: TelemetryReading,
  facts: PlacedFacts,
  inputs: Inputs,
  method: Methodology,
): string | null {
  const of = (modelClass: ModelClass) => ofClass(modelClass, reading, facts, inputs, method);
  if (reading.energyWh > of(ceilingClass) * ratio)
    return `it is more than ${ratio} times what a model of the largest class takes`;
  return reading.energyWh * ratio < of(floorClasses[facts.model.kind])
    ? `it is less than 1/${ratio} of what a model of the smallest class takes`
    : null;
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

function tokenFault(reading: TelemetryReading, facts: PlacedFacts, inputs: Inputs, method: Methodology): string | null {
  const { fewestTokens } = uncountedBounds;
  const { kind } = facts.model;
  const fewest = {
    ...inputs,
    T_in: kind === 'embedding' ? fewestTokens : 0,
    T_cached: 0,
    T_out: kind === 'embedding' ? 0 : fewestTokens,
  };
  return reading.energyWh * ratio < ofClass(floorClasses[kind], reading, facts, fewest, method)
    ? `it is less than 1/${ratio} of what a model of the smallest class takes for a token`
    : null;
}

/** Wh: what a class takes of what the figure is about. */
function ofClass(
  modelClass: ModelClass,
  { includesPue, scope }: TelemetryReading,
  facts: PlacedFacts,
  inputs: Inputs,
  method: Methodology,
): number {
  const whole: PlacedFacts = { ...facts, boundary: 'comprehensive' };
  const calculation = calculationOf(whole, { tier: 'proxy', modelClass }, null, method);
  const { accelerator_energy, request_energy, request_it_energy } = run(method.id, calculation, inputs);
  const energy = includesPue === false ? request_it_energy : request_energy;
  return (scope === 'accelerator' ? accelerator_energy : energy) ?? Number.NaN;
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
