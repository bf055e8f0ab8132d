/**
 * The facts that the calculation needs about one call. All of them are given; nothing here is looked up.
 *
 * Invariant: unknown is null. A zero is a statement about the world, never a missing figure.
 */
import type { TelemetryReading, TelemetryRefusal } from './telemetry/reading.ts';

/** Billions of parameters; a known count has min = max. */
export interface ParameterRange {
  readonly min: number;
  readonly max: number;
}

export type ModelClass = 'small' | 'medium' | 'large' | 'moe_small_active' | 'frontier' | 'unknown' | 'embedding';

/** The evidence for a figure, in the words of whoever entered it. Nothing is calculated from it. */
export interface Evidence {
  /** `measured` by whoever runs the data centre, `reported` in a publication of theirs, or `assumed` by somebody else. */
  readonly kind: 'measured' | 'reported' | 'assumed';
  /** A text or an address. */
  readonly source: string;
  /** Two days, the second exclusive: `2025-01-01/2026-01-01`. */
  readonly period: string | null;
}

/** Who vouches for an entry of the catalogue: what it says has been so since then. Nothing is calculated from it. */
export interface CatalogueEntry {
  /** The version of the catalogue in which the entry last changed. */
  readonly catalogueVersion: number;
  /** RFC 3339. */
  readonly changedAt: string;
  readonly changedBy: string;
}

export interface ModelFacts {
  readonly kind: 'chat' | 'embedding';
  /** Parameters that take part in computing one token, and all that must sit in memory. */
  readonly activeParametersB: ParameterRange | null;
  readonly totalParametersB: ParameterRange | null;
  /** The size class that stands in for a model whose parameters are not known. */
  readonly modelClass: ModelClass | null;
  /** Bits per weight in memory; null means the methodology's default, 8 in `gw-2.0`. */
  readonly quantizationBits: number | null;
  /** Measured output tokens per second, and seconds to the first token. */
  readonly tokensPerS: number | null;
  readonly ttftS: number | null;
  /** Who says how many parameters there are. Absent and null: not stated. The same for the evidence of a site. */
  readonly parametersSource?: string | null | undefined;
  /** Absent: not known. */
  readonly entry?: CatalogueEntry | undefined;
}

/** The accelerators of a deployment, in its operator's words, e.g. `H100-SXM5-80GB`. */
export interface Accelerators {
  readonly model: string;
  /** In the whole deployment. */
  readonly count: number;
}

export interface SiteFacts {
  /** The id of the deployment in the catalogue. */
  readonly id?: string | undefined;
  /** Power usage effectiveness of the data centre, at least 1. */
  readonly pue: number;
  readonly pueEvidence?: Evidence | null | undefined;
  /** Water used on site per kWh of IT energy. */
  readonly wueOnsiteLPerKwh: number | null;
  readonly wueEvidence?: Evidence | null | undefined;
  /** Absent and null: not stated. */
  readonly accelerators?: Accelerators | null | undefined;
  /** Requests that a replica of the model works on at once, typically. Absent and null: not stated. */
  readonly typicalConcurrency?: number | null | undefined;
  /** Absent: not known. */
  readonly entry?: CatalogueEntry | undefined;
  /** The entry of the region, which gives the zone of the grid. */
  readonly regionEntry?: CatalogueEntry | undefined;
}

export type TemporalMatch = 'live_window' | 'fresh' | 'forecast' | 'prior_week' | 'annual_fallback' | 'none';

/** The carbon intensity of one zone over one interval. Times are RFC 3339. */
export interface GridReading {
  readonly zone: string;
  readonly gPerKwh: number;
  readonly source: string;
  readonly signal: 'average' | 'marginal' | 'forecast' | 'annual';
  /** Half-open: the end is the first moment that the value is not for. */
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly observedAt: string;
  /** The adapter's knowledge about the match (`prior_week`, `forecast`); age-based matches are computed per call. */
  readonly temporalMatch: TemporalMatch | null;
  /** Water used by power stations per kWh of electricity, from the same zone. */
  readonly waterLPerKwh: number | null;
  /** Whether the intensity counts the whole life cycle of the power stations, or their combustion alone. Absent: unknown. */
  readonly basis?: GridBasis | undefined;
  /** True for a value that the source itself calls an estimate. */
  readonly isEstimated?: boolean | undefined;
  /** SHA-256 of the reply that brought the value, as it came, and when it was fetched (RFC 3339). Absent: not known, or no reply. */
  readonly replySha256?: string | undefined;
  readonly fetchedAt?: string | undefined;
  /** A bundled value names the package that it was taken from, with its checksum. */
  readonly edition?: string | undefined;
  /** The source of the water factor. Absent: it is recognised by its value (grid-factors.ts). */
  readonly waterSource?: string | undefined;
}

export type GridBasis = 'lifecycle' | 'direct' | 'unknown';

export interface TokenUsage {
  readonly promptTokens: number;
  /** The part of the prompt tokens that a cache served; it is not computed again. */
  readonly cachedPromptTokens: number;
  /** Reasoning tokens included. */
  readonly completionTokens: number;
  /** The counts that were made from text, since the provider gave none that can be believed. Absent: neither was. */
  readonly estimated?: EstimatedCounts;
  /** The provider's total less its two counts, where they differ; what is over is in `completionTokens`. */
  readonly outsideCounts?: number;
  /** How few and how many tokens each count can stand for; absent: it is taken as it is. */
  readonly promptLeast?: number;
  readonly promptMost?: number;
  readonly completionLeast?: number;
  readonly completionMost?: number;
  /** Sequences that the prompt tokens are of, each with a context of its own. Absent: one. */
  readonly prompts?: number;
  /** The same of the completion tokens. */
  readonly answers?: number;
  /** Why the counts have such bounds, or were believed beyond what the call shows. Absent: for no reason. */
  readonly doubts?: readonly CountDoubt[];
}

/**
 * `hidden`: more is counted than the delivered text shows, by a model of which the catalogue says that it thinks unseen; by any other
 * model `hidden_unstated`. `filtered`: the same, and the provider says that it withheld text. `above_limit`: more is counted than
 * the request allows. `read_elsewhere`: more is counted than the request holds, which asks to search, or whose model reads by itself
 * as the catalogue says; `read_unstated`: without either. `parts_uncounted`: pictures, sound or files of the prompt are in no count.
 * `too_fast`: the accelerators draw less in the time of the call than the tokens take. `ran_tools`: the provider may have run tools of its own.
 * `encodes_media`: the call has pictures, sound or files, or an answer in sound, which other networks than the counted one turn into tokens and back.
 */
export const countDoubts = [
  'hidden',
  'hidden_unstated',
  'filtered',
  'above_limit',
  'read_elsewhere',
  'read_unstated',
  'parts_uncounted',
  'too_fast',
  'ran_tools',
  'encodes_media',
] as const;
export type CountDoubt = (typeof countDoubts)[number];

export type EstimatedCounts = 'prompt' | 'completion' | 'both';

export type Boundary = 'comprehensive' | 'narrow';
export type RequestedTier = 'auto' | 'proxy' | 'parametric' | 'telemetry';

export interface CallFacts {
  readonly requestedTier: RequestedTier;
  readonly boundary: Boundary;
  /** Time of the call, RFC 3339. */
  readonly requestedAt: string;
  readonly usage: TokenUsage | null;
  /** Seconds that the provider took, without the gateway's own time; caps the modelled generation time. */
  readonly upstreamLatencyS: number | null;
  readonly model: ModelFacts;
  readonly site: SiteFacts;
  readonly grid: GridReading | null;
  /** Measured energy of this call, or the refusal of what the source said. Absent and null: there is none. */
  readonly telemetry?: TelemetryReading | TelemetryRefusal | null;
  /**
   * True if the reply broke off before the answer was whole: what was generated and not delivered is in no count. Not
   * every provider stops when its connection is closed.
   */
  readonly isCutShort?: true;
  /**
   * Wh: the most that earlier attempts which failed can have taken, as the receipt states it. Absent: none of them reached a provider that can have computed
   * anything, or there was none. Null: not known.
   */
  readonly failedAttemptsMostWh?: number | null;
  /** True while there is no measured energy yet, but counters that cover the call are to be read after it. */
  readonly telemetryFollows?: boolean;
  /** The provider is a simulator: nothing was computed, and what it says of energy was made up. Absent: it is none. */
  readonly simulated?: true;
}
