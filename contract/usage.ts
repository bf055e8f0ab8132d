/** Usage: sums over receipts, for accounts and for operators. */
import { z } from 'zod';
import { apiNames } from './api-names.ts';
import { listSchema } from './list.ts';
import { countedSimulated, countedVersion, instantSchema } from './management.ts';
import { energyMeters, gridBases, receiptStatuses, receiptTiers } from './receipt.ts';

/** An account can group its rows by these. Time and simulated calls are always separate. */
export const usageGroups = [
  'key_id',
  'project',
  'api',
  'model',
  'provider',
  'region',
  'tier',
  'status',
  'grid_basis',
  'measured_by',
] as const;
export const operatorUsageGroups = ['account_id', ...usageGroups] as const;
export type OperatorUsageGroup = (typeof operatorUsageGroups)[number];

export const usageIntervals = ['day', 'month', 'total'] as const;

/** Amounts of a receipt that are summed. Carbon with different values of `grid_basis` counts different things. */
export const usageAmounts = {
  energy_wh: 'Wh',
  energy_low_wh: 'Wh. Sum of the lower bounds, as if all were off in the same direction; so are the other bounds',
  energy_high_wh: 'Wh. Sum of the upper bounds',
  carbon_g: 'gCO2e, location-based',
  carbon_low_g: 'gCO2e. Sum of the lower bounds',
  carbon_high_g: 'gCO2e. Sum of the upper bounds',
  carbon_operation_g: 'gCO2e. The part of `carbon_g` from electricity',
  carbon_embodied_g: 'gCO2e. The part of `carbon_g` from manufacturing the hardware',
  water_ml: 'mL',
  water_low_ml: 'mL. Sum of the lower bounds',
  water_high_ml: 'mL. Sum of the upper bounds',
  carbon_saved_g:
    'gCO2e that the choice of regions saved: sum of `estimated_saving_g` of the routing traces, missing where that is unknown; negative if it cost more than it saved. An estimate, and in no other sum',
} as const;
export type UsageAmount = keyof typeof usageAmounts;
/** Amounts that follow from those sums and from what operators have entered: cost, and carbon by contracts. */
export const derivedAmounts = {
  carbon_market_g:
    'gCO2e, market-based: contracts, certificates and residual mix in place of the average of the grid, as far as operators have entered some; else as `carbon_g`',
  energy_contracted_wh: 'Wh. The part of `energy_wh` that contracts and certificates cover',
  cost: 'In `currency`: tokens at the prices of their hours, without discounts for cached tokens',
} as const;
/** Quotients of sums over the calls whose receipts have numbers. */
export const usageRatios = {
  energy_wh_per_output_token:
    'Wh per token that was written: `energy_wh` / `completion_tokens` of the calls that are not degraded; null if one of these has only one of the two, or nothing was written',
  sci_g_per_token:
    'gCO2e per token that was read or written (SCI for AI, consumer): `carbon_g` / (`prompt_tokens` + `completion_tokens`) of the calls that are not degraded; null if one of these lacks a count or the part for the hardware, as with the narrow boundary',
} as const;
export type UsageRatio = keyof typeof usageRatios;
export const usageRatioNames = Object.keys(usageRatios) as readonly UsageRatio[];
export type DerivedAmount = keyof typeof derivedAmounts;
export const derivedNames = Object.keys(derivedAmounts) as readonly DerivedAmount[];
export const usageAmountNames = Object.keys(usageAmounts) as readonly UsageAmount[];

/** A comma-separated list in one parameter, such as `model,region`; each name once. */
function groupBy(groups: readonly string[]) {
  const one = `(${groups.join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^(${one}(,${one})*)?$`), `takes a list with commas of ${groups.join(', ')}`)
    .refine((text) => new Set(text.split(',')).size === text.split(',').length, 'names something twice')
    .default('model')
    .describe(`Groups rows by a comma-separated list of ${groups.join(', ')}; empty: by time only`);
}
/** Splits a valid `group_by`. */
export const groupsOf = (text: string): OperatorUsageGroup[] =>
  text === '' ? [] : (text.split(',') as OperatorUsageGroup[]);

const period = {
  from: instantSchema
    .optional()
    .describe('Inclusive; a UTC date or an RFC 3339 time. Default: the minute 30 days before `to`'),
  to: instantSchema.optional().describe('Exclusive. Default: now. At most 366 days after `from`'),
  version: countedVersion,
  simulated: countedSimulated,
  interval: z.enum(usageIntervals).default('day').describe('A row per UTC day or month, or for the whole period'),
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .describe(
      '`csv`: only the rows, in RFC 4180 form with a header, in UTF-8; `missing` becomes a column for each amount',
    ),
};
export const usageQuerySchema = z.object({ ...period, group_by: groupBy(usageGroups) });
export const operatorUsageQuerySchema = z.object({
  ...period,
  group_by: groupBy(operatorUsageGroups),
  account_id: z.string().min(1).max(256).optional().describe('Only this account'),
});
export type UsageQuery = z.infer<typeof operatorUsageQuerySchema>;

const count = (description: string) => z.int().nonnegative().describe(description);
const tokens = z
  .int()
  .nonnegative()
  .nullable()
  .describe('Exact sum of the known values; null above 2^53 - 1, which JSON numbers cannot express exactly');
const sum = (unit: string, number = z.number().nonnegative()) =>
  number.nullable().describe(`${unit}. Sum of the known values; null if there are none`);

const sums = {
  requests: count('Calls with a receipt'),
  requests_measured: count('Calls among them whose energy was measured (`tier`: `telemetry`)'),
  requests_metered: count(
    'Calls among those measured whose accelerators have counters that the gateway read (`measured_by`: `counters`)',
  ),
  requests_reported: count('Calls among those measured with a figure of the provider that is plausible (`provider`)'),
  requests_doubtful: count(
    'Calls among those measured with a figure of the provider that is doubtful (`provider_doubtful`)',
  ),
  requests_modelled: count('Calls of models whose size is known (`parametric`)'),
  requests_estimated: count('Calls for which nothing better is known (`proxy`)'),
  requests_degraded: count('Calls whose receipt has no numbers (`degraded`)'),
  requests_aborted: count('Calls that the client left or the provider broke off'),
  prompt_tokens: tokens,
  completion_tokens: tokens,
  ...(Object.fromEntries(
    Object.entries({ ...usageAmounts, ...derivedAmounts }).map(([name, unit]) => [
      name,
      // Only this one can be negative.
      name === 'carbon_saved_g' ? sum(unit, z.number()) : sum(unit),
    ]),
  ) as Record<UsageAmount | DerivedAmount, ReturnType<typeof sum>>),
  currency: z.string().describe('ISO 4217 currency of `cost`, the same for the whole gateway'),
  ...(Object.fromEntries(
    Object.entries(usageRatios).map(([name, unit]) => [name, z.number().nonnegative().nullable().describe(unit)]),
  ) as Record<UsageRatio, z.ZodNullable<z.ZodNumber>>),
  energy_aborted_wh: sum('Wh. The part of `energy_wh` of calls in `requests_aborted`'),
  grid_basis: z
    .enum([...gridBases, 'mixed'])
    .nullable()
    .describe(
      'What the carbon counts, as `grid_basis` of the receipts; `mixed`: sums of different things, which `group_by=grid_basis` separates; null: there are no numbers',
    ),
  missing: z
    .partialRecord(
      z.enum(['prompt_tokens', 'completion_tokens', ...usageAmountNames, ...derivedNames]),
      z.int().positive(),
    )
    .describe(
      'Name of a sum → number of calls whose value is unknown and not in it; only if there are any. `cost`: calls whose tokens or price are unknown',
    ),
};

const groupFields = {
  account_id: z.string(),
  key_id: z.string(),
  project: z.string().nullable(),
  api: z.enum(apiNames),
  model: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  tier: z.enum(receiptTiers),
  status: z.enum(receiptStatuses),
  measured_by: z.enum(energyMeters).nullable(),
} as const;
const { account_id, ...ownFields } = Object.fromEntries(
  Object.entries(groupFields).map(([name, schema]) => [name, schema.optional().describe('Where `group_by` names it')]),
) as unknown as { [Name in keyof typeof groupFields]: z.ZodOptional<(typeof groupFields)[Name]> };

const rowSchema = z.strictObject({
  object: z.literal('gw.usage'),
  date: z
    .string()
    .regex(/^\d{4}-\d{2}(-\d{2})?$/)
    .optional()
    .describe('The UTC day, or the month as 2026-11; absent where `interval` is `total`'),
  ...ownFields,
  simulated: z.boolean().describe('Whether a simulator answered these calls; they are never in a row with others'),
  ...sums,
});

export const usageRowSchema = rowSchema.meta({ id: 'UsageRow' });
const operatorUsageRowSchema = rowSchema.extend({ account_id });
export type UsageRow = z.infer<typeof operatorUsageRowSchema>;

export const usageTotalSchema = z.strictObject(sums).meta({
  id: 'UsageTotal',
  description: 'All rows, without those of simulated calls unless `simulated` is `include`',
});
export type UsageTotal = z.infer<typeof usageTotalSchema>;

const usageOf = <Row extends z.ZodType, Group extends string>(row: Row, groups: readonly Group[]) =>
  listSchema(row).extend({
    from: z.iso.datetime({ precision: 3 }),
    to: z.iso.datetime({ precision: 3 }),
    version: countedVersion,
    simulated: countedSimulated,
    interval: z.enum(usageIntervals),
    group_by: z.array(z.enum(groups)),
    complete_until: z.iso
      .datetime({ precision: 3 })
      .nullable()
      .describe(
        'Every call that began before is counted; later ones may still be running. Null: it is not known for now',
      ),
    total: usageTotalSchema,
  });
export const usageSchema = usageOf(usageRowSchema, usageGroups).meta({ id: 'Usage' });
export const operatorUsageSchema = usageOf(operatorUsageRowSchema, operatorUsageGroups);
