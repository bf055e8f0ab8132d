import type { Boundary, EstimatedCounts, ModelClass, ModelFacts } from './facts.ts';
import type { EnergyUnit } from './telemetry/reading.ts';

/** What kind of calculation a receipt comes from; its plan follows from it and the methodology. */
export interface Calculation {
  readonly tier: 'proxy' | 'parametric' | 'telemetry';
  readonly boundary: Boundary;
  readonly model_kind: ModelFacts['kind'];
  /**
   * What gives the parts that were not measured, and from gw-1.4 on what a measured figure is compared with; null where
   * nothing of the model is used.
   */
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
  /** Why a measured figure is compared with no modelled energy: its model is not known, or its tokens. Absent: it is, or was. */
  readonly uncompared?: 'model' | 'tokens';
  /** The token counts that were estimated, as far as something is modelled on them; absent: none. */
  readonly estimated_counts?: EstimatedCounts;
  /** The reply broke off, so that undelivered output is not counted; absent: it came to its end. */
  readonly cut_short?: true;
}
