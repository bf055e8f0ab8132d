/** Models and regions as clients read them. */
import { z } from 'zod';
import { pageSchema } from './list.ts';
import { receiptSchema } from './receipt.ts';

/** `degraded` is missing because it is an outcome and cannot be requested. */
const offeredTier = z.enum(['proxy', 'parametric', 'telemetry']);

export const modelSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    type: z.literal('model').describe('As Anthropic’s clients read it'),
    display_name: z.string().describe('The id'),
    created: z.int().describe('Seconds since 1970'),
    created_at: z.iso.datetime().describe('The same as a time'),
    owned_by: z.string(),
    kind: z.enum(['chat', 'embedding']).describe('What it serves: chat and text completions, or embeddings'),
    context_window: z.int().positive().nullable().describe('Tokens; null if unknown'),
    modalities: z.array(z.string()),
    regions: z.array(z.string()).describe('Codes of the regions that serve it'),
    tiers: z.array(offeredTier).describe('Receipt tiers that can be requested'),
    targets: z
      .array(z.strictObject({ model: z.string(), provider: z.string().optional() }))
      .optional()
      .describe(
        'Aliases only: the models that serve it, in order of preference, each at one provider or, without `provider`, at all of them. `kind`, `context_window` and `modalities` apply to every one of these models, a region or a tier to at least one',
      ),
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
    status_reason: z
      .string()
      .nullable()
      .describe(
        'Why it is not active or cannot serve some of its models, as an operator stated or as measured; null if nothing is known',
      ),
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

export const modelListSchema = pageSchema(modelSchema).meta({ id: 'ModelList' });
export const regionListSchema = pageSchema(regionSchema).meta({ id: 'RegionList' });
export const receiptListSchema = pageSchema(receiptSchema)
  .extend({
    altered: z
      .array(z.strictObject({ id: z.string(), version: z.int().positive() }))
      .optional()
      .describe(
        'Receipts of this page that were altered in storage and so are not in `data`; absent if there are none',
      ),
  })
  .meta({ id: 'ReceiptList' });
