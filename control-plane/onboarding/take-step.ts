/**
 * One step of an application as one transaction: the application's row, the row of the step, the audit entry and the
 * state of the account change together or not at all.
 *
 * Invariant: the row is held from the look at the stage to the commit, so of two people who act at once the second is
 * refused.
 *
 * The audit log of an account is shown to the customer, so it tells of the stages alone; what was found and why it was
 * decided so stands in the rows of the steps, for operators.
 */
import type { Prisma } from '@gw/prisma/client';
import { appendAudit } from '../audit/append.ts';
import type { Context } from '../context.ts';
import type { Caller, Transaction } from '../keys/keys.ts';
import type { KeyRefusal } from '../keys/refusals.ts';
import {
  type ApplicationObject,
  type ApplicationRow,
  applicationObject,
  findApplication,
  holdApplication,
  stageOf,
} from './application.ts';
import { moveOf, type OnboardingAction, type Stage, stateOf } from './machine.ts';

export interface StepOptions extends Pick<Context, 'db' | 'now'> {
  /** Days without a step after which an application expires. */
  readonly idleDays: number;
}

export type OnboardingRefusal =
  | { readonly why: 'unknown_application' }
  | { readonly why: 'invalid_transition'; readonly stage: Stage; readonly action: OnboardingAction }
  | { readonly why: 'key_refused'; readonly refusal: KeyRefusal };

export type StepResult<T = ApplicationObject> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: OnboardingRefusal };

const auditActions: Readonly<Record<OnboardingAction, string>> = {
  declare: 'application.declared',
  pass_use: 'application.use_screened',
  match_use: 'application.use_screened',
  prohibit_use: 'application.use_screened',
  pass_sanctions: 'application.sanctions_screened',
  match_sanctions: 'application.sanctions_screened',
  clear_match: 'application.match_cleared',
  reject_match: 'application.match_rejected',
  approve_review: 'application.review_approved',
  reject_review: 'application.review_rejected',
  sign_contract: 'application.contract_signed',
  issue_key: 'application.completed',
  expire: 'application.expired',
};

/** What a step writes beside the state. */
export interface Change {
  readonly data?: Prisma.OnboardingUpdateInput;
  readonly input: unknown;
  readonly outcome?: unknown;
}

/** Ends the transaction of a step that is refused after it has begun to write. */
export class StepRefused extends Error {
  readonly refusal: OnboardingRefusal;
  constructor(refusal: OnboardingRefusal) {
    super(refusal.why);
    this.refusal = refusal;
  }
}

const dayMs = 86_400_000;
export const patience = { maxWait: 5000, timeout: 10_000 };
export const asJson = (value: unknown): Prisma.InputJsonValue => JSON.parse(JSON.stringify(value ?? {}));
export const expiryAt = (at: Date, idleDays: number): Date => new Date(at.getTime() + idleDays * dayMs);
const refused = (refusal: OnboardingRefusal): StepResult<never> => ({ ok: false, refusal });

/** Holds the row, asks the machine, writes. `then` runs in the same transaction. */
export async function takeStep(
  { db, now, idleDays }: StepOptions,
  accountId: string,
  action: OnboardingAction,
  caller: Caller,
  changeOf: (row: ApplicationRow) => Change,
  then: (tx: Transaction, row: ApplicationRow) => Promise<void> = async () => {},
): Promise<StepResult> {
  try {
    return await db.$transaction(async (tx) => {
      const row = await holdApplication(tx, accountId);
      if (row === null) return refused({ why: 'unknown_application' });
      const from = stageOf(row);
      const move = moveOf(from, action, row.high_risk ?? false);
      if (move === null) return refused({ why: 'invalid_transition', stage: from, action });
      const { data = {}, input, outcome } = changeOf(row);
      const at = now();
      await tx.onboarding.update({
        where: { accountId },
        data: { ...data, state: stateOf(move.to), updatedAt: at, expiresAt: expiryAt(at, idleDays) },
      });
      if (move.to === 'rejected' || move.to === 'expired')
        await tx.account.update({ where: { id: accountId }, data: { state: 'closed' } });
      await writeStep(tx, { accountId, step: move.step, action, from, to: move.to, caller, at, input, outcome });
      await then(tx, row);
      const after = await findApplication(tx, accountId);
      if (after === null || stageOf(after) !== move.to)
        throw new Error(`The step ${action} did not lead to ${move.to}.`);
      return { ok: true, value: applicationObject(after) };
    }, patience);
  } catch (fault) {
    if (fault instanceof StepRefused) return refused(fault.refusal);
    throw fault;
  }
}

interface StepRow {
  readonly accountId: string;
  readonly step: number;
  readonly action: OnboardingAction | 'create';
  readonly from: Stage | null;
  readonly to: Stage;
  readonly caller: Caller;
  readonly at: Date;
  readonly input: unknown;
  readonly outcome?: unknown;
}

/** `tx` has to be a transaction. */
export async function writeStep(tx: Transaction, row: StepRow): Promise<void> {
  const { accountId, step, action, from, to, caller, at, input, outcome } = row;
  const { actor } = caller;
  await tx.onboardingStep.create({
    data: {
      accountId,
      step,
      action,
      from,
      to,
      actorKind: actor.kind,
      actorId: actor.id,
      at,
      input: asJson(input),
      outcome: asJson(outcome),
    },
  });
  await appendAudit(tx, at, {
    accountId,
    actor,
    action: action === 'create' ? 'application.created' : auditActions[action],
    target: `application:${accountId}`,
    requestId: caller.requestId,
    ...(from === null ? {} : { before: { stage: from } }),
    after: { stage: to },
  });
}
