/**
 * The catalogue for the hot path: an immutable, versioned value that the control plane publishes and the services replace as a whole.
 * Nothing in the hot path queries Postgres for it.
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
 * The last change of an entry: the version of the catalogue, the time (RFC 3339), and the person. Absent: it has not changed since
 * this has been recorded.
 */
const entrySchema = z.object({ catalogueVersion: z.int(), changedAt: z.string(), changedBy: z.string() }).optional();

export const snapshotModelSchema = z.object({
  id: z.string(),
  created: z.int(),
  ...snapshotShape(modelFields),
  entry: entrySchema,
});
export type SnapshotModel = z.infer<typeof snapshotModelSchema>;

export const snapshotRegionSchema = z.object({
  code: z.string(),
  ...snapshotShape(regionFields),
  entry: entrySchema,
});
export type SnapshotRegion = z.infer<typeof snapshotRegionSchema>;

/** How calls to the provider of a deployment differ from OpenAI's API. */
const callsSchema = z.object({
  /** The APIs that it speaks; absent: the usual ones (catalogue/apis.ts). */
  apis: z.array(z.string()).optional(),
  /** The tools that it may run by itself; absent: none. */
  hostedTools: z.array(z.string()).optional(),
  /** Whether the path contains the provider's name of the model. */
  modelInPath: z.boolean().optional(),
  /** Maps a field to the provider's name for it, or to null to remove it. */
  requestFields: z.record(z.string(), z.string().nullable()).optional(),
  /** Seconds. */
  timeoutS: z.number().positive().optional(),
  firstByteTimeoutS: z.number().positive().optional(),
});
export const snapshotDeploymentSchema = z.object({
  id: z.string(),
  ...snapshotShape(deploymentFields),
  entry: entrySchema,
  /** The entry of its region, which names the grid zone. */
  regionEntry: entrySchema,
  calls: callsSchema.optional(),
  /** Set for providers of the kind `simulator`, where nothing is computed. */
  simulated: z.literal(true).optional(),
  /** Target and credential of first attempts; absent if every call has to go through the listener. */
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
  /** Whether the value counts the whole life cycle of the power stations or only their combustion. */
  basis: z.enum(['lifecycle', 'direct', 'unknown']).optional(),
  /** True if the source itself calls the value an estimate. */
  isEstimated: z.boolean().optional(),
  /** SHA-256 of the source's reply and the time of the request; for a bundled value, its package. */
  replySha256: z.string().optional(),
  fetchedAt: z.string().optional(),
  edition: z.string().optional(),
  /** Source of the water factor. */
  waterSource: z.string().optional(),
});
export type SnapshotGridReading = z.infer<typeof gridReadingSchema>;

/** Only for routing; a receipt's carbon never comes from here. `kind` applies to forecasts too. */
export const operationalReadingSchema = gridReadingSchema.extend({ kind: z.enum(['average', 'marginal']) });
export type OperationalReading = z.infer<typeof operationalReadingSchema>;

export const snapshotSchema = z.object({
  version: z.int().positive(),
  publishedAt: z.string(),
  models: z.array(snapshotModelSchema),
  regions: z.array(snapshotRegionSchema),
  deployments: z.array(snapshotDeploymentSchema),
  /** Further model names for clients, distinct from the ids of models. */
  aliases: z.array(snapshotAliasSchema),
  /** The prices in force at publication and all later ones. Read them through `priceOf`. */
  prices: z.array(snapshotPriceSchema),
  /** At most one for each zone, the best at publication. Read it through `gridReadingFor`. */
  grid: z.array(gridReadingSchema),
  /** Yearly averages for the zones with another reading in `grid`, for when that is too old. */
  gridFloor: z.array(gridReadingSchema),
  /** Marginal readings and forecasts. */
  operationalGrid: z.array(operationalReadingSchema),
  /**
   * The screening rules, in the form of `policySchema`; absent: the default rules of the policy package, so that screening is never
   * off. They are parsed separately, so that rules of another release cannot block the catalogue.
   */
  policy: z.unknown().optional(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/** Set only by Envoy, on its own reply if the provider's credential is missing. */
export const credentialMissingHeader = 'x-gw-credential-missing';

/** Set only by Envoy, on its own reply if a deployment has reached its limit of concurrent calls. */
export const atCapacityHeader = 'x-gw-at-capacity';

/** Set only by Envoy, on its own reply if a deployment has no healthy server or its name was never resolved. */
export const unhealthyHeader = 'x-gw-unhealthy';

/**
 * Set only by Envoy, on its own reply if it has not been told yet of the cluster or the listener of a deployment, as soon after its start. It is told
 * of all listeners at once.
 */
export const notReadyHeader = 'x-gw-not-ready';

/** Set only by Envoy, on its own reply if it could not connect to the provider, so that nothing was sent there. */
export const unreachedHeader = 'x-gw-unreached';
