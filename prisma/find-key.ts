/** Reads everything that the authorization step needs to know about a key, in one query. That step decides; this only reads. */
import {
  type AccountTier,
  enterpriseStreams,
  type KeyLimits,
  type Limits,
  type Scope,
  type ShadowLimit,
  shadowLimits,
  type TokenLimits,
  type Tolerance,
  tierLimits,
} from '@gw/contract/access';
import { budgetScopes, budgetUnits, type HeldBudget } from '@gw/contract/internal/budgets';
import { elementAt } from '@gw/contract/internal/defined';
import { workingExpiry, workingScopes } from '@gw/contract/keys';
import type { Statements } from './statements.ts';

export interface FoundKey {
  readonly publicId: string;
  readonly accountId: string;
  /** HMAC-SHA-256 of the plaintext; null once deleted, which only a revoked key is. */
  readonly hash: Buffer | null;
  /** The version of the pepper that the hash was made with. */
  readonly pepperVersion: number;
  /** The scopes that work with the tier that the account has now. */
  readonly scopes: readonly Scope[];
  /** At the moment of the query. Revoked wins over expired; `expiresAt` lets a cache see a later expiry. */
  readonly state: 'active' | 'revoked' | 'expired';
  /** Null even where one was set, while the account's tier has none. */
  readonly expiresAt: Date | null;
  /** The project that its calls are charged to, whatever they name; null: the one that they name. */
  readonly project: string | null;
  /** The key's share of the account's limits; null: all of it. */
  readonly limits: KeyLimits | null;
  /** The budgets of the key, of its account, and of all projects of the account. */
  readonly budgets: readonly HeldBudget[];
  readonly account: {
    readonly tier: AccountTier;
    readonly state: 'active' | 'suspended';
    /** Allow-list of models, or null for all. */
    readonly models: readonly string[] | null;
    readonly tolerance: Tolerance;
    /** Whether its replies state `usage.impacts`. */
    readonly usageImpacts: boolean;
    readonly limits: Limits;
    readonly tokens: TokenLimits;
    /** Limits that are counted and do not refuse; those of the key follow. */
    readonly shadow: readonly ShadowLimit[];
  };
}

interface KeyRow {
  public_id: string;
  account_id: string;
  hash: Uint8Array | null;
  pepper_version: number;
  scopes: string[];
  is_revoked: boolean;
  asked_at: Date;
  expires_at: Date | null;
  tier: AccountTier;
  account_state: 'active' | 'suspended';
  models: string[] | null;
  limit_per_s: number | null;
  limit_burst: number | null;
  limit_per_day: number | null;
  limit_streams: number | null;
  tokens_per_minute: number | null;
  tokens_per_day: number | null;
  limit_shadow: string[];
  max_added_latency_ms: number | null;
  max_added_cost_percent: number | null;
  usage_impacts: boolean;
  key_per_s: number | null;
  key_burst: number | null;
  key_per_day: number | null;
  key_streams: number | null;
  key_tokens_per_minute: number | null;
  key_tokens_per_day: number | null;
  project: string | null;
  budgets: BudgetRow[] | null;
}

interface BudgetRow {
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly unit: string;
  readonly amount: number;
  readonly kind: string;
}

/** Null if no key has this public id. The caller compares the hash, in constant time. */
export async function findKey(db: Statements, publicId: string): Promise<FoundKey | null> {
  const rows = await db.$queryRaw<KeyRow[]>`
    SELECT k.public_id, k.account_id, k.hash, k.pepper_version, k.scopes, k.expires_at,
      k.revoked_at IS NOT NULL AS is_revoked, clock_timestamp() AS asked_at,
      a.tier::text AS tier,
      -- An account that is not active may not call; a closed one has no working key either.
      CASE WHEN a.state = 'active' THEN 'active' ELSE 'suspended' END AS account_state, a.models,
      a.limit_per_s, a.limit_burst, a.limit_per_day, a.limit_streams,
      a.tokens_per_minute, a.tokens_per_day, a.limit_shadow,
      a.max_added_latency_ms, a.max_added_cost_percent, a.usage_impacts,
      k.limit_per_s AS key_per_s, k.limit_burst AS key_burst, k.limit_per_day AS key_per_day, k.limit_streams AS key_streams,
      k.tokens_per_minute AS key_tokens_per_minute, k.tokens_per_day AS key_tokens_per_day,
      k.project,
      (SELECT json_agg(json_build_object('id', b.id, 'scope', b.scope, 'name', b.name, 'unit', b.unit, 'amount', b.amount, 'kind', b.kind)
          ORDER BY b.id)
        FROM budgets b WHERE b.account_id = k.account_id AND (b.scope <> 'key' OR b.name = k.public_id)) AS budgets
    FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.public_id = ${publicId}::char(12)`;
  const row = rows[0];
  if (row === undefined) return null;
  const expiresAt = workingExpiry(row.expires_at, row.tier);
  return {
    publicId: row.public_id,
    accountId: row.account_id,
    hash: row.hash === null ? null : Buffer.from(row.hash),
    pepperVersion: row.pepper_version,
    scopes: workingScopes(row.scopes, row.tier),
    state: row.is_revoked ? 'revoked' : expiresAt !== null && expiresAt <= row.asked_at ? 'expired' : 'active',
    expiresAt,
    project: row.project,
    limits: keyLimitsOf(row),
    budgets: (row.budgets ?? []).flatMap(heldBudget),
    account: {
      tier: row.tier,
      state: row.account_state,
      models: row.models,
      tolerance: { addedLatencyMs: row.max_added_latency_ms, addedCostPercent: row.max_added_cost_percent },
      usageImpacts: row.usage_impacts,
      limits: limitsOf(row),
      tokens: { perMinute: row.tokens_per_minute, perDay: row.tokens_per_day },
      shadow: shadowLimits.filter((limit) => row.limit_shadow.includes(limit)),
    },
  };
}

/** The changes between two generations. */
export interface KeyChanges {
  /** The newest one. */
  readonly generation: number;
  /** Null: more than is still known, so that anything may have. */
  readonly since: { readonly publicIds: readonly string[]; readonly accountIds: readonly string[] } | null;
}

/** More than these are not worth telling apart; a statement that changes more leaves no rows at all. */
const mostChanges = 1000;

/** The generation, and what came after the one that is `known`. One statement, so that both are of the same moment. */
export async function keyChanges(db: Statements, known: number | null): Promise<KeyChanges> {
  const rows = await db.$queryRaw<
    { generation: bigint | string; public_id: string | null; account_id: string | null }[]
  >`
    SELECT g.generation, c.public_id, c.account_id FROM key_generation g
    LEFT JOIN key_changes c ON c.generation > ${known}::bigint AND c.generation > g.generation - ${mostChanges}::bigint`;
  const generation = Number(elementAt(rows, 0).generation);
  const changes = rows.filter(({ account_id, public_id }) => public_id !== null || account_id !== null);
  if (generation === known) return { generation, since: { publicIds: [], accountIds: [] } };
  // Each step left one row, or the whole statement none, so whoever counts them knows whether all are there.
  if (known === null || changes.length !== generation - known) return { generation, since: null };
  return {
    generation,
    since: {
      publicIds: [...new Set(changes.flatMap(({ public_id }) => public_id ?? []))],
      accountIds: [...new Set(changes.flatMap(({ account_id }) => account_id ?? []))],
    },
  };
}

/** Rises with every change of a key or an account, in the same transaction. */
export async function keyGeneration(db: Statements): Promise<number> {
  const rows = await db.$queryRaw<{ generation: bigint | string }[]>`SELECT generation FROM key_generation`;
  return Number(elementAt(rows, 0).generation);
}

/** The public ids of all keys, 12 bytes each, in ascending order of their bytes. Revoked and expired ones are among them. */
export async function allPublicIds(db: Statements): Promise<Buffer> {
  const rows = await db.$queryRaw<{ ids: string | null }[]>`
    SELECT string_agg(public_id::text, '' ORDER BY public_id::text COLLATE "C") AS ids FROM api_keys`;
  return Buffer.from(rows[0]?.ids ?? '', 'latin1');
}

/** Replaces the hash that was read, unless another has been stored meanwhile. Not a change in the sense of the generation. */
export async function renewKeyHash(
  db: Statements,
  { publicId, hash, pepperVersion }: FoundKey,
  renewed: { readonly hash: Buffer; readonly pepperVersion: number },
): Promise<void> {
  await db.$executeRaw`
    UPDATE api_keys SET hash = ${new Uint8Array(renewed.hash)}, pepper_version = ${renewed.pepperVersion}
    WHERE public_id = ${publicId}::char(12) AND hash = ${hash && new Uint8Array(hash)}
      AND pepper_version = ${pepperVersion}`;
}

/** The account's own limits come before those of its tier; for Enterprise the database demands all three. */
function limitsOf(row: KeyRow): Limits {
  const tier = tierLimits[row.tier === 'audit_plus' ? 'audit_plus' : 'audit'];
  return {
    ratePerS: row.limit_per_s ?? tier.ratePerS,
    burst: row.limit_burst ?? tier.burst,
    perDay: row.limit_per_day ?? tier.perDay,
    streams: row.limit_streams ?? (row.tier === 'enterprise' ? enterpriseStreams : tier.streams),
  };
}

/** Empty for a scope or a unit that this release does not know. */
function heldBudget({ amount, id, kind, name, scope: itsScope, unit: itsUnit }: BudgetRow): HeldBudget[] {
  const scope = budgetScopes.find((each) => each === itsScope);
  const unit = budgetUnits.find((each) => each === itsUnit);
  const project = scope === 'project' ? name : '';
  return scope && unit ? [{ id, scope, project, unit, amount, isHard: kind === 'hard' }] : [];
}

function keyLimitsOf({ tier, ...row }: KeyRow): KeyLimits | null {
  const limits = {
    ratePerS: row.key_per_s,
    burst: row.key_burst,
    perDay: row.key_per_day,
    streams: row.key_streams,
    tokensPerMinute: row.key_tokens_per_minute,
    tokensPerDay: row.key_tokens_per_day,
  };
  const has = tier === 'enterprise' && Object.values(limits).some((limit) => limit !== null);
  return has ? limits : null;
}
