/**
 * The record of a step: its row, and its entries in the audit log.
 *
 * Invariant: what a screening has found, and what was decided about it, is not told to the customer, neither in words
 * nor by the number, the actor or the hash of entries. So each step has its entry, with the hash of its row, in the
 * operators' chain; the account's chain, which the customer reads whole, has entries of the customer's own steps alone,
 * and one that says the same of every end.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { mapStrings } from '@gw/contract/internal/hidden-names';
import { type OnboardingStep, stepHash } from '@gw/contract/internal/onboarding-step';
import type { Prisma } from '@gw/prisma/client';
import { appendAudit } from '../../people/audit/append.ts';
import type { Caller } from '../../people/keys/caller.ts';
import type { Transaction } from '../../people/keys/result.ts';
import { openHider } from '../../shared/names/names.ts';
import type { OnboardingAction, Stage } from './machine.ts';

type RecordedAction = OnboardingAction | 'create' | 'screen_again' | 'wait_unscreened' | 'accept_match';

const auditActions: Readonly<Record<RecordedAction, string>> = {
  create: 'application.created',
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
  screen_again: 'application.screened_again',
  wait_unscreened: 'application.not_screened',
  accept_match: 'application.match_accepted',
};

/** The steps in which the customer takes part. */
const customersSteps: readonly RecordedAction[] = ['create', 'declare', 'sign_contract', 'issue_key'];
/** Stands in the account's chain for whoever or whatever has ended an application. */
const onboardingItself: Actor = { kind: 'system', id: 'onboarding', name: null };

/** A step that was taken; `from` is null for the first one. */
export interface StepToWrite {
  readonly accountId: string;
  readonly step: number;
  readonly action: RecordedAction;
  readonly from: Stage | null;
  readonly to: Stage;
  readonly caller: Caller;
  readonly at: Date;
  readonly input: unknown;
  readonly outcome?: unknown;
}

/** Returns a value as it comes back from JSON; null and undefined become `{}`. */
export const asJson = (value: unknown): Prisma.InputJsonValue => JSON.parse(JSON.stringify(value ?? {}));

/** Has to be the last thing that `tx` does, since chains are locked last. `tx` has to hold the account. */
export async function writeStep(tx: Transaction, written: StepToWrite): Promise<void> {
  const { accountId, step, action, from, to, at } = written;
  const { actor, requestId } = written.caller;
  const input = await hidden(tx, accountId, asJson(written.input));
  const outcome = await hidden(tx, accountId, asJson(written.outcome));
  const row: OnboardingStep = {
    account_id: accountId,
    step,
    action,
    from,
    to,
    actor: { kind: actor.kind, id: actor.id },
    at: at.toISOString(),
    input,
    outcome,
  };
  await tx.onboardingStep.create({
    data: { accountId, step, action, from, to, actorKind: actor.kind, actorId: actor.id, at, input, outcome },
  });
  const fact = { accountId, actor, requestId, action: auditActions[action], target: `application:${accountId}` };
  // The account's chain before the operators', always.
  if (customersSteps.includes(action)) await appendAudit(tx, at, { ...fact, after: { stage: to } });
  if (to === 'rejected' || to === 'expired')
    await appendAudit(tx, at, { ...fact, actor: onboardingItself, requestId: null, action: 'application.closed' });
  await appendAudit(tx, at, {
    ...fact,
    accountId: null,
    ...(from === null ? {} : { before: { stage: from } }),
    after: { stage: to, step_sha256: stepHash(row) },
  });
}

/** Hides every text: a step holds little else than what an account says of itself, and what is said of it. */
async function hidden(
  tx: Transaction,
  accountId: string,
  value: Prisma.InputJsonValue,
): Promise<Prisma.InputJsonValue> {
  const subject = `account:${accountId}` as const;
  const hide = await openHider(tx, [subject]);
  return mapStrings(value, (text) => hide(subject, text)) as Prisma.InputJsonValue;
}
