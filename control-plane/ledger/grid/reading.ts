/**
 * Turns the reply of a grid source into readings, without anything doubtful, or into the reason why there are none.
 *
 * Invariant: a reading is never for another zone than the one asked for, never null, negative or absurd (over a life cycle 0 is,
 * too), and never calls measured what lies in the future. Its times are the source's own, not those of our request, and its period is
 * one that the source publishes: the settled value of a longer one would restate receipts that it says nothing about.
 */
import { createHash } from 'node:crypto';
import { hourMs, minuteMs } from '@gw/contract/internal/durations';
import { z } from 'zod';

export const sourceNames = ['electricity-maps', 'watttime', 'neso', 'entsoe'] as const;
export type SourceName = (typeof sourceNames)[number];

/** `place` is the source's own name for the zone, such as `SE` or `10YFR-RTE------C`. */
export interface ZonePlace {
  readonly zone: string;
  readonly place: string;
}

/** Which emissions the number counts: of the whole life cycle, or of combustion alone. */
export type Basis = 'lifecycle' | 'direct' | 'unknown';
/** Whether the number is for all electricity in the zone, or for the power station that would serve one more kWh. */
export type Kind = 'average' | 'marginal';

/** One reading of a source: gCO2e (or gCO2, by its `basis`) per kWh in one period. */
export interface GridObservation {
  /** The adapter's name, with the version of its factors if the number is our own computation. */
  readonly source: string;
  readonly zone: string;
  readonly place: string;
  readonly gPerKwh: number;
  readonly signal: 'average' | 'marginal' | 'forecast';
  readonly kind: Kind;
  readonly basis: Basis;
  /** The period includes its start and not its end. */
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly observedAt: Date;
  readonly fetchedAt: Date;
  readonly isEstimated: boolean;
  /** True for a measured value whose period was over when it was fetched: the source will hardly change it. */
  readonly settled: boolean;
  /** SHA-256 of the reply as it came. */
  readonly rawSha256: string;
}

/** Why there is no reading. The list is closed. */
export type RefusalReason =
  | 'null_value'
  | 'implausible_value'
  | 'wrong_zone'
  | 'wrong_units'
  | 'wrong_signal'
  | 'wrong_basis'
  | 'wrong_period'
  | 'malformed'
  | 'no_data'
  | 'uncovered_generation'
  | 'unauthorized'
  | 'rate_limited'
  | 'source_fault'
  | 'unexpected_status'
  | 'timeout'
  | 'unreachable'
  | 'too_large';

/** Why a source gave no reading. */
export interface GridRefusal {
  readonly refused: RefusalReason;
  /** For the log; never holds a key or a url. */
  readonly detail: string;
  /** How long the source asks not to be asked again. */
  readonly retryAfterMs?: number;
}

export type GridReply = readonly GridObservation[] | GridRefusal;

export const isRefusal = <T extends object>(reply: T | GridRefusal): reply is GridRefusal => 'refused' in reply;

/** `latest` asks for what is needed now, `day` for the last 24 hours, so that settled values replace estimates. */
export type Span = 'latest' | 'day';

/** Reads one source. It never rejects: what goes wrong is a refusal. */
export interface GridAdapter {
  read(asked: ZonePlace, span: Span): Promise<GridReply>;
}

/** More than any power station emits, so a larger value is in another unit. */
const highestGPerKwh = 3000;
/**
 * Less than any zone causes over the life of its power stations: the least that IPCC AR5 WG3 (Annex III, Table A.III.2) has is 3.7 for
 * nuclear and 7 for wind power, and hydropower of a whole zone is above that. Zero is a gap in the data of the source. Of combustion
 * alone zero is an ordinary value.
 */
const lowestLifecycleGPerKwh = 3;

const isPlausible = (gPerKwh: number, basis: Basis): boolean =>
  Number.isFinite(gPerKwh) && gPerKwh >= (basis === 'direct' ? 0 : lowestLifecycleGPerKwh) && gPerKwh <= highestGPerKwh;

/** No source that is read here publishes for more than an hour or less than a minute. */
const longestPeriodMs = hourMs;
const shortestPeriodMs = minuteMs;
/** Only the last 24 hours are asked for; the rest is room for periods around them that a reply also holds. */
const longestBackMs = 48 * hourMs;
const longestAheadMs = 3 * hourMs;

/** Reads a time of RFC 3339, with or without seconds, as ms since 1970. */
export const timeText = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/)
  .transform((text) => Date.parse(text))
  .refine((ms) => !Number.isNaN(ms));

/** One value as its source stated it; times in ms since 1970. */
export interface Statement {
  readonly gPerKwh: number | null;
  readonly start: number;
  readonly end: number;
  /** The source's own date of the value. If absent: the end of its period, or the start if it is not over yet. */
  readonly observed?: number;
  readonly kind: Kind;
  readonly isForecast: boolean;
  readonly basis: Basis;
  readonly isEstimated: boolean;
}

/** The fields that all statements of one reply share. */
export interface Origin {
  readonly source: string;
  readonly asked: ZonePlace;
  readonly fetchedAt: Date;
  readonly raw: string;
  /** The length of every period in ms, if the source has only one length. */
  readonly periodMs?: number;
}

/**
 * Turns statements into readings. Nulls are left out, and refused only if there is nothing else. One absurd value or
 * period refuses the whole reply, since the others are then in doubt too.
 */
export function observations(origin: Origin, statements: readonly Statement[]): GridReply {
  if (statements.length === 0) return { refused: 'no_data', detail: 'the series is empty' };
  const rawSha256 = createHash('sha256').update(origin.raw).digest('hex');
  const readings: GridObservation[] = [];
  for (const statement of statements) {
    const { basis, gPerKwh } = statement;
    const problem = periodProblem(origin, statement);
    if (problem !== null) return { refused: 'wrong_period', detail: problem };
    if (gPerKwh === null) continue;
    if (!isPlausible(gPerKwh, basis)) return { refused: 'implausible_value', detail: `${gPerKwh} g/kWh` };
    readings.push(observation(origin, { ...statement, gPerKwh }, rawSha256));
  }
  return readings.length > 0 ? readings : { refused: 'null_value', detail: 'every value is null' };
}

/** Returns what is wrong with the period, or null. */
function periodProblem({ fetchedAt, periodMs }: Origin, { start, end }: Statement): string | null {
  const lengthMs = end - start;
  const isLength = periodMs === undefined || lengthMs === periodMs;
  if (!isLength || !(lengthMs >= shortestPeriodMs && lengthMs <= longestPeriodMs))
    return 'a period of a length that the source does not publish';
  const agoMs = fetchedAt.getTime() - start;
  return agoMs <= longestBackMs && -agoMs <= longestAheadMs ? null : 'a period that was not asked for';
}

function observation(
  { source, asked, fetchedAt }: Origin,
  statement: Statement & { readonly gPerKwh: number },
  rawSha256: string,
): GridObservation {
  const { gPerKwh, kind, basis, isEstimated, start, end } = statement;
  const fetched = fetchedAt.getTime();
  const observed = statement.observed ?? (end <= fetched ? end : start);
  // Even if the source calls it measured: by our clock nobody can have seen it yet.
  const isForecast = statement.isForecast || observed > fetched;
  return {
    source,
    zone: asked.zone,
    place: asked.place,
    gPerKwh,
    signal: isForecast ? 'forecast' : kind,
    kind,
    basis,
    periodStart: new Date(start),
    periodEnd: new Date(end),
    observedAt: new Date(observed),
    fetchedAt,
    isEstimated,
    settled: !isForecast && !isEstimated && end <= fetched,
    rawSha256,
  };
}

/** Reads JSON of the given shape. The refusal names the first field at fault, never its value. */
export function parseReply<T>(schema: z.ZodType<T>, raw: string): { readonly value: T } | GridRefusal {
  let json: unknown;
  try {
    json = JSON.parse(raw);
  } catch {
    return { refused: 'malformed', detail: 'not JSON' };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  return { refused: 'malformed', detail: `unexpected shape at ${parsed.error.issues[0]?.path.join('.') || 'the top'}` };
}
