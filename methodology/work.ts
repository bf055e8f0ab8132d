/**
 * What one call makes the hardware do, the meeting point of the tiers: each tier estimates work, and energy, carbon and
 * water follow from work in one way (boundary.ts). All that follows is linear in work.
 */
export interface Work {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  /** GPU-seconds that belong to this call alone; they carry the embodied impact. */
  readonly acceleratorS: number;
}

export interface Estimate {
  readonly central: Work;
  readonly low: Work;
  readonly high: Work;
  readonly ends: Ends;
  /**
   * Where the bounds come from. `combined`: the sources that the lineage names (uncertainty.ts); before gw-1.4 one of the
   * others, which are scenarios and no confidence interval.
   */
  readonly basis: 'combined' | 'parameter_range' | 'literature_default';
}

/** From gw-1.4 on: what is not known without a distribution, at its ends. */
export interface Ends {
  /** The value at the least and the most parameters that the model can have; both the value itself where they are known. */
  readonly smallest: Work;
  readonly largest: Work;
  /** With all else at its end too (utilisation, attention, what a cache saved): low and high are these with their spread. */
  readonly least: Work;
  readonly most: Work;
}

/** How much less (`least`) and more (`most`) the true token counts can be than those that are charged, as ratios. */
export interface CountRatios {
  readonly promptLeast: number;
  readonly promptMost: number;
  readonly completionLeast: number;
  readonly completionMost: number;
}

/** Of counts that are not estimates. */
export const exactly: CountRatios = { promptLeast: 1, promptMost: 1, completionLeast: 1, completionMost: 1 };

export const noWork: Work = { acceleratorWh: 0, hostWh: 0, acceleratorS: 0 };

/** The weighted sum of two amounts of work. */
export function combine(a: Work, weightA: number, b: Work, weightB: number): Work {
  return {
    acceleratorWh: a.acceleratorWh * weightA + b.acceleratorWh * weightB,
    hostWh: a.hostWh * weightA + b.hostWh * weightB,
    acceleratorS: a.acceleratorS * weightA + b.acceleratorS * weightB,
  };
}

/** Of an estimate of an earlier version, whose bounds are the ends of what it knows. */
export const endsOf = (low: Work, high: Work): Ends => ({ smallest: low, largest: high, least: low, most: high });
