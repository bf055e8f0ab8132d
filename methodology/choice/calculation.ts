/** The kind of calculation behind a receipt. Its formulas follow from it and from the methodology (plan.ts). */

import type { Serving } from '../documents/measured-ratios.ts';
import type { Methodology } from '../documents/methodologies.ts';
import { fittedAccelerator } from '../facts/assumptions.ts';
import type { Boundary, EstimatedCounts, ModelClass, ModelFacts, SiteFacts } from '../facts/facts.ts';
import { isParameterRange, type PlacedFacts, totalOf } from '../facts/inputs.ts';
import type { EnergyUnit, TelemetryReading } from '../facts/telemetry/reading.ts';
import type { Modelling } from './tier.ts';

export interface Calculation {
  readonly tier: 'proxy' | 'parametric' | 'telemetry';
  readonly boundary: Boundary;
  readonly model_kind: ModelFacts['kind'];
  /** The model for the parts that were not measured, which measured figures are compared with; null: nobody counted the tokens. */
  readonly modelled_by: 'parametric' | 'proxy' | null;
  /** Whether the parameter counts are a range, computed at both ends. */
  readonly parameter_range: boolean;
  /** Where nobody counted the tokens, the class whose smallest model is the least that it can have been. */
  readonly model_class: ModelClass | null;
  /** Which measurements say how far the model can be off; null: nothing is modelled, or not by our own methodology. */
  readonly serving: Serving | null;
  readonly measured: {
    readonly scope: 'total' | 'accelerator';
    /** Unit of the stated figure; null if it came in Wh. */
    readonly unit: EnergyUnit | null;
    readonly bounds: 'measurement' | 'estimate' | 'stated';
    readonly includes_pue: boolean | null;
  } | null;
  /** The token counts that were estimated, where something is modelled on them; absent: none. */
  readonly estimated_counts?: EstimatedCounts | undefined;
  /** The reply broke off, so that undelivered output is not counted; absent: it came to its end. */
  readonly cut_short?: true | undefined;
}

/** `modelling`: what models the call; null where nobody counted its tokens. `reading`: the figure that is used; null: nothing was measured. */
export function calculationOf(
  { boundary, isCutShort, model, site, usage }: PlacedFacts,
  modelling: Modelling | null,
  reading: TelemetryReading | null,
  { isOwn }: Pick<Methodology, 'isOwn'>,
): Calculation {
  return {
    tier: reading === null && modelling !== null ? modelling.tier : 'telemetry',
    boundary,
    model_kind: model.kind,
    modelled_by: modelling === null ? null : modelling.tier,
    parameter_range: modelling?.tier === 'parametric' && isParameterRange(model),
    model_class: modelling === null ? unknownOf(model) : modelling.tier === 'proxy' ? modelling.modelClass : null,
    serving: isOwn ? servingOf(model, site, modelling) : null,
    measured: reading === null ? null : measuredOf(reading),
    estimated_counts: isOwn && modelling !== null ? usage?.estimated : undefined,
    cut_short: isCutShort ? true : undefined,
  };
}

/** Tells how much is known of the model and of its deployment: the accelerators, whether all parameters work on each token, bits and concurrency. */
function servingOf(
  { activeParametersB: active, ...model }: ModelFacts,
  site: SiteFacts,
  modelling: Modelling | null,
): Serving {
  const total = totalOf({ ...model, activeParametersB: active });
  const isPoint = active?.min === active?.max;
  const architecture =
    modelling?.tier !== 'parametric' || active === null || total === null
      ? 'any'
      : isPoint && active.min === total.min && active.max === total.max
        ? 'dense'
        : active.max < total.min
          ? 'sparse'
          : 'any';
  // The dense configurations have 16 bits, all have 8 to 4,096 requests at once, and whatever else is stated was not measured.
  const measuredBits: readonly (number | null | undefined)[] = architecture === 'sparse' ? [4, 8, 16] : [16];
  const bits = measuredBits.includes(model.quantizationBits);
  const { typicalConcurrency: atOnce } = site;
  const concurrency = atOnce != null && atOnce >= 7 && atOnce <= 4096;
  const stated = bits ? (concurrency ? 'both' : 'bits') : concurrency ? 'concurrency' : 'neither';
  return `${fittedAccelerator(site.accelerators) ?? 'other'}_${architecture}_${stated}`;
}

/** The class of a model of which nothing is known. */
export const unknownOf = ({ kind }: Pick<ModelFacts, 'kind'>): ModelClass =>
  kind === 'embedding' ? 'embedding' : 'unknown';

const measuredOf = ({ includesPue, scope, source, stated }: TelemetryReading): Calculation['measured'] => ({
  scope,
  unit: stated?.unit ?? null,
  bounds: scope === 'total' && stated?.range ? 'stated' : source === 'ecologits_impacts' ? 'estimate' : 'measurement',
  includes_pue: includesPue,
});

/** Whether a token count was estimated, which a formula of the bounds asks. */
export const isEstimated = ({ estimated_counts: counts }: Calculation, count: 'prompt' | 'completion'): boolean =>
  counts === count || counts === 'both';

/**
 * The program that a calculation runs. Units of a stated figure, classes and estimated counts are not in its name: the programs
 * look at the calculation for them.
 */
export function programName({ boundary, measured, model_kind, modelled_by, parameter_range }: Calculation): string {
  const known = modelled_by === 'proxy' ? 'class' : parameter_range ? 'range' : 'known';
  const model = modelled_by === null ? `uncounted_${model_kind}` : known;
  if (measured === null) return `${boundary}_${model}`;
  if (measured.scope === 'accelerator') return `${boundary}_counters_${model}`;
  const { includes_pue: includes } = measured;
  return `total_${includes === null ? 'overhead_unknown' : includes ? 'with_overhead' : 'without_overhead'}_${model}`;
}

const modelled = { parameter_range: false, model_class: null, serving: null, measured: null } as const;

/** A calculation for each program. The others differ from it by what `programName` leaves out. */
export const calculations: readonly Calculation[] = (['comprehensive', 'narrow'] as const).flatMap((boundary) =>
  (['chat', 'embedding'] as const).flatMap((model_kind) =>
    ([null, 'parametric', 'range', 'proxy'] as const).flatMap((by) => {
      const parameter_range = by === 'range';
      const modelled_by = by === 'range' ? 'parametric' : by;
      const call = { ...modelled, boundary, model_kind, modelled_by, parameter_range };
      const figure = { unit: 'J', bounds: 'measurement' } as const;
      const counters = { ...figure, scope: 'accelerator', includes_pue: false } as const;
      const totals = ([null, true, false] as const).map(
        (includes_pue) => ({ ...figure, scope: 'total', includes_pue }) as const,
      );
      const measured = [...(modelled_by === null ? [] : [counters]), ...(boundary === 'narrow' ? [] : totals)].map(
        (measured): Calculation => ({ ...call, tier: 'telemetry' as const, measured }),
      );
      return modelled_by === null ? measured : [{ ...call, tier: modelled_by }, ...measured];
    }),
  ),
);
