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
  readonly tier: 'parametric' | 'proxy';
  readonly activeB: number;
  readonly totalB: number;
  /** Those of a cache twice: they are context from the beginning. */
  readonly contextTokens: number;
  /** Those that were charged. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly pue: number;
  readonly wue: number;
  readonly gridWue: number;
  /** Years from the yearly grid value to the call; null: the value is of the hour. */
  readonly gridYears: number | null;
}

/** How much the amounts of work are at one end of writing and one of reading. */
function workShare(side: 'low' | 'high', inputs: BoundInputs) {
  const proxy = inputs.tier === 'proxy' ? 3.5 : 1;
  // None of these deployments says what it runs on.
  const hardware = 2;
  if (side === 'low')
    return {
      written: 1 / off(2.25, inputs.totalB > 200 ? 5.3 : 1, proxy, hardware),
      read: 0.4 / 0.6 / off(proxy, hardware),
    };
  const parameters = inputs.activeB * 1e9;
  // 12 · width² parameters in a layer, 100 layers wide: width = 100 · layers.
  const layers = Math.cbrt((Math.sqrt(inputs.activeB * inputs.totalB) * 1e9) / (12 * 100 * 100));
  const attention = (context: number) => 1 + (context * layers * (100 * layers)) / parameters;
  const { completionTokens, contextTokens, promptTokens } = inputs;
  return {
    // The charged input and that with the cached part twice are twice the whole input.
    written: attention(contextTokens + promptTokens + completionTokens) * off(3.7, proxy, hardware),
    read: (0.4 / 0.25) * attention(contextTokens) * off(proxy, hardware),
  };
}

export interface Central {
  readonly energy_wh: number;
  readonly carbon_operation_g: number;
  readonly carbon_embodied_g: number | null;
  readonly water_ml: number | null;
}

/** `written` and `read`: the two parts of the work. */
export function boundsAt(
  side: 'low' | 'high',
  { read, written }: { readonly written: Amounts; readonly read: Amounts },
  central: Central,
  inputs: BoundInputs,
) {
  const at = (value: number, ratio: number) => (side === 'low' ? value / ratio : value * ratio);
  const shares = workShare(side, inputs);
  const ratioOf = (amount: (work: Amounts) => number) =>
    (amount(written) * shares.written + amount(read) * shares.read) / (amount(written) + amount(read));
  const isNarrow = central.carbon_embodied_g === null;
  const work = ratioOf((each) => (isNarrow ? each.acceleratorWh : each.acceleratorWh + each.hostWh));
  const idle = 1.13 / 1.1;
  const overhead = (1 + (inputs.pue - 1) * 1.3) / inputs.pue;
  const energyRatio = isNarrow ? off(work) : off(work, idle, overhead);
  const { gridYears } = inputs;
  const grid = gridYears === null ? 1.33 : off(1.33, side === 'low' ? 1.75 : 1.5, 1.17 ** gridYears);
  const operation = at(central.carbon_operation_g, off(energyRatio, grid));
  const time = ratioOf((each) => each.gpuSeconds);
  const made = at(central.carbon_embodied_g ?? 0, side === 'low' ? off(time, 4, 3.8) : off(time, 2));
  const isWorld = inputs.gridWue === 3.908;
  const station = isWorld ? { low: 2.65, high: 3.2 }[side] : 2;
  const litres = at(inputs.wue, 1.5) + at(inputs.pue * inputs.gridWue, station);
  const water = (central.water_ml ?? 0) / (inputs.wue + inputs.pue * inputs.gridWue);
  return {
    energyWh: at(central.energy_wh, energyRatio),
    carbonG: operation + made,
    waterMl: central.water_ml === null ? null : at(water, off(work, idle)) * litres,
  };
}
