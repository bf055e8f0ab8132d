/**
 * Ends the alarm of a Postgres that went back in time: the operator takes what it has now for the truth.
 *
 * Invariant: before a key is asked for by what Postgres says, what Redis knows to be revoked is revoked there again. Each step may be made twice, so a
 * confirmation that a store has cut short is confirmed once more.
 */

import { errorText } from '@gw/contract/internal/error-text';
import {
  accountMessage,
  accountOfMessage,
  groundAlarmKey,
  groundChainsKey,
  groundKey,
  keyChangesKey,
  keyGenerationKey,
  keyTombstonesKey,
} from '@gw/contract/internal/redis';
import { err, ok } from '@gw/contract/internal/result';
import type { Database } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import { copyKeyGeneration } from '../../people/keys/generation-copy.ts';
import type { Keys } from '../../people/keys/keys.ts';
import { type Context, inRole } from '../../shared/context.ts';
import { pinnedHeads, unpinHeads } from '../receipts/batches.ts';
import { putOrphansAgain } from '../receipts/orphans.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { readAlarm } from './ground.ts';

export interface ConfirmServices {
  readonly keys: Keys;
  readonly seals: Seals;
}

export interface Confirmed {
  readonly object: 'restore_confirmed';
  readonly alarm: string;
  readonly revoked_again: readonly string[];
  readonly accounts_open_again: readonly string[];
  readonly batches_given_up: readonly number[];
}

interface Confirmation {
  /** The one that the operator has seen; another one is not confirmed with it. */
  readonly alarm: string;
  readonly reason: string;
  /** Accounts that may open, although they are known to be suspended. */
  readonly open_accounts: readonly string[];
}

/** Closed: it changes nothing while an account would open whose suspension is lost, and that the operator has not named. */
export async function confirmGround(
  context: Context,
  { keys, seals }: ConfirmServices,
  { alarm: id, open_accounts, reason }: Confirmation,
  change: ChangeContext,
): Promise<ChangeResult<Confirmed>> {
  const { redis } = context;
  const alarm = await readAlarm(redis);
  if (alarm === null) return err(invalidTransition('There is nothing to confirm: Postgres has all that is known.'));
  if (alarm.id !== id)
    return err(invalidTransition('This is not the alarm that stands now: look at it, and confirm that one.'));
  const closed = await openAgain(inRole(context, 'customers').db, redis);
  const unnamed = closed.accounts.filter((account) => !open_accounts.includes(account));
  if (unnamed.length > 0)
    return err(
      invalidTransition(
        `Postgres has lost that these accounts are suspended: ${unnamed.join(', ')}. Suspend them again, or name each that may open in \`open_accounts\` (\`--open\`).`,
      ),
    );
  for (const { account_id, name } of closed.keys) {
    const revoked = await keys.revoke(account_id, name, {
      actor: change.actor,
      requestId: change.requestId,
      grant: change,
    });
    if (!revoked.ok) return err(invalidTransition(`The key ${name} could not be revoked again: ${revoked.error.why}.`));
  }
  const { db } = inRole(context, 'ledger');
  const lost = await lostHeads(db, redis, seals);
  const done: Confirmed = {
    object: 'restore_confirmed',
    alarm: id,
    revoked_again: closed.keys.map(({ name }) => name),
    accounts_open_again: closed.accounts,
    batches_given_up: lost.map(({ number }) => number),
  };
  const { object: _, ...after } = done;
  const mayNot = await db.$transaction(async (tx) => {
    const refusal = await reauthorize(tx, change);
    if (refusal !== null) return refusal;
    const { actor, at, requestId } = change;
    const entry = { accountId: null, actor, action: 'postgres.restore_confirmed', target: 'postgres', requestId };
    await appendAudit(tx, at, { ...entry, before: alarm, after: { ...after, reason } });
    return null;
  });
  if (mayNot !== null) return err(mayNot);
  await unpinHeads(redis, lost);
  // Before the alarm ends, or an error here would leave them out for good.
  await putOrphansAgain(redis);
  await forgetGround(redis, alarm.key_generation.lost_after);
  // The jobs do both within a second otherwise.
  await copyKeyGeneration(inRole(context, 'customers').db, redis).catch((error: unknown) =>
    context.log.warn({ reason: errorText(error) }, 'the generation of keys was not copied yet'),
  );
  return ok(done);
}

/** Keys and accounts that Redis knows to be closed, and that are open in Postgres. */
async function openAgain(db: Database, redis: Redis) {
  const names = await redis.zrange(keyTombstonesKey, '0', '-1');
  const accountIds = names.flatMap((name) => accountOfMessage(name) ?? []);
  const keys = await db.$queryRaw<{ name: string; account_id: string }[]>`
    SELECT public_id::text AS name, account_id FROM api_keys
    WHERE public_id = ANY (${names}::text[]) AND revoked_at IS NULL ORDER BY public_id`;
  const accounts = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM accounts WHERE id = ANY (${accountIds}::text[]) AND state = 'active' ORDER BY id`;
  return { keys, accounts: accounts.map(({ id }) => id) };
}

/** Heads of batches that Redis kept, and that Postgres has lost. */
async function lostHeads(db: Database, redis: Redis, seals: Seals) {
  const pinned = await pinnedHeads(redis, seals);
  const numbers = pinned.map(({ number }) => number);
  const rows = await db.$queryRaw<{ head: string }[]>`
    SELECT encode(head, 'hex') AS head FROM receipt_batches WHERE number = ANY (${numbers}::bigint[])`;
  const there = new Set(rows.map(({ head }) => head));
  return pinned.filter(({ head }) => !there.has(head));
}

/** The next heartbeat writes the ground anew, as with an empty Redis. */
async function forgetGround(redis: Redis, lostAfter: number): Promise<void> {
  const done = redis.multi().zremrangebyscore(keyChangesKey, `(${lostAfter}`, '+inf');
  await done.del(groundKey, groundChainsKey, keyGenerationKey, groundAlarmKey).exec();
}

/** Names what is in doubt while an alarm stands: a key's id, or that of an account, and whether it is known to be closed. */
export interface InDoubt {
  readonly keys: readonly { readonly id: string; readonly closed: boolean }[];
  readonly accounts: readonly { readonly id: string; readonly closed: boolean }[];
}

const mostShown = 1000;

export async function readDoubts(redis: Redis, lostAfter: number): Promise<InDoubt> {
  const names = await redis.zrangebyscore(keyChangesKey, `(${lostAfter}`, '+inf', 'LIMIT', 0, mostShown);
  const scores = names.length === 0 ? [] : await redis.zmscore(keyTombstonesKey, ...names);
  const closed = new Set(names.filter((_, at) => scores[at] != null));
  const accounts = names.flatMap((name) => accountOfMessage(name) ?? []);
  return {
    keys: names.filter((name) => accountOfMessage(name) === null).map((id) => ({ id, closed: closed.has(id) })),
    accounts: accounts.map((id) => ({ id, closed: closed.has(accountMessage(id)) })),
  };
}
