/**
 * Measured energy of one call, in one form whatever its source, or why a figure was not taken.
 *
 * Invariant: `energyWh` is finite and not negative, and is `stated` converted by one formula. What the source said is
 * kept in `raw`, in bounded size, as JSON. A reader never throws, and gives null where the reply holds no such figure.
 */
export type TelemetrySource =
  | 'neuralwatt'
  | 'greenpt'
  | 'melious'
  | 'energy_header'
  | 'ecologits_impacts'
  | 'gpu_counters';

export type EnergyUnit = 'J' | 'kWh' | 'Wms' | 'mJ';

/** The figure as the source gave it. */
export interface StatedEnergy {
  /** Where it stood, e.g. `energy.energy_joules`. */
  readonly field: string;
  readonly value: number;
  readonly unit: EnergyUnit;
  /** Tokens of this call and of all calls on the counted hardware in the interval; null where the source attributed. */
  readonly tokens: { readonly call: number; readonly all: number } | null;
  /** Bounds that the source gave, in the same unit. */
  readonly range: { readonly min: number; readonly max: number } | null;
}

export interface TelemetryReading {
  readonly source: TelemetrySource;
  readonly energyWh: number;
  /** Whether the figure includes the data centre's overhead; null if the source does not say. */
  readonly includesPue: boolean | null;
  /** `accelerator`: the accelerators alone. `total`: one figure that cannot be split. */
  readonly scope: 'total' | 'accelerator';
  readonly durationS: number | null;
  /** How the source assigned the energy to this call. */
  readonly attribution: string | null;
  /** Seconds between the two samples of a counter. */
  readonly intervalS: number | null;
  /** Absent or null: `energyWh` is the figure itself. */
  readonly stated?: StatedEnergy | null;
  /** JSON, bounded in size. */
  readonly raw: unknown;
}

export const refusals = {
  not_a_number: 'it is not a number',
  not_finite: 'it is not finite',
  negative: 'it is negative',
  unknown_unit: 'its unit is not known',
  inconsistent: 'its figures contradict each other',
  counter_reset: 'a counter went backwards or is missing',
  no_interval: 'the samples span no time',
  no_samples: 'no samples of every counter cover the call',
  no_token_share: 'the share of the tokens is not known',
} as const;

export interface TelemetryRefusal {
  readonly source: TelemetrySource;
  readonly refused: keyof typeof refusals;
  readonly raw: unknown;
}

/** Null: the reply holds no figure of this shape. */
export type TelemetryResult = TelemetryReading | TelemetryRefusal | null;

const secondsPerHour = 3600;
const whPerKwh = 1000;
const milliwattSecondsPerWh = 3_600_000;

/** Wh. The operations are those of the formulas `reported_energy`, in their order. */
export function wattHours(stated: Pick<StatedEnergy, 'unit' | 'tokens'>, value: number): number {
  if (stated.unit === 'J') return value / secondsPerHour;
  if (stated.unit === 'kWh') return value * whPerKwh;
  const total = value / milliwattSecondsPerWh;
  return stated.tokens === null ? total : (total * stated.tokens.call) / stated.tokens.all;
}

type About = Omit<TelemetryReading, 'energyWh' | 'stated'>;

/** The reading of a figure of any type: refused unless it is a finite number and not negative. */
export function readingOf(about: About, stated: Omit<StatedEnergy, 'value'> & { readonly value: unknown }) {
  const { value } = stated;
  const refuse = refusal(about.source, about.raw);
  if (typeof value !== 'number') return refuse('not_a_number');
  const energyWh = wattHours(stated, value);
  if (!Number.isFinite(energyWh)) return refuse('not_finite');
  if (energyWh < 0) return refuse('negative');
  // -0 is a number that JSON cannot carry.
  return { ...about, energyWh: energyWh + 0, stated: { ...stated, value: value + 0 } } satisfies TelemetryReading;
}

export const refusal =
  (source: TelemetrySource, raw: unknown) =>
  (refused: TelemetryRefusal['refused']): TelemetryRefusal => ({ source, refused, raw });

/** The object's own property; undefined for anything that is not an object. */
export function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

/** A finite, non-negative number, else null. */
export const amountOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value + 0 : null;

const longestText = 200;
const mostEntries = 64;
const deepest = 4;

/** Well-formed, of bounded length, and without NUL, which Postgres takes in no text and no JSON. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' ? value.slice(0, longestText).toWellFormed().replaceAll('\0', '\uFFFD') : null;

/** A copy that JSON carries without loss, with the beginning of what is too long; what is not JSON becomes text or null. */
export const boundedCopy = (value: unknown): unknown => copyWithin(value, { entries: mostEntries }, 0);

/** `left` is shared by all levels: a tree of 64 entries at each level would be without bounds in practice. */
function copyWithin(value: unknown, left: { entries: number }, depth: number): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : String(value);
  if (typeof value === 'string') return textOrNull(value);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth >= deepest) return null;
  const take = <T>(items: readonly T[]): readonly T[] => {
    const taken = items.slice(0, left.entries);
    left.entries -= taken.length;
    return taken;
  };
  if (Array.isArray(value)) return take(value).map((item) => copyWithin(item, left, depth + 1));
  const entries = take(Object.entries(value));
  return Object.fromEntries(entries.map(([key, item]) => [textOrNull(key), copyWithin(item, left, depth + 1)]));
}

/** Whether a copy may hold the beginning only of what there was. */
export function isBounded(copy: unknown): boolean {
  let entries = 0;
  const reaches = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') return value.length >= longestText;
    if (typeof value !== 'object' || value === null) return false;
    const items = Object.entries(value).flat();
    entries += items.length / 2;
    return depth >= deepest - 1 || entries >= mostEntries || items.some((item) => reaches(item, depth + 1));
  };
  return reaches(copy, 0);
}
