/**
 * One step of an application as one transaction: the application's row, the row of the step, the audit entry and the
 * state of the account change together or not at all.
 *
 * Invariant: the application and its account are held from the look at the stage to the commit, so of two people who
 * act at once the second is refused; and so is who may not act any longer.
 */
import type { ApiError } from '@gw/contract/errors';
import { dayMs } from '@gw/contract/internal/durations';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { reauthorize } from '../../people/access/reauthorize.ts';
import type { Caller } from '../../people/keys/caller.ts';
import type { KeyRefusal } from '../../people/keys/refusals.ts';
import type { Transaction } from '../../people/keys/result.ts';
import type { Context } from '../../shared/context.ts';
import {
  type ApplicationObject,
  type ApplicationRow,
  applicationObject,
  findApplication,
  holdApplication,
  stageOf,
} from './application.ts';
import { moveOf, type OnboardingAction, type Stage, stateOf } from './machine.ts';
import { writeStep } from './write-step.ts';

export interface StepOptions extends Pick<Context, 'db' | 'now'> {
  /** Days without a step after which an application expires. */
  readonly idleDays: number;
}

/** Why a step was not taken; then nothing has changed. */
export type OnboardingRefusal =
  | { readonly why: 'unknown_application' }
  /** Whoever asks may not any longer. */
  | { readonly why: 'caller'; readonly error: ApiError }
  | { readonly why: 'invalid_transition'; readonly stage: Stage; readonly action: OnboardingAction }
  | { readonly why: 'key_refused'; readonly refusal: KeyRefusal };

export type StepResult<T = ApplicationObject> = Result<T, OnboardingRefusal>;

/** The data and entries that a step writes beside the state. */
export interface StepRecord {
  readonly data?: Prisma.OnboardingUpdateInput;
  readonly input: unknown;
  readonly outcome?: unknown;
}

/** Thrown to undo a step that is refused after it has begun to write; `takeStep` turns it into a refusal. */
export class StepRefused extends Error {
  readonly refusal: OnboardingRefusal;
  constructor(refusal: OnboardingRefusal) {
    super(refusal.why);
    this.refusal = refusal;
  }
}

/** How long a transaction waits for a connection, and lasts, ms. */
export const patience = { maxWait: 5000, timeout: 10_000 };
/** Returns when an application expires whose last step was at `at`. */
export const expiryAt = (at: Date, idleDays: number): Date => new Date(at.getTime() + idleDays * dayMs);

/**
 * Takes a step if the machine allows it. `changeOf` says what to write, and `then` runs in the same transaction, before
 * the entries of the audit log. Whatever they throw undoes the step; `StepRefused` is returned as a refusal.
 */
export async function takeStep(
  { db, now, idleDays }: StepOptions,
  accountId: string,
  action: OnboardingAction,
  caller: Caller,
  changeOf: (row: ApplicationRow) => StepRecord,
  then: (tx: Transaction, row: ApplicationRow) => Promise<void> = async () => {},
): Promise<StepResult> {
  try {
    return await db.$transaction(async (tx) => {
      const error = caller.grant ? await reauthorize(tx, caller.grant) : null;
      if (error) return err({ why: 'caller', error });
      const row = await holdApplication(tx, accountId);
      if (row === null) return err({ why: 'unknown_application' });
      const from = stageOf(row);
      const move = moveOf(from, action, row.high_risk ?? false);
      if (move === null) return err({ why: 'invalid_transition', stage: from, action });
      const { data = {}, input, outcome } = changeOf(row);
      const at = now();
      await tx.onboarding.update({
        where: { accountId },
        data: { ...data, state: stateOf(move.to), updatedAt: at, expiresAt: expiryAt(at, idleDays) },
      });
      if (move.to === 'rejected' || move.to === 'expired')
        await tx.account.update({ where: { id: accountId }, data: { state: 'closed' } });
      await then(tx, row);
      await writeStep(tx, { accountId, step: move.step, action, from, to: move.to, caller, at, input, outcome });
      const after = await findApplication(tx, accountId);
      if (after === null || stageOf(after) !== move.to)
        throw new Error(`The step ${action} did not lead to ${move.to}.`);
      return ok(applicationObject(after));
    }, patience);
  } catch (error) {
    if (error instanceof StepRefused) return err(error.refusal);
    throw error;
  }
}
