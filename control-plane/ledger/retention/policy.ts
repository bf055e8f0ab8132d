/**
 * How long things are kept: a default for each kind, which an operator can change for all accounts or for one.
 *
 * Without a policy the ledger is kept for ever. The audit log always is, since each of its entries proves the ones before; the names in
 * it go by erasure (decision 69).
 */
import { err, ok } from '@gw/contract/internal/result';
import { Prisma, type Queryable } from '@gw/prisma/client';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import type { HeldAccounts } from './holds.ts';

export const retentionKinds = ['receipts', 'evidence_packs', 'evidence_jobs', 'budget_events', 'key_uses'] as const;
export type RetentionKind = (typeof retentionKinds)[number];

interface KindOfRetention {
  readonly unit: 'days' | 'months';
  /** Null: for ever. */
  readonly default: number | null;
  readonly least: number;
  readonly what: string;
}

export const kindsOfRetention: Readonly<Record<RetentionKind, KindOfRetention>> = {
  receipts: {
    unit: 'months',
    default: null,
    // Versions of a receipt that come later, as of grid values that settle, find its month still here.
    least: 2,
    what: 'receipts in Postgres; older months move to the archive, and nothing is deleted',
  },
  evidence_packs: { unit: 'days', default: 7, least: 1, what: 'the bytes of finished evidence packs' },
  evidence_jobs: { unit: 'days', default: 30, least: 1, what: 'the outcome of evidence packs that are gone' },
  budget_events: {
    unit: 'days',
    default: null,
    // One that is gone in its month would be noted and sent again.
    least: 62,
    what: 'budgets that were reached, and how the webhook was delivered',
  },
  key_uses: { unit: 'days', default: null, least: 1, what: 'the day on which a key was last used' },
};
export const mostKept = 3650;

/** How long one kind is kept, in its unit; null: for ever. */
export interface Retention {
  readonly everybody: number | null;
  readonly accounts: ReadonlyMap<string, number | null>;
  of(accountId: string): number | null;
}

/** Reads the policy of a kind that is in force. */
export async function retentionOf(db: Queryable, kind: RetentionKind): Promise<Retention> {
  const rows = await db.$queryRaw<{ account_id: string; keep: number | null }[]>`
    SELECT account_id, keep FROM retention_policies WHERE kind = ${kind}`;
  const set = new Map(rows.map(({ account_id, keep }) => [account_id, keep]));
  const everybody = valueIn(set, forAll, kindsOfRetention[kind].default);
  set.delete(forAll);
  return { everybody, accounts: set, of: (accountId) => valueIn(set, accountId, everybody) };
}

/** Stands for all accounts that have no policy of their own. */
const forAll = '';

const valueIn = (set: ReadonlyMap<string, number | null>, name: string, otherwise: number | null): number | null => {
  const found = set.get(name);
  return found === undefined ? otherwise : found;
};

/** Rows that are kept equally long. */
export interface DueRows {
  readonly keep: number;
  /** Which they are, by the column that holds their account. */
  readonly where: Prisma.Sql;
}

/** Returns which rows of a kind may go after how long. Those of accounts that are held, or kept for ever, are in none. */
export function dueRows({ accounts, everybody }: Retention, held: HeldAccounts, column: Prisma.Sql): DueRows[] {
  if (held.all) return [];
  const own = [...accounts].flatMap(([id, keep]) =>
    keep === null || held.accounts.has(id) ? [] : [{ keep, where: Prisma.sql`${column} = ${id}` }],
  );
  if (everybody === null) return own;
  const others = [...accounts.keys(), ...held.accounts];
  return [...own, { keep: everybody, where: Prisma.sql`${column} <> ALL (${others}::text[])` }];
}

export interface PolicyChange {
  readonly kind: RetentionKind;
  /** Null: all that have none of their own. */
  readonly accountId: string | null;
  /** Null: for ever; absent: as it would be without this policy. */
  readonly keep?: number | null;
}

/** Refuses with `invalid_account` for an unknown account. Returns the policies of the kind as they are then. */
export function changePolicy(
  { db }: Pick<Context, 'db'>,
  change: ChangeContext,
  { accountId, keep, kind }: PolicyChange,
): Promise<ChangeResult<Retention>> {
  const { actor, at, requestId } = change;
  return db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot !== null) return err(mayNot);
    if (accountId !== null && (await tx.account.count({ where: { id: accountId } })) === 0)
      return err(notFound('account'));
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('retention'))`;
    const name = accountId ?? forAll;
    const before = told(kind, accountId, await retentionOf(tx, kind));
    if (keep === undefined)
      await tx.$executeRaw`DELETE FROM retention_policies WHERE kind = ${kind} AND account_id = ${name}`;
    else
      await tx.$executeRaw`
        INSERT INTO retention_policies (kind, account_id, keep) VALUES (${kind}, ${name}, ${keep})
        ON CONFLICT (kind, account_id) DO UPDATE SET keep = EXCLUDED.keep`;
    const now = await retentionOf(tx, kind);
    const after = told(kind, accountId, now);
    if (JSON.stringify(before) !== JSON.stringify(after))
      await appendAudit(tx, at, {
        accountId: null,
        actor,
        action: 'retention.changed',
        target: `retention:${kind}`,
        requestId,
        before,
        after,
      });
    return ok(now);
  });
}

const told = (kind: RetentionKind, accountId: string | null, retention: Retention) => ({
  account: accountId,
  unit: kindsOfRetention[kind].unit,
  keep: accountId === null ? retention.everybody : retention.of(accountId),
  is_own: accountId !== null && retention.accounts.has(accountId),
});
