/**
 * The changes that the platform team makes to existing accounts.
 *
 * Invariant: each change holds the account's row, is one transaction with its audit entry, and is announced to every
 * ext-authz after its commit. While an account is in onboarding, name, tier and limits are those that were screened and
 * agreed on; only Enterprise has limits of its own, and so have its keys: with the tier they go. With a tier the keys
 * of the account lose the scopes that only it has (`workingScopes`).
 */
import type { AccountTier } from '@gw/contract/access';
import { accountMessage } from '@gw/contract/internal/redis';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import { announceKeyChange } from '../../people/keys/announce.ts';
import type { Context } from '../../shared/context.ts';
import { hide, openNames } from '../../shared/names/names.ts';
import { acceptMatch, findUndecided } from '../onboarding/record-rename.ts';
import { type AccountChange, type ChangeGrounds, changedSince, dataOf, refusalOf, without } from './account-change.ts';
import { type AccountRow, type AccountView, accountView } from './account-view.ts';

type Tx = Prisma.TransactionClient;

/** Which accounts to list; they are ordered by id. */
export interface AccountQuery {
  readonly state?: AccountRow['state'] | undefined;
  readonly tier?: AccountTier | undefined;
  /** Part of the name or the id, in any case. */
  readonly search?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * The changes refuse with `invalid_account` if the id is unknown, or `invalid_transition` if the state forbids them.
 */
export interface Accounts {
  list(query: AccountQuery): Promise<{ data: AccountView[]; hasMore: boolean }>;
  read(id: string): Promise<AccountView | null>;
  /** Blocks inference and new keys. Reads, and the revocation of keys, still work. */
  suspend(change: ChangeContext, id: string, reason: string): Promise<ChangeResult<AccountView>>;
  /** With `acceptsMatch` it decides what waits for a decision: a match of its name, or that no list could be read. */
  reinstate(
    change: ChangeContext,
    id: string,
    reason: string,
    acceptsMatch?: boolean,
  ): Promise<ChangeResult<AccountView>>;
  update(
    change: ChangeContext,
    id: string,
    wanted: AccountChange,
    grounds?: ChangeGrounds,
  ): Promise<ChangeResult<AccountView>>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the changes of an account, each short, over one way to hold its row.
export function openAccounts(context: Pick<Context, 'db' | 'redis' | 'log'>): Accounts {
  const { db } = context;

  const changed = async (
    change: ChangeContext,
    id: string,
    work: (tx: Tx, before: AccountRow) => Promise<ChangeResult<AccountRow>>,
  ): Promise<ChangeResult<AccountView>> => {
    let isChanged = true;
    const outcome = await db.$transaction(async (tx): Promise<ChangeResult<AccountRow>> => {
      const refused = await reauthorize(tx, change);
      if (refused !== null) return err(refused);
      await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
      const before = await tx.account.findUnique({ where: { id } });
      if (before === null) return err(notFound('account'));
      const worked = await work(tx, before);
      isChanged = worked.ok && worked.value !== before;
      return worked;
    });
    if (!outcome.ok) return outcome;
    if (isChanged) await announceKeyChange(context, accountMessage(id));
    return ok(accountView(outcome.value));
  };

  return {
    list: async (query) => {
      const where = await whereOf(db, query);
      const rows = await db.account.findMany({ where, orderBy: { id: 'asc' }, take: query.limit + 1 });
      return { data: rows.slice(0, query.limit).map(accountView), hasMore: rows.length > query.limit };
    },
    read: async (id) => {
      const row = await db.account.findUnique({ where: { id } });
      return row && accountView(row);
    },
    suspend: (change, id, reason) =>
      changed(change, id, (tx, before) => move(tx, change, before, ['active', 'suspended'], reason)),
    reinstate: (change, id, reason, acceptsMatch = false) =>
      changed(change, id, async (tx, before) => {
        const undecided = before.state === 'suspended' ? await findUndecided(tx, id) : null;
        if (undecided !== null && !acceptsMatch) return err(matchUndecided());
        const moved = await move(tx, change, before, ['suspended', 'active'], reason);
        if (undecided !== null) await acceptMatch(tx, undecided, { caller: change, at: change.at, reason });
        return moved;
      }),
    update: (change, id, asked, { reason, seen = {} } = {}) =>
      changed(change, id, async (tx, before) => {
        const other = changedSince(await hideName(tx, before, seen), before);
        if (other !== null) return err(other);
        const wanted = without(await hideName(tx, before, asked), before);
        if (Object.keys(wanted).length === 0) return ok(before);
        const refused = await refusalOf(tx, before, wanted, reason);
        if (refused !== null) return err(refused);
        const row = await tx.account.update({ where: { id }, data: dataOf(wanted) });
        const leaves = before.tier === 'enterprise' && row.tier !== 'enterprise';
        const unlimited = leaves ? await dropLimitsOfKeys(tx, id) : 0;
        const fields = Object.keys(wanted) as (keyof AccountChange)[];
        const of = (account: AccountRow) => {
          const view = accountView(account);
          return Object.fromEntries(fields.map((field) => [field, view[field]]));
        };
        const more = {
          ...(unlimited > 0 && { key_limits_dropped: unlimited }),
          ...(reason !== undefined && { reason }),
        };
        await audit(tx, change, id, 'account.changed', of(before), { ...of(row), ...more });
        return ok(row);
      }),
  };
}

const matchUndecided = () =>
  invalidTransition(
    'What was found about the name of this account, or that it could not be looked at, waits for a decision: see its application, then reinstate it with `accepts_match`.',
  );

async function move(
  tx: Tx,
  change: ChangeContext,
  { id, state }: AccountRow,
  [from, to]: readonly ['active' | 'suspended', 'active' | 'suspended'],
  reason: string,
): Promise<ChangeResult<AccountRow>> {
  if (state !== from)
    return err(invalidTransition(`The account is ${state}; only one that is ${from} can become ${to}.`));
  const row = await tx.account.update({ where: { id }, data: { state: to } });
  const action = to === 'suspended' ? 'account.suspended' : 'account.reinstated';
  await audit(tx, change, id, action, { state: from }, { state: to, reason });
  return ok(row);
}

/** Takes away the limits of all keys; returns how many had some. This is announced with the change of the account. */
const dropLimitsOfKeys = (tx: Tx, accountId: string) =>
  tx.$executeRaw`
    UPDATE api_keys SET limit_per_s = NULL, limit_burst = NULL, limit_per_day = NULL, limit_streams = NULL,
      tokens_per_minute = NULL, tokens_per_day = NULL
    WHERE account_id = ${accountId} AND num_nonnulls(limit_per_s, limit_per_day, limit_streams, tokens_per_minute, tokens_per_day) > 0`;

async function whereOf(db: Context['db'], { after, search, state, tier }: AccountQuery) {
  const found = search === undefined ? null : await idsNamed(db, search);
  return {
    ...(state === undefined ? {} : { state }),
    ...(tier === undefined ? {} : { tier }),
    AND: [...(found === null ? [] : [{ id: { in: found } }]), ...(after === undefined ? [] : [{ id: { gt: after } }])],
  } satisfies Prisma.AccountWhereInput;
}

/** Accounts whose names are opened at once, in some 20 ms; then other requests get their turn. */
const namesAtOnce = 500;

/** Postgres does not know the names, so that all of them are opened here, each in some 35 µs. */
async function idsNamed(db: Context['db'], search: string): Promise<string[]> {
  const rows = await db.account.findMany({ select: { id: true, name: true } });
  const part = search.toLowerCase();
  const found: string[] = [];
  for (let at = 0; at < rows.length; at += namesAtOnce) {
    const page = rows.slice(at, at + namesAtOnce);
    const names = page.map(({ name }) => name);
    const open = await openNames(db, names);
    const fits = page.filter(({ id, name }) => `${id}\n${open(name)}`.toLowerCase().includes(part));
    found.push(...fits.map(({ id }) => id));
  }
  return found;
}

/** Returns the settings with the name as it is stored, if they have one. Those of seeded accounts are not hidden. */
async function hideName<T extends { readonly name?: string | undefined }>(
  tx: Tx,
  { id, name }: AccountRow,
  settings: T,
): Promise<T> {
  if (settings.name === undefined || settings.name === name) return settings;
  return { ...settings, name: await hide(tx, `account:${id}`, settings.name) };
}

const audit = (
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  id: string,
  action: string,
  before: unknown,
  after: unknown,
) => appendAudit(tx, at, { accountId: id, actor, action, target: `account:${id}`, requestId, before, after });
