/**
 * What the platform team does to accounts that are there already.
 *
 * Invariant: each change holds the account's row, is one transaction with its audit entry, and is announced to every
 * ext-authz after its commit. With a tier the keys of the account lose the scopes that only it has (`workingScopes`).
 */
import type { AccountTier } from '@gw/contract/access';
import { type ApiError, fieldError } from '@gw/contract/errors';
import { Prisma } from '@gw/prisma/client';
import type { Change } from '../access/change.ts';
import { invalidTransition, notFound, type Outcome } from '../access/refusals.ts';
import { appendAudit } from '../audit/append.ts';
import type { Context } from '../context.ts';
import { announceKeyChange } from '../keys/announce.ts';
import { type AccountRow, type AccountView, accountView, type LimitsView } from './account-view.ts';

type Tx = Prisma.TransactionClient;

export interface AccountQuery {
  readonly state?: AccountRow['state'] | undefined;
  readonly tier?: AccountTier | undefined;
  /** Part of the name or the id, in any case. */
  readonly search?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface AccountChange {
  readonly name?: string;
  readonly tier?: AccountTier;
  /** Null: those of the tier. */
  readonly limits?: LimitsView | null;
  /** Null: every model. */
  readonly models?: readonly string[] | null;
}

export interface Accounts {
  list(query: AccountQuery): Promise<{ data: AccountView[]; hasMore: boolean }>;
  read(id: string): Promise<AccountView | null>;
  /** Blocks inference and new keys; reads and revocation stay open. */
  suspend(change: Change, id: string, reason: string): Promise<Outcome<AccountView>>;
  reinstate(change: Change, id: string, reason: string): Promise<Outcome<AccountView>>;
  update(change: Change, id: string, wanted: AccountChange): Promise<Outcome<AccountView>>;
}

export function openAccounts(context: Pick<Context, 'db' | 'redis' | 'log'>): Accounts {
  const { db } = context;

  const changed = async (
    id: string,
    work: (tx: Tx, before: AccountRow) => Promise<Outcome<AccountRow>>,
  ): Promise<Outcome<AccountView>> => {
    const outcome = await db.$transaction(async (tx): Promise<Outcome<AccountRow>> => {
      await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
      const before = await tx.account.findUnique({ where: { id } });
      return before === null ? { refused: notFound('account') } : work(tx, before);
    });
    if ('refused' in outcome) return outcome;
    await announceKeyChange(context, '*');
    return { done: accountView(outcome.done) };
  };

  const move = (
    change: Change,
    id: string,
    [from, to]: readonly ['active' | 'suspended', 'active' | 'suspended'],
    reason: string,
  ) =>
    changed(id, async (tx, before) => {
      if (before.state !== from)
        return {
          refused: invalidTransition(`The account is ${before.state}; only one that is ${from} can become ${to}.`),
        };
      const row = await tx.account.update({ where: { id }, data: { state: to } });
      const action = to === 'suspended' ? 'account.suspended' : 'account.reinstated';
      await audit(tx, change, id, action, { state: from }, { state: to, reason });
      return { done: row };
    });

  return {
    list: async (query) => {
      const rows = await db.account.findMany({ where: whereOf(query), orderBy: { id: 'asc' }, take: query.limit + 1 });
      return { data: rows.slice(0, query.limit).map(accountView), hasMore: rows.length > query.limit };
    },
    read: async (id) => {
      const row = await db.account.findUnique({ where: { id } });
      return row && accountView(row);
    },
    suspend: (change, id, reason) => move(change, id, ['active', 'suspended'], reason),
    reinstate: (change, id, reason) => move(change, id, ['suspended', 'active'], reason),
    update: (change, id, wanted) =>
      changed(id, async (tx, before) => {
        if (before.state === 'closed') return { refused: invalidTransition('The account is closed.') };
        const refused = await refusalOf(tx, before, wanted);
        if (refused !== null) return { refused };
        const row = await tx.account.update({ where: { id }, data: dataOf(wanted) });
        const fields = Object.keys(wanted) as (keyof AccountChange)[];
        const of = (account: AccountRow) => {
          const view = accountView(account);
          return Object.fromEntries(fields.map((field) => [field, view[field]]));
        };
        await audit(tx, change, id, 'account.changed', of(before), of(row));
        return { done: row };
      }),
  };
}

function whereOf({ after, search, state, tier }: AccountQuery): Prisma.AccountWhereInput {
  const contains = search === undefined ? null : { contains: search, mode: 'insensitive' as const };
  return {
    ...(state === undefined ? {} : { state }),
    ...(tier === undefined ? {} : { tier }),
    ...(contains === null ? {} : { OR: [{ id: contains }, { name: contains }] }),
    ...(after === undefined ? {} : { id: { gt: after } }),
  };
}

function dataOf({ limits, models, name, tier }: AccountChange): Prisma.AccountUpdateInput {
  return {
    ...(name === undefined ? {} : { name }),
    ...(tier === undefined ? {} : { tier }),
    ...(models === undefined ? {} : { models: models === null ? Prisma.DbNull : [...models] }),
    ...(limits === undefined
      ? {}
      : {
          limitPerS: limits?.per_s ?? null,
          limitBurst: limits?.burst ?? null,
          limitPerDay: limits?.per_day ?? null,
        }),
  };
}

async function refusalOf(tx: Tx, before: AccountRow, wanted: AccountChange): Promise<ApiError | null> {
  const tier = wanted.tier ?? before.tier;
  const negotiated = wanted.limits === undefined ? before.limitPerS !== null : wanted.limits !== null;
  if (tier === 'enterprise' && !negotiated)
    return fieldError('limits', 'limits: an Enterprise account has negotiated ones.');
  if (wanted.models) {
    const known = await tx.model.findMany({ where: { id: { in: [...wanted.models] } }, select: { id: true } });
    const unknown = wanted.models.find((id) => !known.some((model) => model.id === id));
    if (unknown !== undefined) return fieldError('models', `models: the catalogue has no model ${unknown}.`);
  }
  return null;
}

const audit = (tx: Tx, { actor, at, requestId }: Change, id: string, action: string, before: unknown, after: unknown) =>
  appendAudit(tx, at, { accountId: id, actor, action, target: `account:${id}`, requestId, before, after });
