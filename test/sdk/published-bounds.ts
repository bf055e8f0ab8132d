/**
 * The bounds of a receipt, computed once more from the table of docs/decisions/0025-bounds-from-sources.md.
 *
 * Invariant: as in published-formulas.ts, nothing here comes from the methodology package.
 */

/** Errors of a product: independent ratios, each either way, make this one. */
const off = (...ratios: readonly number[]): number => Math.exp(Math.hypot(...ratios.map((ratio) => Math.log(ratio))));

export interface Amounts {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  readonly gpuSeconds: number;
}

export interface BoundInputs {
  /** Billions: the fewest that work on a token, and the most there are, of the model or of all in its class. */
  readonly leastActiveB: number;
  readonly mostTotalB: number;
  /** With those of a cache. */
  readonly allTokens: number;
  readonly completionTokens: number;
  readonly pue: number;
  readonly wue: number;
  readonly gPerKwh: number;
  readonly gridWue: number;
  /** False: what the grid value counts is combustion alone, or is not known. */
  readonly isLifecycle?: boolean;
  /** Years from the yearly grid value to the call; null: the value is of the hour. */
  readonly gridYears: number | null;
}

interface Shares {
  /** The share of the two parts of the work that is unknown without a distribution. */
  readonly ends: readonly [number, number];
  /** How far off they are beside it. */
  readonly spreads: readonly [number, number];
}

function sharesAt(side: 'low' | 'high', inputs: BoundInputs): Shares {
  // None of these deployments says what it runs on.
  const hardware = 2;
  if (side === 'low')
    return { ends: [1, 0.4 / 0.6], spreads: [off(2.25, inputs.mostTotalB > 200 ? 5.3 : 1, hardware), hardware] };
  const { allTokens, completionTokens, leastActiveB, mostTotalB } = inputs;
  // 12 · width² parameters in a layer, 100 layers wide: width = 100 · layers.
  const layers = Math.cbrt((Math.sqrt(leastActiveB * mostTotalB) * 1e9) / (12 * 100 * 100));
  const attention = (context: number) => 1 + (context * layers * (100 * layers)) / (leastActiveB * 1e9);
  return {
    ends: [attention(2 * allTokens + completionTokens), (0.4 / 0.25) * attention(allTokens)],
    spreads: [off(3.7, hardware), hardware],
  };
}

/** `written` and `read`: the two parts of the work, of the smallest or the largest model that it can be. */
export function boundsAt(
  side: 'low' | 'high',
  { read, written }: { readonly written: Amounts; readonly read: Amounts },
  isNarrow: boolean,
  inputs: BoundInputs,
) {
  const at = (value: number, ratio: number) => (side === 'low' ? value / ratio : value * ratio);
  const { ends, spreads } = sharesAt(side, inputs);
  const amountOf = (amount: (work: Amounts) => number) => {
    const parts = [amount(written) * ends[0], amount(read) * ends[1]] as const;
    const base = parts[0] + parts[1];
    const spread = at(parts[0], spreads[0]) + at(parts[1], spreads[1]);
    return { base, ratio: base === 0 ? 1 : spread / base };
  };
  const work = amountOf((each) => (isNarrow ? each.acceleratorWh : each.acceleratorWh + each.hostWh));
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
  const time = amountOf((each) => each.gpuSeconds);
  const making = (1000 * time.base * (5700 / 8 + 273)) / 94_608_000;
  const made = isNarrow ? 0 : at(making, side === 'low' ? off(time.ratio, 4, 3.8) : off(time.ratio, 2));
  const isWorld = inputs.gridWue === 3.908;
  const station = isWorld ? { low: 2.65, high: 3.2 }[side] : 2;
  const litres = at(inputs.wue, 1.5) + at(pue * inputs.gridWue, off(station, overhead));
  return {
    energyWh: at(energy, energyRatio),
    carbonG: operation + made,
    waterMl: isNarrow ? null : at(work.base * 1.1, off(work.ratio, idle)) * litres,
  };
}
