/**
 * Legal holds: while one is on an account, or on all, nothing of theirs is archived, deleted by a policy, or erased.
 *
 * Invariant: whoever removes something asks `heldAccounts` in the transaction that removes it. A hold that is placed at the same moment
 * either comes first and stops the removal, or waits for its end: `heldAccounts` and `placeHold` exclude each other.
 *
 * Closed: what cannot read the holds removes nothing.
 */
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma, Queryable } from '@gw/prisma/client';
import { type ChangeContext, makeId } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';

export interface HoldRow {
  readonly id: string;
  /** Null: all accounts. */
  readonly account_id: string | null;
  readonly reason: string;
  readonly placed_at: Date;
  readonly placed_by: string;
  readonly lifted_at: Date | null;
  readonly lifted_by: string | null;
  readonly lift_reason: string | null;
}

/** Who is held now. */
export interface HeldAccounts {
  /** Everybody is. */
  readonly all: boolean;
  /** Accounts that have a hold of their own. */
  readonly accounts: ReadonlySet<string>;
  /** Returns why an account must be left alone, or null. Null as the account stands for what belongs to none. */
  reasonFor(accountId: string | null): string | null;
}

/**
 * Reads the holds that are in force. In a transaction no other is placed until it ends; outside of one the answer may be old when it
 * arrives.
 */
export async function heldAccounts(db: Queryable): Promise<HeldAccounts> {
  await db.$executeRaw`SELECT pg_advisory_xact_lock_shared(hashtext('legal holds'))`;
  const rows = await db.$queryRaw<Pick<HoldRow, 'account_id' | 'reason'>[]>`
    SELECT account_id, reason FROM legal_holds WHERE lifted_at IS NULL ORDER BY placed_at, id`;
  const onAll = rows.find((row) => row.account_id === null);
  return {
    all: onAll !== undefined,
    accounts: new Set(rows.flatMap(({ account_id }) => account_id ?? [])),
    reasonFor: (accountId) => (onAll ?? rows.find((row) => row.account_id === accountId))?.reason ?? null,
  };
}

/** Also those that were lifted, the newest first. */
export const listHolds = (db: Queryable, isOpen: boolean): Promise<HoldRow[]> => db.$queryRaw<HoldRow[]>`
  SELECT * FROM legal_holds WHERE NOT ${isOpen} OR lifted_at IS NULL ORDER BY placed_at DESC, id LIMIT 10000`;

/** Refuses with `invalid_account` for an unknown account. `accountId` null holds all. */
export function placeHold(
  { db }: Pick<Context, 'db'>,
  change: ChangeContext,
  { accountId, reason }: { readonly accountId: string | null; readonly reason: string },
): Promise<ChangeResult<HoldRow>> {
  return inTurn(db, change, async (tx) => {
    if (accountId !== null && (await tx.account.count({ where: { id: accountId } })) === 0)
      return err(notFound('account'));
    const { actor, at } = change;
    const id = makeId('hold');
    const rows = await tx.$queryRaw<HoldRow[]>`
      INSERT INTO legal_holds (id, account_id, reason, placed_at, placed_by)
      VALUES (${id}, ${accountId}, ${reason}, ${at}, ${actor.id}) RETURNING *`;
    await audit(tx, change, 'legal_hold.placed', id, { account: accountId, reason });
    return ok(one(rows));
  });
}

/** Refuses with `invalid_legal_hold` if there is none, and with `invalid_transition` if it was lifted. */
export function liftHold(
  { db }: Pick<Context, 'db'>,
  change: ChangeContext,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<ChangeResult<HoldRow>> {
  return inTurn(db, change, async (tx) => {
    const [before] = await tx.$queryRaw<HoldRow[]>`SELECT * FROM legal_holds WHERE id = ${id} FOR UPDATE`;
    if (before === undefined) return err(notFound('legal_hold'));
    if (before.lifted_at !== null) return err(invalidTransition('This hold was already lifted.'));
    const { actor, at } = change;
    const rows = await tx.$queryRaw<HoldRow[]>`
      UPDATE legal_holds SET lifted_at = ${at}, lifted_by = ${actor.id}, lift_reason = ${reason}
      WHERE id = ${id} RETURNING *`;
    await audit(tx, change, 'legal_hold.lifted', id, { account: before.account_id, reason });
    return ok(one(rows));
  });
}

const inTurn = (
  db: Context['db'],
  change: ChangeContext,
  work: (tx: Prisma.TransactionClient) => Promise<ChangeResult<HoldRow>>,
): Promise<ChangeResult<HoldRow>> =>
  db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot !== null) return err(mayNot);
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('legal holds'))`;
    return work(tx);
  });

function one(rows: readonly HoldRow[]): HoldRow {
  const [row] = rows;
  if (row === undefined) throw new Error('A hold was written and not returned.');
  return row;
}

/** In the operators' chain alone: whether an account is held is not for the account to see. */
const audit = (
  tx: Prisma.TransactionClient,
  { actor, at, requestId }: ChangeContext,
  action: string,
  id: string,
  after: unknown,
) => appendAudit(tx, at, { accountId: null, actor, action, target: `legal_hold:${id}`, requestId, after });
