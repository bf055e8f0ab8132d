/**
 * The bounds of a receipt, computed once more from the tables of docs/receipts.md.
 *
 * Invariant: as in published-formulas.ts, nothing here comes from the methodology package.
 */

/** Errors of a product: independent ratios, each either way, make this one. */
const off = (...ratios: readonly number[]): number => Math.exp(Math.hypot(...ratios.map((ratio) => Math.log(ratio))));

export interface Amounts {
  readonly acceleratorWh: number;
  readonly gpuSeconds: number;
}

export interface BoundInputs {
  /** `any`: nobody stated the parameters. */
  readonly architecture: 'dense' | 'sparse' | 'any';
  readonly pue: number;
  readonly wue: number;
  readonly gPerKwh: number;
  readonly gridWue: number;
  /** False: what the grid value counts is combustion alone, or is not known. */
  readonly isLifecycle?: boolean;
  /** Years from the yearly grid value to the call; null: the value is of the hour. */
  readonly gridYears: number | null;
}

/** None of these deployments says what it runs on, how many bits its weights have, or how many requests it serves at once. */
const hardware = 2;
/** The wider of those of H100 and B200. */
const measured = {
  dense: { low: 4.1, high: 4.35 },
  sparse: { low: 4.8, high: 4.73 },
  any: { low: 4.8, high: 4.73 },
} as const;
const measuredTime = {
  dense: { low: 7.55, high: 5.95 },
  sparse: { low: 8.67, high: 6.73 },
  any: { low: 8.67, high: 6.73 },
} as const;

/** `written` and `read`: the two parts of the work at that end of all that it can be. */
export function boundsAt(
  side: 'low' | 'high',
  { read, written }: { readonly written: Amounts; readonly read: Amounts },
  isNarrow: boolean,
  inputs: BoundInputs,
) {
  const at = (value: number, ratio: number) => (side === 'low' ? value / ratio : value * ratio);
  const ofModel = off(measured[inputs.architecture][side], hardware);
  const ofTime = off(measuredTime[inputs.architecture][side], hardware);
  const amountOf = (written: number, read: number, ratio: number) => {
    const base = written + read;
    const spread = at(written, ratio) + at(read, hardware);
    return { base, spread, ratio: base === 0 ? 1 : spread / base };
  };
  const accelerators = amountOf(written.acceleratorWh, read.acceleratorWh, ofModel);
  const time = amountOf(written.gpuSeconds, read.gpuSeconds, ofTime);
  const hostWh = (seconds: number) => (seconds * 1200) / 8 / 3600;
  const base = accelerators.base + (isNarrow ? 0 : hostWh(time.base));
  const spread = accelerators.spread + (isNarrow ? 0 : hostWh(time.spread));
  const work = { base, ratio: base === 0 ? 1 : spread / base };
  const idle = 1.13 / 1.1;
  const { gridYears, pue } = inputs;
  // Nobody has measured these PUEs, so the overhead can be twice as large, and 0.6 of the rest.
  const overhead = (1 + (side === 'low' ? 2 * (pue - 1) : Math.max(2 * (pue - 1), 0.6))) / pue;
  const energyRatio = isNarrow ? off(work.ratio) : off(work.ratio, idle, overhead);
  const energy = isNarrow ? work.base : work.base * 1.1 * pue;
  const grid = gridYears === null ? 1.33 : off(1.33, side === 'low' ? 1.75 : 1.5, 1.17 ** gridYears);
  const rest = (inputs.gPerKwh * (490 - 48)) / 370 + 48;
  const whole = inputs.isLifecycle === false ? rest : Math.max(inputs.gPerKwh, 24);
  const operation = at((energy / 1000) * (side === 'low' ? inputs.gPerKwh : whole), off(energyRatio, grid));
  const making = (1000 * time.base * (5700 / 8 + 273)) / 94_608_000;
  const made = isNarrow ? 0 : at(making, off(time.ratio, side === 'low' ? 3.8 : 2));
  const isWorld = inputs.gridWue === 3.908;
  const station = isWorld ? { low: 2.65, high: 3.2 }[side] : 2;
  const litres = at(inputs.wue, 1.5) + at(pue * inputs.gridWue, off(station, overhead));
  return {
    energyWh: at(energy, energyRatio),
    carbonG: operation + made,
    waterMl: isNarrow ? null : at(work.base * 1.1, off(work.ratio, idle)) * litres,
  };
}
