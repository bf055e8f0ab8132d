/**
 * Whether the measured energy of a call can be used, and what is modelled beside it.
 *
 * Invariant: a figure that cannot be right (no number, zero for tokens that were computed, a hundred times the modelled
 * energy or a hundredth of it) is not used, and the reason says so. Of a model that is not known it can be at most a
 * hundred times what the largest class takes, and no less than a hundredth of the smallest. It is never corrected. What cannot
 * be compared with a model is not surer for it: its bounds reach to all that it could be compared with.
 */
import { accountFor } from './boundary.ts';
import { modelledAt } from './bounds.ts';
import { spreads, telemetryLimits, uncountedBounds, uncountedCalls } from './factors.ts';
import type { CallFacts, GridReading, TokenUsage } from './facts.ts';
import type { Methodology } from './methodologies.ts';
import { refusals, type TelemetryReading, type TelemetryRefusal, wattHours } from './telemetry/reading.ts';
import type { ModelledTier } from './tier.ts';
import { combined, type Expected, type Reach, reachOf } from './uncertainty.ts';
import { secondsPerHour } from './units.ts';
import type { Estimate, Work } from './work.ts';

/** The best modelled estimate of the call. */
export interface Modelled {
  readonly tier: ModelledTier;
  readonly estimate: Estimate;
}

export type Measurement =
  | {
      readonly ok: true;
      readonly reading: TelemetryReading;
      readonly modelled: Modelled | null;
      /** What is modelled of what the figure is about; null where nothing of it can be. */
      readonly expected: Expected | null;
      readonly reach: Reach;
    }
  | { readonly ok: false; readonly why: string };

/** Of an estimate in the place of a measurement: it is kept in the lineage, beside the model of our own that is used. */
export const estimateUnused: Measurement = {
  ok: false,
  why: "it is the provider's own EcoLogits estimate, not a measurement",
};

const unused = (why: string): Measurement => ({ ok: false, why });

/** What a figure is compared with. */
export interface Comparison {
  /** Null where the model is not known at all. */
  readonly modelled: Modelled | null;
  /** Then the largest class, which bounds it from above; null in methodologies before gw-1.2. */
  readonly ceiling: Estimate | null;
  /** And the smallest, which bounds it from below; null in methodologies before gw-1.4. */
  readonly floor: Estimate | null;
}

export function measure(
  telemetry: TelemetryReading | TelemetryRefusal,
  facts: CallFacts & { readonly usage: TokenUsage; readonly grid: GridReading },
  method: Methodology,
  { ceiling, floor, modelled }: Comparison,
): Measurement {
  if ('refused' in telemetry) return unused(`the figure was refused, ${refusals[telemetry.refused]}`);
  const fault = faultOf(telemetry);
  if (fault !== null) return unused(`the figure was refused, ${fault}`);
  const { energyWh, scope } = telemetry;
  if (facts.boundary === 'narrow' && scope === 'total') {
    return unused('a total does not tell the accelerator that the narrow boundary counts');
  }
  if (facts.boundary === 'comprehensive' && scope === 'accelerator' && modelled === null) {
    return unused('only the accelerator was measured and there is no model of the host');
  }
  if (energyWh === 0 && facts.usage.promptTokens + facts.usage.completionTokens > 0) {
    return unused('the figure was refused, it is zero for a call with tokens');
  }
  const expected = modelled === null ? null : expectedOf(modelled.estimate, telemetry, facts, method);
  const ratio = telemetryLimits.plausibleRatio;
  if (expected !== null && energyWh > expected.wh * ratio) {
    return unused(`the figure was refused, it is more than ${ratio} times the modelled energy`);
  }
  if (expected !== null && energyWh * ratio < expected.wh) {
    return unused(`the figure was refused, it is less than 1/${ratio} of the modelled energy`);
  }
  if (ceiling !== null && energyWh > comparable(ceiling, telemetry, facts, method) * ratio) {
    return unused(`the figure was refused, it is more than ${ratio} times what a model of the largest class takes`);
  }
  if (floor !== null && energyWh * ratio < comparable(floor, telemetry, facts, method)) {
    return unused(`the figure was refused, it is less than 1/${ratio} of what a model of the smallest class takes`);
  }
  const ofClass = (estimate: Estimate): Reach => expectedOf(estimate, telemetry, facts, method);
  const reach =
    expected !== null
      ? reachOf(energyWh, expected)
      : floor === null || ceiling === null
        ? { leastWh: energyWh, mostWh: energyWh }
        : { leastWh: ofClass(floor).leastWh, mostWh: ofClass(ceiling).mostWh };
  return { ok: true, reading: telemetry, modelled, expected, reach };
}

/** What an uncounted call is compared with. */
interface UncountedLimits {
  readonly grid: GridReading;
  readonly method: Methodology;
  /** The fewest tokens of the smallest class; null in methodologies before gw-1.4. */
  readonly floor: Estimate | null;
}

/**
 * Nobody counted the tokens, so there is no modelled energy to compare a figure with, and an accelerator's part cannot be
 * completed: a total is taken up to what a whole rack draws in the time of the call, and down to what next to nothing takes.
 */
export function measureUncounted(
  telemetry: TelemetryReading | TelemetryRefusal,
  facts: CallFacts,
  { floor, grid, method }: UncountedLimits,
): Measurement {
  if ('refused' in telemetry) return unused(`the figure was refused, ${refusals[telemetry.refused]}`);
  const fault = faultOf(telemetry);
  if (fault !== null) return unused(`the figure was refused, ${fault}`);
  const { energyWh, scope } = telemetry;
  if (scope !== 'total') return unused('the tokens of the call are not known, by which its share is found');
  if (facts.boundary === 'narrow')
    return unused('a total does not tell the accelerator that the narrow boundary counts');
  if (energyWh === 0) return unused('the figure was refused, it is zero');
  const { ceilingPowerW } = uncountedCalls;
  const seconds =
    facts.upstreamLatencyS ?? (method.boundsUncounted ? uncountedBounds.longestS : Number.POSITIVE_INFINITY);
  const mostWh = (ceilingPowerW * seconds) / secondsPerHour;
  if (energyWh > mostWh) {
    const time = facts.upstreamLatencyS === null ? 'an hour' : 'the upstream time';
    return unused(`the figure was refused, it is more than ${ceilingPowerW} W take in ${time}`);
  }
  const ratio = telemetryLimits.plausibleRatio;
  if (floor !== null && energyWh * ratio < comparable(floor, telemetry, { ...facts, grid }, method)) {
    return unused(
      `the figure was refused, it is less than 1/${ratio} of what a model of the smallest class takes for a token`,
    );
  }
  const reach =
    floor === null
      ? { leastWh: energyWh, mostWh: energyWh }
      : { leastWh: expectedOf(floor, telemetry, { ...facts, grid }, method).leastWh, mostWh };
  return { ok: true, reading: telemetry, modelled: null, expected: null, reach };
}

/** The modelled energy, Wh, of what the figure is about. */
function comparable(
  { central }: Pick<Estimate, 'central'>,
  { includesPue, scope }: Pick<TelemetryReading, 'includesPue' | 'scope'>,
  { grid, site }: { readonly grid: GridReading; readonly site: CallFacts['site'] },
  method: Methodology,
): number {
  if (scope === 'accelerator') return central.acceleratorWh;
  const account = accountFor(central, site, grid, method.idleShare);
  return method.statesModelled && includesPue === false ? account.request_it_energy : account.request_energy;
}

function expectedOf(
  estimate: Estimate,
  telemetry: Pick<TelemetryReading, 'includesPue' | 'scope'>,
  facts: CallFacts & { readonly grid: GridReading },
  method: Methodology,
): Expected {
  const { grid, site } = facts;
  const { ends } = estimate;
  const of = (central: Estimate['central']): number => comparable({ central }, telemetry, facts, method);
  const account = (work: Estimate['central']) => accountFor(work, site, grid, method.idleShare);
  const withOverhead = telemetry.includesPue !== false;
  const at = (side: 'least' | 'most', work: Estimate['central']): number =>
    telemetry.scope === 'accelerator'
      ? work.acceleratorWh
      : modelledAt(side, { base: account(ends[side]), end: account(work) }, site, withOverhead);
  return {
    wh: of(estimate.central),
    smallestWh: of(ends.smallest),
    largestWh: of(ends.largest),
    leastWh: at('least', estimate.low),
    mostWh: at('most', estimate.high),
  };
}

/** A reading can come from a store, so what its reader made sure of is looked at again. */
function faultOf({ energyWh, scope, stated }: TelemetryReading): string | null {
  if (typeof energyWh !== 'number') return refusals.not_a_number;
  if (!Number.isFinite(energyWh)) return refusals.not_finite;
  if (energyWh < 0) return refusals.negative;
  if (!stated) return null;
  const { range, tokens, unit, value } = stated;
  const isCounter = unit === 'mJ';
  if (isCounter !== (tokens !== null) || wattHours(stated, value) !== energyWh) return refusals.inconsistent;
  if (range === null) return null;
  const fits = unit === 'kWh' && scope === 'total' && range.min >= 0 && range.min <= value && value <= range.max;
  return fits && Number.isFinite(wattHours(stated, range.max)) ? null : refusals.inconsistent;
}

/**
 * The work of a call whose accelerators were measured: the other parts are the model's, none if there is no model. The
 * counter is off, and from gw-1.4 on so is the share of a call that was not alone.
 */
export function workWithMeasured(
  { energyWh, stated }: TelemetryReading,
  modelled: Estimate | null,
  reach: Reach,
  { combinesBounds }: Pick<Methodology, 'combinesBounds'>,
): Estimate {
  const at = (work: Work | undefined, acceleratorWh: number): Work => ({
    acceleratorWh,
    hostWh: work?.hostWh ?? 0,
    acceleratorS: work?.acceleratorS ?? 0,
  });
  const { uncertainty } = telemetryLimits;
  const tokens = stated?.tokens ?? null;
  const isAlone = tokens !== null && tokens.call === tokens.all;
  const ratio = combined(spreads.counter, isAlone ? 1 : spreads.tokenShare);
  return {
    central: at(modelled?.central, energyWh),
    low: at(modelled?.low, combinesBounds ? Math.min(energyWh / ratio, reach.leastWh) : energyWh * (1 - uncertainty)),
    high: at(modelled?.high, combinesBounds ? Math.max(energyWh * ratio, reach.mostWh) : energyWh * (1 + uncertainty)),
    ends: {
      smallest: at(modelled?.ends.smallest, energyWh),
      largest: at(modelled?.ends.largest, energyWh),
      least: at(modelled?.ends.least, energyWh),
      most: at(modelled?.ends.most, energyWh),
    },
    basis: combinesBounds ? 'combined' : 'literature_default',
  };
}
