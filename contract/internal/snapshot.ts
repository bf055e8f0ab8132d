/**
 * The catalogue as the hot path sees it: one immutable, versioned value that the control plane publishes and the
 * services swap whole. Nothing in the hot path asks Postgres.
 */
import { z } from 'zod';
import { temporalMatches } from '../receipt.ts';
import { aliasFields } from './catalogue/alias-fields.ts';
import { deploymentFields } from './catalogue/deployment-fields.ts';
import { snapshotShape } from './catalogue/field.ts';
import { modelFields } from './catalogue/model-fields.ts';
import { snapshotPriceSchema } from './catalogue/prices.ts';
import { regionFields } from './catalogue/region-fields.ts';

/**
 * Who vouches for an entry: the version of the catalogue in which it last changed, when (RFC 3339), and who changed it. Absent: it has
 * not changed since this is kept.
 */
const entrySchema = z.object({ catalogueVersion: z.int(), changedAt: z.string(), changedBy: z.string() }).optional();

export const snapshotModelSchema = z.object({
  ...{ id: z.string(), created: z.int(), ...snapshotShape(modelFields) },
  entry: entrySchema,
});
export type SnapshotModel = z.infer<typeof snapshotModelSchema>;

export const snapshotRegionSchema = z.object({
  ...{ code: z.string(), ...snapshotShape(regionFields) },
  entry: entrySchema,
});
export type SnapshotRegion = z.infer<typeof snapshotRegionSchema>;

/** How the provider of a deployment is called, where that is not as OpenAI is. */
const callsSchema = z.object({
  /** Whether the path holds the provider's name of the model. */
  modelInPath: z.boolean().optional(),
  /** Field → the name that the provider takes it by, or null to leave it out. */
  requestFields: z.record(z.string(), z.string().nullable()).optional(),
  /** Seconds. */
  timeoutS: z.number().positive().optional(),
  firstByteTimeoutS: z.number().positive().optional(),
});
export const snapshotDeploymentSchema = z.object({
  id: z.string(),
  ...snapshotShape(deploymentFields),
  entry: entrySchema,
  /** That of its region, which says in which grid it is. */
  regionEntry: entrySchema,
  calls: callsSchema.optional(),
  /** The kind of its provider says that nothing is computed there; no field of an entry can say otherwise. */
  simulated: z.literal(true).optional(),
  /** Where first attempts go, and with which credential; absent where the listener has to make every call. */
  firstAttempt: z.object({ origin: z.string(), credential: z.string().nullable() }).optional(),
});
export type SnapshotDeployment = z.infer<typeof snapshotDeploymentSchema>;

export const snapshotAliasSchema = z.object({ id: z.string(), created: z.int(), ...snapshotShape(aliasFields) });
export type SnapshotAlias = z.infer<typeof snapshotAliasSchema>;

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
  /** SHA-256 of the reply that brought the value, and when it was fetched; of a bundled value the package that it is from. */
  replySha256: z.string().optional(),
  fetchedAt: z.string().optional(),
  edition: z.string().optional(),
  /** Whose the water factor is. */
  waterSource: z.string().optional(),
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
  /** Further names that a call can ask for; none is that of a model. */
  aliases: z.array(snapshotAliasSchema).optional(),
  /** Those in force when it was published, and all later ones. Read them through `priceOf`. */
  prices: z.array(snapshotPriceSchema).optional(),
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

/** Set by Envoy alone, on its own reply where a provider has no credential. */
export const credentialMissingHeader = 'x-gw-credential-missing';

/** Set by Envoy alone, on its own reply where a deployment has as many calls as it takes at once. */
export const atCapacityHeader = 'x-gw-at-capacity';

/** Set by Envoy alone, on its own reply where a deployment has no healthy server, or its name was never resolved. */
export const unhealthyHeader = 'x-gw-unhealthy';

/**
 * The Envoy cluster of a fail-over chain; the control plane makes it, the sidecar names it. The prefix stays, since parts of
 * two releases run side by side during an upgrade.
 */
export const failoverCluster = (deploymentIds: readonly string[]): string => `order:${deploymentIds.join('>')}`;
