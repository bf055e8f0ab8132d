/** The caller of a request in the forms that Envoy, the sidecar and the control plane get. */
import { bodyLimits } from '@gw/contract/access';
import { budgetsText } from '@gw/contract/internal/budgets';
import { callerField, identityHeaders } from '@gw/contract/internal/identity';
import type { ICheckResponse } from '@gw/grpc/service';
import type { FoundKey } from '@gw/prisma/find-key';
import { type CarriedLimits, type DrawnLimits, drawnLimits } from '@gw/service/limits/drawn-limits';
import type { TierTokens } from './config.ts';

export const header = (key: string, value: string) => ({ header: { key, value } });

export const draws = ['calls', 'management'] as const;

/** The caller's identity for the services behind Envoy, and the limits of its calls. */
export interface Caller {
  readonly fields: Readonly<Record<string, string>>;
  readonly okResponse: { readonly sidecar: OkResponse; readonly control: OkResponse };
  /** The limits for the rate limit step. */
  readonly limits: string;
  /** The caller of a leased call for the sidecar, including its limits. */
  readonly leased: string;
  /** The limits of a call with the smallest body that counts. */
  readonly drawn: Readonly<Record<(typeof draws)[number], DrawnLimits>>;
}
type OkResponse = NonNullable<ICheckResponse['okResponse']>;

/** The limits of a key's calls as text for `drawnLimits`. */
export function limitsText({ account, limits, publicId }: FoundKey): string {
  const { burst, perDay, ratePerS } = account.limits;
  const { burstKib, kibPerS } = bodyLimits[account.tier];
  const isLimited = limits !== null && (limits.ratePerS !== null || limits.perDay !== null);
  const carried: CarriedLimits = {
    account: [ratePerS, burst, perDay],
    body: [kibPerS, burstKib],
    ...(account.shadow.length > 0 ? { shadow: account.shadow } : {}),
    ...(isLimited ? { key: [publicId, limits.ratePerS, limits.burst, limits.perDay] } : {}),
  };
  return JSON.stringify(carried);
}

/** Gives an account those limits in tokens of its tier that it has no own ones for. */
export function withTierTokens(key: FoundKey | null, tiers: TierTokens): FoundKey | null {
  const ofTier = key && tiers[key.account.tier];
  if (!ofTier) return key;
  const { perDay, perMinute } = key.account.tokens;
  const tokens = { perMinute: perMinute ?? ofTier.perMinute, perDay: perDay ?? ofTier.perDay };
  return { ...key, account: { ...key.account, tokens } };
}

/** The limits in tokens for the sidecar, which takes from them: `per minute/per day`, where an empty part is no limit. */
function tokenFields({ account: { shadow, tokens }, limits }: FoundKey) {
  const textOf = (perMinute: number | null, perDay: number | null) =>
    perMinute === null && perDay === null ? '' : [perMinute, perDay].join('/');
  const ofAccount = textOf(tokens.perMinute, tokens.perDay);
  const ofKey = limits ? textOf(limits.tokensPerMinute, limits.tokensPerDay) : '';
  if (ofAccount === '' && ofKey === '') return {};
  return { tokens: `${ofAccount}${shadow.includes('tokens') ? ':shadow' : ''}`, ...(ofKey && { key_tokens: ofKey }) };
}

function made(key: FoundKey): Caller {
  const { limits, shadow } = key.account;
  const { addedCostPercent, addedLatencyMs } = key.account.tolerance;
  const keyStreams = key.limits?.streams ?? null;
  const carried = limitsText(key);
  const read = {
    account_id: key.accountId,
    key_id: key.publicId,
    tier: key.account.tier,
    streams: `${limits.streams}${shadow.includes('streams') ? ':shadow' : ''}`,
    ...(keyStreams === null ? {} : { key_streams: String(keyStreams) }),
    ...tokenFields(key),
    ...(key.project === null ? {} : { project: key.project }),
    ...(key.budgets.length > 0 ? { budgets: budgetsText(key.budgets) } : {}),
    ...(key.account.models ? { models: JSON.stringify(key.account.models) } : {}),
    ...(addedLatencyMs === null && addedCostPercent === null
      ? {}
      : { tolerance: [addedLatencyMs, addedCostPercent].join(':') }),
    ...(key.account.usageImpacts ? { usage_impacts: '1' } : {}),
  };
  // The first two also stand alone, for Envoy's access log.
  const fields = { account_id: key.accountId, key_id: key.publicId, [callerField]: JSON.stringify(read) };
  return {
    fields,
    okResponse: {
      // The client's key must not be passed on.
      sidecar: { headersToRemove: ['authorization'] },
      control: {
        headersToRemove: ['authorization'],
        headers: [
          header(identityHeaders.accountId, key.accountId),
          header(identityHeaders.keyId, key.publicId),
          header(identityHeaders.tier, key.account.tier),
          header(identityHeaders.scopes, key.scopes.join(' ')),
          ...(key.account.models ? [header(identityHeaders.models, JSON.stringify(key.account.models))] : []),
        ],
      },
    },
    limits: carried,
    leased: JSON.stringify({ ...read, leased: carried }),
    drawn: {
      calls: drawnLimits('calls', key.accountId, carried, 1),
      management: drawnLimits('management', key.accountId, carried, 0),
    },
  };
}

/** Keyed by the objects of the key cache. */
const callers = new WeakMap<FoundKey, Caller>();

export function callerOf(key: FoundKey): Caller {
  let caller = callers.get(key);
  if (!caller) {
    caller = made(key);
    callers.set(key, caller);
  }
  return caller;
}
