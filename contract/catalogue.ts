/** Models and regions as a client reads them. */
import { z } from 'zod';
import { receiptSchema } from './receipt.ts';

/** Tiers of receipts that a route can serve; `degraded` is an outcome, never an offer. */
const offeredTier = z.enum(['proxy', 'parametric', 'telemetry']);

export const modelSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Seconds since 1970'),
    owned_by: z.string(),
    context_window: z.int().positive().nullable().describe('Tokens; null if unknown'),
    modalities: z.array(z.string()),
    regions: z.array(z.string()).describe('Codes of the regions that serve it'),
    tiers: z.array(offeredTier).describe('Tiers of receipts that can be asked for'),
  })
  .meta({ id: 'Model' });
export type ModelObject = z.infer<typeof modelSchema>;

const receipt = receiptSchema.shape;

export const regionSchema = z
  .strictObject({
    code: z.string(),
    object: z.literal('region'),
    name: z.string(),
    country: z.string().describe('ISO 3166-1 alpha-2, or `unknown`'),
    grid_zone: z.string(),
    status: z.enum(['active', 'degraded', 'saturated', 'decommissioned']),
    models: z.array(z.string()),
    grid_intensity_g_per_kwh: receipt.grid_intensity_g_per_kwh,
    grid_intensity_source: receipt.grid_intensity_source,
    grid_intensity_observed_at: receipt.grid_intensity_observed_at,
    grid_intensity_requested_at: receipt.grid_intensity_requested_at,
    grid_intensity_age_minutes: receipt.grid_intensity_age_minutes,
    grid_temporal_match: receipt.grid_temporal_match,
  })
  .meta({ id: 'Region' });
export type RegionObject = z.infer<typeof regionSchema>;

/** OpenAI's list object. */
const list = <T extends z.ZodType>(item: T) => ({
  object: z.literal('list'),
  data: z.array(item),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const modelListSchema = z.strictObject(list(modelSchema)).meta({ id: 'ModelList' });
export const regionListSchema = z.strictObject(list(regionSchema)).meta({ id: 'RegionList' });
export const receiptListSchema = z
  .strictObject({
    ...list(receiptSchema),
    altered: z
      .array(z.strictObject({ id: z.string(), version: z.int().positive() }))
      .optional()
      .describe(
        'Receipts of this page that were altered in storage and so are not in `data`; absent if there are none',
      ),
  })
  .meta({ id: 'ReceiptList' });

export interface ListObject<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** `idOf` is what `after` takes on the next page. */
export function listObject<T>(data: readonly T[], idOf: (item: T) => string, hasMore = false): ListObject<T> {
  const first = data[0];
  const last = data.at(-1);
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
  };
}
