/**
 * The screening of names that were changed after the first key.
 *
 * Invariant: a name under which an account works was compared with the lists, or is for at most a day without a whole
 * list that it could be compared with (and some seconds for the job). A match of a name that was changed, whatever was
 * decided about the name before, and a day without a list, suspend the account, and mark it: nobody reinstates it,
 * whatever else it was suspended for, without having accepted what was found.
 */
import { isDeepStrictEqual } from 'node:util';
import { hourMs } from '@gw/contract/internal/durations';
import { accountMessage } from '@gw/contract/internal/redis';
import type { Prisma } from '@gw/prisma/client';
import { appendAudit } from '../../people/audit/append.ts';
import type { Caller } from '../../people/keys/caller.ts';
import type { Keys } from '../../people/keys/keys.ts';
import type { NameScreening } from '../screening/screen-names.ts';
import { type ApplicationRow, holdApplication, type ScreenedNames, screenedNamesOf } from './application.ts';
import { patience, type StepOptions } from './take-step.ts';
import { asJson, writeStep } from './write-step.ts';

export interface RenameOptions extends Pick<StepOptions, 'db' | 'now'> {
  readonly keys: Pick<Keys, 'announce'>;
}

/** How long an account can work under a name that could not be compared with any list. */
const longestUnscreenedMs = 24 * hourMs;

/**
 * Records what a screening of new names has found, and suspends the account if it has to. Throws if they changed again.
 */
export async function recordRename(
  { db, now, keys }: RenameOptions,
  accountId: string,
  screened: ScreenedNames,
  names: NameScreening,
  caller: Caller,
): Promise<void> {
  const suspended = await db.$transaction(async (tx) => {
    const row = await holdApplication(tx, accountId);
    if (row?.state !== 'complete') return false;
    if (!isDeepStrictEqual(screenedNamesOf(row), screened))
      throw new Error('A name was changed while it was screened.');
    // Another instance has already recorded it.
    if (isDeepStrictEqual(row.sanctions_screening?.screened, screened)) return false;
    const at = now();
    const concerns = concernsNewName(names, screened, row);
    const { needs_decision: undecided = false, unscreened: _, ...before } = row.sanctions_screening ?? {};
    const needs_decision = concerns || (undecided && names.outcome === 'match');
    const result = { ...before, outcome: names.outcome, at: at.toISOString(), screened, names, needs_decision };
    await tx.onboarding.update({ where: { accountId }, data: { sanctionsScreening: asJson(result), updatedAt: at } });
    const suspends = needs_decision && (await suspend(tx, accountId, caller, at));
    const outcome = { ...names, needs_decision, suspends };
    await writeStep(tx, { ...step(accountId, 'screen_again'), caller, at, input: { screened }, outcome });
    return suspends;
  }, patience);
  if (suspended) await keys.announce(accountMessage(accountId));
}

/** Notes on the application since when and why its names are not screened; after a day it suspends the account. */
export async function noteUnscreened(
  { db, now, keys }: RenameOptions,
  accountId: string,
  screened: ScreenedNames,
  reason: string,
  caller: Caller,
): Promise<void> {
  const suspended = await db.$transaction(async (tx) => {
    const row = await holdApplication(tx, accountId);
    const before = row?.sanctions_screening ?? null;
    if (row?.state !== 'complete' || before === null || isDeepStrictEqual(before.screened, screened)) return false;
    const at = now();
    const known = before.unscreened;
    // A further name does not begin the day anew.
    const since = known?.since ?? at.toISOString();
    const isOver = at.getTime() - Date.parse(since) >= longestUnscreenedMs;
    const suspends = isOver && (await suspend(tx, accountId, caller, at));
    const unscreened = { names: screened, since, reason: reason.slice(0, 500) };
    const needs_decision = before.needs_decision === true || suspends;
    const result = { ...before, unscreened, needs_decision };
    // The time too, so that those which cannot be screened hold up no others.
    await tx.onboarding.update({ where: { accountId }, data: { sanctionsScreening: asJson(result), updatedAt: at } });
    if (suspends)
      await writeStep(tx, {
        ...step(accountId, 'wait_unscreened'),
        caller,
        at,
        input: unscreened,
        outcome: { suspends },
      });
    return suspends;
  }, patience);
  if (suspended) await keys.announce(accountMessage(accountId));
}

/**
 * Returns the application, which `tx` then holds, if its names wait for a decision, and null if not. `tx` has to hold
 * the account already.
 */
export async function findUndecided(tx: Prisma.TransactionClient, accountId: string): Promise<ApplicationRow | null> {
  const row = await holdApplication(tx, accountId);
  return row?.sanctions_screening?.needs_decision === true ? row : null;
}

/**
 * Records the decision. Call it after the account's own entry in the audit log, since the operators' chain comes last.
 */
export async function acceptMatch(
  tx: Prisma.TransactionClient,
  { account_id: accountId, sanctions_screening }: ApplicationRow,
  { at, caller, reason }: { at: Date; caller: Caller; reason: string },
): Promise<void> {
  // Without `unscreened`: where nothing could be looked at, the day begins anew.
  const { needs_decision: _, unscreened, ...rest } = sanctions_screening ?? {};
  await tx.onboarding.update({ where: { accountId }, data: { sanctionsScreening: asJson(rest), updatedAt: at } });
  const outcome = { names: unscreened?.names ?? sanctions_screening?.screened, unscreened: unscreened !== undefined };
  await writeStep(tx, { ...step(accountId, 'accept_match'), caller, at, input: { reason }, outcome });
}

const step = <Action extends string>(accountId: string, action: Action) =>
  ({ accountId, step: 3, action, from: 'complete', to: 'complete' }) as const;

/** Returns false if the account is not active. The customer can read the `reason`. */
async function suspend(tx: Prisma.TransactionClient, accountId: string, caller: Caller, at: Date): Promise<boolean> {
  const where = { id: accountId, state: 'active' } as const;
  const { count } = await tx.account.updateMany({ where, data: { state: 'suspended' } });
  if (count === 0) return false;
  const reason = 'The name of the account was changed; the change is being looked at.';
  await appendAudit(tx, at, {
    actor: caller.actor,
    requestId: caller.requestId,
    accountId,
    action: 'account.suspended',
    target: `account:${accountId}`,
    before: { state: 'active' },
    after: { state: 'suspended', reason },
  });
  return true;
}

/** Whether a name that has changed since the last screening has a match, or cannot be compared. */
function concernsNewName(names: NameScreening, screened: ScreenedNames, row: ApplicationRow): boolean {
  const before = row.sanctions_screening?.screened;
  const roles = Object.keys(screened) as (keyof ScreenedNames)[];
  const found = [...names.matched, ...names.not_comparable];
  return roles.some((role) => before?.[role] !== screened[role] && found.includes(role));
}
