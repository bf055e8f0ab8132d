/**
 * The catalogue as the hot path sees it: one immutable, versioned value that the control plane publishes and the
 * services swap whole. Nothing in the hot path asks Postgres.
 */
import { z } from 'zod';
import { temporalMatches } from '../receipt.ts';

/** Billions of parameters, as a range; a known count has min = max. */
const parametersSchema = z.object({ min: z.number().positive(), max: z.number().positive() });

export const modelClasses = ['small', 'medium', 'large', 'moe_small_active', 'frontier', 'embedding'] as const;

export const snapshotModelSchema = z.object({
  id: z.string(),
  created: z.int(),
  ownedBy: z.string(),
  kind: z.enum(['chat', 'embedding']),
  contextWindow: z.int().positive().nullable(),
  modalities: z.array(z.string()),
  /** False for models that refuse a temperature: then none is added to a request without one. */
  takesTemperature: z.boolean(),
  /** One of `tokenizers`; absent and null: not known, so prompts are not counted and token lists are not read. */
  tokenizer: z.string().nullable().optional(),
  activeParametersB: parametersSchema.nullable(),
  totalParametersB: parametersSchema.nullable(),
  modelClass: z.enum(modelClasses).nullable(),
  quantizationBits: z.number().positive().nullable(),
  /** Output tokens per second and seconds to the first token, where measured. */
  tokensPerS: z.number().positive().nullable(),
  ttftS: z.number().nonnegative().nullable(),
});
export type SnapshotModel = z.infer<typeof snapshotModelSchema>;

export const snapshotRegionSchema = z.object({
  code: z.string(),
  name: z.string(),
  country: z.string(),
  gridZone: z.string(),
  status: z.enum(['active', 'degraded', 'saturated', 'decommissioned']),
  /** Provider preference: lower comes first. */
  preference: z.int(),
});
export type SnapshotRegion = z.infer<typeof snapshotRegionSchema>;

export const acceleratorsSchema = z.object({ model: z.string().min(1).max(100), count: z.int().positive() });

export const snapshotDeploymentSchema = z.object({
  id: z.string(),
  provider: z.string(),
  region: z.string(),
  /** Public model id → the name that the provider knows it by. */
  models: z.record(z.string(), z.string()),
  pue: z.number().min(1),
  wueOnsiteLPerKwh: z.number().nonnegative().nullable(),
  /** Which measured-energy shape its replies carry, if any. */
  telemetry: z.string().nullable(),
  /** The accelerators of the whole deployment; absent and null: not stated. */
  accelerators: acceleratorsSchema.nullable().optional(),
});
export type SnapshotDeployment = z.infer<typeof snapshotDeploymentSchema>;

export const gridReadingSchema = z.object({
  zone: z.string(),
  gPerKwh: z.number().nonnegative(),
  source: z.string(),
  signal: z.enum(['average', 'marginal', 'forecast', 'annual']),
  /** The interval that the value is for, RFC 3339. */
  periodStart: z.string(),
  periodEnd: z.string(),
  observedAt: z.string(),
  temporalMatch: z.enum(temporalMatches).nullable(),
  /** Litres of water per kWh of electricity, from the same zone, or null. */
  waterLPerKwh: z.number().nonnegative().nullable(),
  /** Whether the value counts the whole life cycle of the power stations, or their combustion alone. */
  basis: z.enum(['lifecycle', 'direct', 'unknown']).optional(),
  /** True for a value that the source itself calls an estimate. */
  isEstimated: z.boolean().optional(),
});
export type SnapshotGridReading = z.infer<typeof gridReadingSchema>;

/** For routing alone; a receipt's carbon never comes from here. `kind` says what a forecast is a forecast of. */
export const operationalReadingSchema = gridReadingSchema.extend({ kind: z.enum(['average', 'marginal']) });
export type OperationalReading = z.infer<typeof operationalReadingSchema>;

export const snapshotSchema = z.object({
  version: z.int().positive(),
  publishedAt: z.string(),
  models: z.array(snapshotModelSchema),
  regions: z.array(snapshotRegionSchema),
  deployments: z.array(snapshotDeploymentSchema),
  /** At most one for each zone: the best when the snapshot was made. Read it through `gridReadingFor`. */
  grid: z.array(gridReadingSchema),
  /** The yearly averages of those zones whose reading in `grid` is of another kind, for when it has become too old. */
  gridFloor: z.array(gridReadingSchema).optional(),
  /** Marginal readings and forecasts. */
  operationalGrid: z.array(operationalReadingSchema).optional(),
  /**
   * What requests are screened by, in the form of `policySchema`; absent: the default rules of the policy package, so that
   * screening is never off. Whoever screens reads it by itself: a set of another release must not hold up the catalogue.
   */
  policy: z.unknown().optional(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/**
 * The Envoy cluster of a fail-over chain; the control plane makes it, the sidecar names it. The prefix stays, since parts of
 * two releases run side by side during an upgrade.
 */
export const failoverCluster = (deploymentIds: readonly string[]): string => `order:${deploymentIds.join('>')}`;
