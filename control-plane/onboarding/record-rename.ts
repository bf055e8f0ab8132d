/**
 * The screening of names that were changed after the first key.
 *
 * Invariant: a name under which an account works was compared with the lists, or will be within a minute of its change. A
 * match that was not there before suspends the account until an operator has looked at it and reinstates it; one that was
 * there was decided by an admin when the account was taken in.
 */
import { isDeepStrictEqual } from 'node:util';
import { accountMessage } from '@gw/contract/internal/redis';
import { appendAudit } from '../audit/append.ts';
import type { Caller } from '../keys/caller.ts';
import type { Keys } from '../keys/keys.ts';
import type { NameScreening } from '../screening/screen-names.ts';
import { type ApplicationRow, holdApplication, type ScreenedNames, screenedNamesOf } from './application.ts';
import { patience, type StepOptions } from './take-step.ts';
import { asJson, writeStep } from './write-step.ts';

export interface RenameOptions extends Pick<StepOptions, 'db' | 'now'> {
  readonly keys: Pick<Keys, 'announce'>;
}

/** Throws if the names are others by now: they are to be screened again. */
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
    // Of two instances the second comes too late.
    if (isDeepStrictEqual(row.sanctions_screening?.screened, screened)) return false;
    const at = now();
    const isNew = findsMore(names, row);
    const result = { ...row.sanctions_screening, outcome: names.outcome, at: at.toISOString(), screened, names };
    await tx.onboarding.update({ where: { accountId }, data: { sanctionsScreening: asJson(result), updatedAt: at } });
    const { count } = isNew
      ? await tx.account.updateMany({ where: { id: accountId, state: 'active' }, data: { state: 'suspended' } })
      : { count: 0 };
    if (count > 0)
      await appendAudit(tx, at, {
        ...caller,
        accountId,
        action: 'account.suspended',
        target: `account:${accountId}`,
        before: { state: 'active' },
        after: { state: 'suspended', reason: 'The name of the account was changed; the change is being looked at.' },
      });
    const step = { accountId, step: 3, action: 'screen_again', from: 'complete', to: 'complete' } as const;
    await writeStep(tx, { ...step, caller, at, input: { screened }, outcome: { ...names, suspends: count > 0 } });
    return count > 0;
  }, patience);
  if (suspended) await keys.announce(accountMessage(accountId));
}

interface Found {
  readonly matches: readonly { readonly role: string; readonly list: string; readonly entry_id: string }[];
  readonly not_comparable: readonly string[];
}

/** Whether there is anything that the screening before has not found. */
function findsMore(names: NameScreening, { sanctions_screening: before }: ApplicationRow): boolean {
  const keysOf = ({ matches, not_comparable }: Found): readonly string[] => [
    ...matches.map(({ role, list, entry_id }) => JSON.stringify([role, list, entry_id])),
    ...not_comparable.map((role) => JSON.stringify([role])),
  ];
  const known = keysOf((before?.names as Found | undefined) ?? { matches: [], not_comparable: [] });
  return keysOf(names).some((key) => !known.includes(key));
}
