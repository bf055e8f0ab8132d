/** A key as it is stored, without its hash, and as it is shown. */
import type { AccountTier, Scope } from '@gw/contract/access';
import { dayMs } from '@gw/contract/internal/durations';
import {
  type KeyLimitsView,
  type KeyListQuery,
  type KeyObject,
  keyIdPattern,
  workingExpiry,
  workingScopes,
} from '@gw/contract/keys';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';

/** How long a revocation can be undone, ms; then the hash is deleted. */
export const restorableMs = 90 * dayMs;

export interface KeyRow {
  readonly public_id: string;
  readonly account_id: string;
  readonly name: string;
  /** As they were granted; `scopesOf` says which of them are in force. */
  readonly scopes: readonly string[];
  /** The tier of the account. */
  readonly tier: AccountTier;
  readonly created_at: Date;
  /** As it was set; `workingExpiry` says whether it is in force. */
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly predecessor: string | null;
  readonly pepper_version: number;
  readonly has_hash: boolean;
  readonly last_used_on: Date | null;
  readonly limit_per_s: number | null;
  readonly limit_burst: number | null;
  readonly limit_per_day: number | null;
  readonly limit_streams: number | null;
  readonly tokens_per_minute: number | null;
  readonly tokens_per_day: number | null;
  readonly project: string | null;
}

/** The columns of a `KeyRow`, for a query over `keyTables`. */
export const keyColumns = Prisma.sql`k.public_id, k.account_id, k.name, k.scopes, a.tier::text AS tier, k.created_at, k.expires_at,
  k.revoked_at, k.predecessor, k.pepper_version, k.hash IS NOT NULL AS has_hash, u.last_used_on,
  k.limit_per_s, k.limit_burst, k.limit_per_day, k.limit_streams,
  k.tokens_per_minute, k.tokens_per_day, k.project`;
/** The tables that `keyColumns` are read from. */
export const keyTables = Prisma.sql`api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN key_uses u ON u.public_id = k.public_id`;

export type Reader = Pick<Database, '$queryRaw'>;

/** Returns the key, or null if the account has no such key. */
export async function findKeyRow(db: Reader, accountId: string, id: string): Promise<KeyRow | null> {
  // Postgres would fault on some of what can stand in a path.
  if (!keyIdPattern.test(id)) return null;
  const rows = await db.$queryRaw<KeyRow[]>`
    SELECT ${keyColumns} FROM ${keyTables} WHERE k.public_id = ${id}::text AND k.account_id = ${accountId}`;
  return rows[0] ?? null;
}

/**
 * Returns those of `ids` that are keys of the account, and locks them until the transaction ends. It locks them in one
 * order, so that two that want the same keys do not wait for each other.
 */
export async function holdKeyRows(tx: Reader, accountId: string, ids: readonly string[]): Promise<readonly KeyRow[]> {
  // Postgres would fault on some of what can stand in a path.
  const possible = ids.filter((id) => keyIdPattern.test(id));
  if (possible.length === 0) return [];
  return tx.$queryRaw<KeyRow[]>`
    SELECT ${keyColumns} FROM ${keyTables} WHERE k.public_id = ANY(${possible}::text[]) AND k.account_id = ${accountId}
    ORDER BY k.public_id FOR NO KEY UPDATE OF k`;
}

/** Returns the id of the newest successor that is active, or null if there is none. */
export async function liveSuccessorOf(
  tx: Reader,
  { account_id, public_id }: KeyRow,
  now: Date,
): Promise<string | null> {
  const rows = await tx.$queryRaw<KeyRow[]>`
    SELECT ${keyColumns} FROM ${keyTables} WHERE k.account_id = ${account_id} AND k.predecessor = ${public_id}::text
      AND k.revoked_at IS NULL
    ORDER BY k.created_at DESC, k.public_id`;
  return rows.find((row) => stateOf(row, now) === 'active')?.public_id ?? null;
}

/** Returns the state at `now`. A revoked key is `revoked` even if it has expired too. */
export function stateOf({ expires_at, revoked_at, tier }: KeyRow, now: Date): KeyObject['state'] {
  if (revoked_at !== null) return 'revoked';
  const expiry = workingExpiry(expires_at, tier);
  return expiry !== null && expiry <= now ? 'expired' : 'active';
}

/**
 * Whether a revoked key can still be restored: it was revoked less than 90 days before `now`, and its hash is there.
 */
export const isRestorable = ({ revoked_at, has_hash }: KeyRow, now: Date): boolean =>
  has_hash && revoked_at !== null && now.getTime() < revoked_at.getTime() + restorableMs;

/** Returns the scopes that are in force in the tier of the account. */
export const scopesOf = ({ scopes, tier }: KeyRow): Scope[] => workingScopes(scopes, tier);

/** Returns the limits of the key; null if it has only those of its account, as in every tier but Enterprise. */
export function limitsOf({
  limit_burst,
  limit_per_day,
  limit_per_s,
  limit_streams,
  tier,
  tokens_per_day,
  tokens_per_minute,
}: KeyRow): KeyLimitsView | null {
  const ofCalls = { per_s: limit_per_s, burst: limit_burst, per_day: limit_per_day, streams: limit_streams };
  const limits = { ...ofCalls, tokens_per_minute, tokens_per_day };
  return tier === 'enterprise' && Object.values(limits).some((limit) => limit !== null) ? limits : null;
}

/** Returns the key as the API shows it at `now`. */
export function keyObject(row: KeyRow, now: Date): KeyObject {
  const { revoked_at } = row;
  return {
    id: row.public_id,
    object: 'gw.api_key',
    name: row.name,
    state: stateOf(row, now),
    scopes: scopesOf(row),
    created_at: row.created_at.toISOString(),
    expires_at: workingExpiry(row.expires_at, row.tier)?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
    restorable_until:
      revoked_at !== null && isRestorable(row, now)
        ? new Date(revoked_at.getTime() + restorableMs).toISOString()
        : null,
    limits: limitsOf(row),
    last_used_on: row.last_used_on?.toISOString().slice(0, 10) ?? null,
    project: row.project,
    predecessor: row.predecessor,
  };
}

export interface KeyPage {
  readonly data: readonly KeyObject[];
  readonly hasMore: boolean;
}

/**
 * Returns one page of an account's keys, or null if there is no key `query.after`. The cursor is a place in the order,
 * so a key that is issued meanwhile does not shift the pages.
 */
export async function listKeys(
  { db, now }: Pick<Context, 'db' | 'now'>,
  accountId: string,
  { after, limit, order }: KeyListQuery,
): Promise<KeyPage | null> {
  const from = after === undefined ? undefined : await findKeyRow(db, accountId, after);
  if (from === null) return null;
  const ascending = order === 'asc';
  const place = from
    ? Prisma.sql`AND (k.created_at, k.public_id) ${Prisma.raw(ascending ? '>' : '<')} (${from.created_at}, ${from.public_id})`
    : Prisma.empty;
  const direction = Prisma.raw(ascending ? 'ASC' : 'DESC');
  const rows = await db.$queryRaw<KeyRow[]>`
    SELECT ${keyColumns} FROM ${keyTables} WHERE k.account_id = ${accountId} ${place}
    ORDER BY k.created_at ${direction}, k.public_id ${direction} LIMIT ${limit + 1}`;
  return { data: rows.slice(0, limit).map((row) => keyObject(row, now())), hasMore: rows.length > limit };
}
