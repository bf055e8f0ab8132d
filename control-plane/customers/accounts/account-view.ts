/** An account as operators see it. */
import { accountTiers, enterpriseStreams, shadowLimits, tierLimits } from '@gw/contract/access';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';

export type AccountRow = Prisma.AccountGetPayload<object>;

const limitsSchema = z.strictObject({
  per_s: z.number().describe('Requests per second'),
  burst: z.number().describe('Requests at once'),
  per_day: z.number().describe('Requests per UTC day'),
  streams: z.number().describe('Open at once'),
});
export type LimitsView = z.infer<typeof limitsSchema>;

const tokensSchema = z.strictObject({
  per_minute: z
    .int()
    .nullable()
    .describe('Null: as its tier has, which is any number unless `GW_TIER_TOKENS` says less'),
  per_day: z.int().nullable().describe('Of a UTC day; null: as its tier has'),
});

const toleranceSchema = z.strictObject({
  added_latency_ms: z.int().nullable().describe('Null: any'),
  added_cost_percent: z.int().nullable().describe('Null: any'),
});

export const accountSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('account'),
    name: z.string(),
    tier: z.enum(accountTiers),
    state: z.enum(['onboarding', 'active', 'suspended', 'closed']),
    models: z.array(z.string()).nullable().describe('The only models and aliases that it may use; null: every one'),
    limits: limitsSchema.describe('What holds for the account'),
    negotiated: z.boolean().describe('Whether `limits` are its own, not those of its tier'),
    tokens: tokensSchema.describe('Limits in tokens of prompts and answers of its own'),
    tolerance: toleranceSchema.describe(
      'How much slower or dearer a region may be than the preferred one, to be chosen for its carbon intensity',
    ),
    usage_impacts: z
      .boolean()
      .describe('Whether replies state `usage.impacts`, in the shapes of EcoLogits and OpenGateLLM'),
    shadow: z.array(z.enum(shadowLimits)).describe('Limits that are counted and reported, and refuse nothing'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OperatorAccount' });
export type AccountView = z.infer<typeof accountSchema>;

/** Some of what can be changed of an account. */
export const someSettingsSchema = accountSchema
  .pick({
    name: true,
    tier: true,
    limits: true,
    models: true,
    tokens: true,
    tolerance: true,
    usage_impacts: true,
    shadow: true,
  })
  .partial();
export type SomeSettings = z.infer<typeof someSettingsSchema>;

/** Shows an account. Limits of its own come first, and what it lacks of them is that of its tier. */
export function accountView(row: AccountRow): AccountView {
  // The database demands all three of an Enterprise account.
  const tier = tierLimits[row.tier === 'audit_plus' ? 'audit_plus' : 'audit'];
  return {
    id: row.id,
    object: 'account',
    name: row.name,
    tier: row.tier,
    state: row.state,
    models: row.models as string[] | null,
    limits: {
      per_s: row.limitPerS ?? tier.ratePerS,
      burst: row.limitBurst ?? tier.burst,
      per_day: row.limitPerDay ?? tier.perDay,
      streams: row.limitStreams ?? (row.tier === 'enterprise' ? enterpriseStreams : tier.streams),
    },
    negotiated: row.limitPerS !== null || row.limitBurst !== null || row.limitPerDay !== null,
    tokens: { per_minute: row.tokensPerMinute, per_day: row.tokensPerDay },
    tolerance: { added_latency_ms: row.maxAddedLatencyMs, added_cost_percent: row.maxAddedCostPercent },
    usage_impacts: row.usageImpacts,
    shadow: shadowLimits.filter((limit) => row.limitShadow.includes(limit)),
    created_at: row.createdAt.toISOString(),
  };
}
