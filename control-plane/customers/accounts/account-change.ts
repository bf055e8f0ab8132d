/** A change of an account: what of it is one, whether it may be made, and what it is in the database. */
import { isDeepStrictEqual } from 'node:util';
import type { AccountTier, ShadowLimit } from '@gw/contract/access';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { Prisma } from '@gw/prisma/client';
import { invalidTransition } from '../../people/access/refusals.ts';
import { type AccountRow, type AccountView, accountView, type LimitsView, type SomeSettings } from './account-view.ts';

/** The fields to change; an absent one stays as it is. */
export interface AccountChange {
  readonly name?: string;
  readonly tier?: AccountTier;
  /** Null means those of the tier. */
  readonly limits?: NegotiatedLimits | null;
  /** An absent part of it stays as it is. */
  readonly tokens?: Partial<AccountView['tokens']>;
  readonly shadow?: readonly ShadowLimit[];
  /** Null means every model. */
  readonly models?: readonly string[] | null;
  /** An absent part of it stays as it is. */
  readonly tolerance?: Partial<AccountView['tolerance']>;
  readonly usage_impacts?: boolean;
}

export interface ChangeGrounds {
  /** A new name needs one, since another name can mean another organisation. */
  readonly reason?: string | undefined;
  /** Settings as whoever changes the account has seen them. If they are others meanwhile, the change is refused. */
  readonly seen?: SomeSettings | undefined;
}

/** Limits of one account. `streams` null means the default of Enterprise; absent, it stays as it is. */
export interface NegotiatedLimits extends Omit<LimitsView, 'streams'> {
  readonly streams?: number | null;
}

/** The fields that the steps of the onboarding judge, so that they cannot change meanwhile. */
const settledInOnboarding = ['name', 'tier', 'limits'] as const;

/** Returns only what differs. An account that leaves Enterprise loses its own limits, unless the change sets them. */
export function without(asked: AccountChange, before: AccountRow): AccountChange {
  const view = accountView(before);
  const { models, name, negotiated, shadow, tier, tokens, tolerance, usage_impacts } = view;
  const now = {
    name,
    tier,
    models,
    shadow,
    tokens,
    tolerance,
    usage_impacts,
    limits: negotiated ? ownLimitsOf(before) : null,
  };
  const leaves = view.negotiated && asked.tier !== undefined && asked.tier !== 'enterprise';
  const limits = leaves && asked.limits === undefined ? null : withStreams(asked.limits, before);
  const wanted: AccountChange = {
    ...asked,
    ...(limits !== undefined && { limits }),
    ...(asked.tokens && { tokens: { ...tokens, ...asked.tokens } }),
    ...(asked.tolerance && { tolerance: { ...tolerance, ...asked.tolerance } }),
  };
  const fields = Object.entries(wanted) as [keyof AccountChange, unknown][];
  return Object.fromEntries(fields.filter(([field, value]) => !isDeepStrictEqual(value, now[field])));
}

/** Refuses if a setting is no longer what it was seen to be. */
export function changedSince(seen: SomeSettings, before: AccountRow): ApiError | null {
  const now = accountView(before);
  const fields = Object.keys(seen) as (keyof SomeSettings)[];
  const other = fields.find((field) => seen[field] !== undefined && !isDeepStrictEqual(seen[field], now[field]));
  if (other === undefined) return null;
  return invalidTransition(
    `Somebody has changed \`${other}\` of this account meanwhile: it is ${JSON.stringify(now[other])}. Look at it, and change it again.`,
  );
}

const ownLimitsOf = ({ limitBurst, limitPerDay, limitPerS, limitStreams }: AccountRow) => ({
  per_s: limitPerS,
  burst: limitBurst,
  per_day: limitPerDay,
  streams: limitStreams,
});

const withStreams = <T extends NegotiatedLimits | null | undefined>(limits: T, { limitStreams }: AccountRow) =>
  limits && limits.streams === undefined ? { ...limits, streams: limitStreams } : limits;

export function dataOf({
  limits,
  models,
  name,
  shadow,
  tier,
  tokens = {},
  tolerance = {},
  usage_impacts,
}: AccountChange): Prisma.AccountUpdateInput {
  return {
    ...(name === undefined ? {} : { name }),
    ...(tier === undefined ? {} : { tier }),
    ...(shadow === undefined ? {} : { limitShadow: [...shadow] }),
    ...(tokens.per_minute === undefined ? {} : { tokensPerMinute: tokens.per_minute }),
    ...(tokens.per_day === undefined ? {} : { tokensPerDay: tokens.per_day }),
    ...(tolerance.added_latency_ms === undefined ? {} : { maxAddedLatencyMs: tolerance.added_latency_ms }),
    ...(tolerance.added_cost_percent === undefined ? {} : { maxAddedCostPercent: tolerance.added_cost_percent }),
    ...(usage_impacts === undefined ? {} : { usageImpacts: usage_impacts }),
    ...(models === undefined ? {} : { models: models === null ? Prisma.DbNull : [...models] }),
    ...(limits === undefined
      ? {}
      : {
          limitPerS: limits?.per_s ?? null,
          limitBurst: limits?.burst ?? null,
          limitPerDay: limits?.per_day ?? null,
          limitStreams: limits?.streams ?? null,
        }),
  };
}

export async function refusalOf(
  tx: Prisma.TransactionClient,
  before: AccountRow,
  wanted: AccountChange,
  reason: string | undefined,
): Promise<ApiError | null> {
  if (before.state === 'closed') return invalidTransition('The account is closed.');
  const settled = settledInOnboarding.find((field) => wanted[field] !== undefined);
  if (before.state === 'onboarding' && settled !== undefined)
    return invalidTransition(`The account is in onboarding, which has looked at its ${settled} as it is.`);
  if (wanted.name !== undefined && reason === undefined)
    return apiError('missing_required_parameter', { message: '`reason` is required for a new name.', param: 'reason' });
  const tier = wanted.tier ?? before.tier;
  const negotiated = wanted.limits === undefined ? before.limitPerS !== null : wanted.limits !== null;
  if (tier === 'enterprise' && !negotiated)
    return fieldError('limits', 'limits: an Enterprise account needs negotiated limits.');
  if (tier !== 'enterprise' && negotiated)
    return fieldError('limits', 'limits: only an Enterprise account has limits of its own.');
  if (wanted.models) {
    const named = { where: { id: { in: [...wanted.models] } }, select: { id: true } };
    const known = [...(await tx.model.findMany(named)), ...(await tx.alias.findMany(named))];
    const unknown = wanted.models.find((id) => !known.some((each) => each.id === id));
    if (unknown !== undefined) return fieldError('models', `models: the catalogue has no model or alias ${unknown}.`);
  }
  return null;
}
