/**
 * The part of its account's limits that a key may take: Enterprise only.
 *
 * Invariants: no part is given above what the account has at that time, and by a key none above what it has itself. If
 * the account is given less later, its own limit binds first; if it leaves the tier, the limits of its keys go with
 * those of the account.
 */
import { type AccountTier, enterpriseStreams } from '@gw/contract/access';
import type { Actor } from '@gw/contract/internal/audit-chain';
import { err, ok } from '@gw/contract/internal/result';
import type { KeyLimitsRequest, KeyLimitsView, KeyObject } from '@gw/contract/keys';
import { appendAudit } from '../audit/append.ts';
import type { Caller } from './caller.ts';
import { findKeyRow, type KeyRow, keyObject, limitsOf, type Reader } from './key-row.ts';
import type { KeyRefusal } from './refusals.ts';
import type { Changed, Transaction } from './result.ts';

/** Returns the limits with null for each absent part; null as a whole if all parts are absent. */
export function viewOf(wanted: KeyLimitsRequest | null | undefined): KeyLimitsView | null {
  const limits = partsOf(wanted);
  return Object.values(limits).some((limit) => limit !== null) ? limits : null;
}

const fields = ['per_s', 'burst', 'per_day', 'streams', 'tokens_per_minute', 'tokens_per_day'] as const;

const partsOf = (wanted: KeyLimitsRequest | null | undefined) => ({
  per_s: wanted?.per_s ?? null,
  burst: wanted?.burst ?? null,
  per_day: wanted?.per_day ?? null,
  streams: wanted?.streams ?? null,
  tokens_per_minute: wanted?.tokens_per_minute ?? null,
  tokens_per_day: wanted?.tokens_per_day ?? null,
});

interface AccountLimits extends KeyLimitsView {
  readonly tier: AccountTier;
}

/** Returns why the account cannot give a key these limits, or null if it can. `tx` has to hold the account. */
export async function limitsRefusal(
  tx: Transaction,
  accountId: string,
  limits: KeyLimitsView,
): Promise<KeyRefusal | null> {
  const [account] = await tx.$queryRaw<AccountLimits[]>`
    SELECT tier::text AS tier, limit_per_s AS per_s, limit_burst AS burst, limit_per_day AS per_day,
      COALESCE(limit_streams, ${enterpriseStreams}) AS streams, tokens_per_minute, tokens_per_day
    FROM accounts WHERE id = ${accountId}`;
  if (account?.tier !== 'enterprise') return { why: 'limits_not_offered' };
  for (const field of fields) {
    const [wanted, most] = [limits[field], account[field]];
    if (wanted !== null && most !== null && wanted > most) return { why: 'limits_too_wide', field, most };
  }
  return null;
}

/**
 * Returns why whoever asks may not issue a key with `limits`, or null if they may. A key that has limits cannot give
 * higher ones, or it could escape them with a key that it has made. `tx` has to hold its row.
 */
export async function ownLimitsRefusal(
  tx: Reader,
  accountId: string,
  { id, kind }: Actor,
  limits: KeyLimitsView | null,
): Promise<KeyRefusal | null> {
  const asking = kind === 'api_key' ? await findKeyRow(tx, accountId, id) : null;
  const own = asking && limitsOf(asking);
  for (const field of own ? fields : []) {
    const [wanted, most] = [limits?.[field] ?? null, own?.[field] ?? null];
    if (most !== null && (wanted === null || wanted > most)) return { why: 'limits_above_own', field, most };
  }
  return null;
}

/** Sets the limits of a key, with the audit entry; null takes them away. `tx` has to hold `row` and its account. */
export async function setLimits(
  tx: Transaction,
  row: KeyRow,
  limits: KeyLimitsView | null,
  { actor, requestId }: Caller,
  at: Date,
): Promise<Changed<KeyObject>> {
  const refusal = limits && (await limitsRefusal(tx, row.account_id, limits));
  if (refusal) return err(refusal);
  const { burst, per_day, per_s, streams, ...tokens } = partsOf(limits);
  const parts = { limit_per_s: per_s, limit_burst: burst, limit_per_day: per_day, limit_streams: streams, ...tokens };
  const after: KeyRow = { ...row, ...parts };
  const isSame = (Object.keys(parts) as (keyof typeof parts)[]).every((part) => parts[part] === row[part]);
  if (isSame) return ok(keyObject(row, at));
  await tx.$executeRaw`
    UPDATE api_keys SET limit_per_s = ${per_s}, limit_burst = ${burst}, limit_per_day = ${per_day}, limit_streams = ${streams},
      tokens_per_minute = ${tokens.tokens_per_minute}, tokens_per_day = ${tokens.tokens_per_day}
    WHERE public_id = ${row.public_id}::text`;
  await appendAudit(tx, at, {
    accountId: row.account_id,
    target: `key:${row.public_id}`,
    actor,
    requestId,
    action: 'key.limits_changed',
    before: { limits: limitsOf(row) },
    after: { limits: limitsOf(after) },
  });
  return { ...ok(keyObject(after, at)), changed: row.public_id };
}
