/**
 * What kind of calculation a receipt comes from, and which kinds there are.
 *
 * Invariant: only the listed combinations have a plan, so a lineage from elsewhere cannot ask for another.
 */
import { standIns } from './factors.ts';
import type { Boundary, EstimatedCounts, ModelClass, ModelFacts } from './facts.ts';
import type { Methodology } from './methodologies.ts';
import type { EnergyUnit } from './telemetry/reading.ts';

/** What kind of calculation a receipt comes from. */
export interface Calculation {
  readonly tier: 'proxy' | 'parametric' | 'telemetry';
  readonly boundary: Boundary;
  readonly model_kind: ModelFacts['kind'];
  /** What gives the parts that were not measured; null where nothing of the model is used. */
  readonly modelled_by: 'parametric' | 'proxy' | null;
  /** Whether the parameter counts are a range, computed at both ends. */
  readonly parameter_range: boolean;
  readonly model_class: ModelClass | null;
  readonly measured: {
    readonly scope: 'total' | 'accelerator';
    /** Unit of the stated figure; null if it came in Wh. */
    readonly unit: EnergyUnit | null;
    readonly bounds: 'measurement' | 'estimate' | 'stated';
    readonly includes_pue: boolean | null;
  } | null;
  /** The token counts that were estimated, as far as something is modelled on them; absent: none. */
  readonly estimated_counts?: EstimatedCounts;
  /** The reply broke off, so that undelivered output is not counted; absent: it came to its end. */
  readonly cut_short?: true;
}

const isOneOf = (allowed: readonly unknown[], ...values: readonly unknown[]): boolean =>
  values.every((value) => allowed.includes(value));

/** For a value from outside: its form, and that its parts fit each other and the methodology. */
export function isCalculation(value: Calculation, method: Methodology): boolean {
  const { boundary, measured, model_class, model_kind, modelled_by, parameter_range, tier } = value;
  const classes = Object.keys(standIns);
  return (
    isOneOf(['comprehensive', 'narrow'], boundary) &&
    isOneOf(['chat', 'embedding'], model_kind) &&
    isOneOf(modelled_by === 'parametric' ? [true, false] : [false], parameter_range) &&
    isOneOf(modelled_by === 'proxy' ? classes : [null], model_class) &&
    (!('estimated_counts' in value) || (method.widensEstimates && isEstimated(value.estimated_counts, modelled_by))) &&
    (!('cut_short' in value) || isOneOf([true], value.cut_short)) &&
    (tier === 'telemetry'
      ? method.measures && measured !== null && isMeasured(measured, boundary, modelled_by, method)
      : measured === null && modelled_by === tier && isOneOf(['parametric', 'proxy'], tier))
  );
}

const isEstimated = (counts: unknown, modelledBy: Calculation['modelled_by']): boolean =>
  modelledBy !== null && isOneOf(['prompt', 'completion', 'both'], counts);

function isMeasured(
  { bounds, includes_pue, scope, unit }: NonNullable<Calculation['measured']>,
  boundary: Boundary,
  modelledBy: Calculation['modelled_by'],
  { measurementsOnly }: Methodology,
): boolean {
  const modelled = scope === 'total' ? ['parametric', null] : boundary === 'narrow' ? [null] : ['parametric', 'proxy'];
  return (
    isOneOf(bounds === 'stated' ? ['kWh'] : ['J', 'kWh', 'Wms', 'mJ', null], unit) &&
    isOneOf(boundary === 'narrow' ? ['accelerator'] : ['total', 'accelerator'], scope) &&
    (!measurementsOnly || isOneOf(['measurement'], bounds)) &&
    isOneOf(scope === 'total' ? ['measurement', 'estimate', 'stated'] : ['measurement', 'estimate'], bounds) &&
    isOneOf([true, false, null], includes_pue) &&
    isOneOf(modelled, modelledBy)
  );
}
