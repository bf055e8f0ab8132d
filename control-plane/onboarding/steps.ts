/**
 * The steps of an application, each one transaction: the application's row, the row of the step, the audit entry and the
 * state of the account change together or not at all.
 *
 * Invariant: the row is held from the look at the stage to the commit, so of two people who act at once the second is
 * refused. The account becomes active with its first key and not before; a rejected or expired application closes it.
 *
 * The audit log of an account is shown to the customer, so it tells of the stages alone; what was found and why it was
 * decided so stands in the rows of the steps, for operators.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import type { IssuedKeyObject, KeyCreate } from '@gw/contract/keys';
import type { Prisma } from '@gw/prisma/client';
import { appendAudit } from '../audit/append.ts';
import type { Context } from '../context.ts';
import type { Caller, Keys, Transaction } from '../keys/keys.ts';
import type { KeyRefusal } from '../keys/refusals.ts';
import type { Declaration, UseScreening } from '../screening/use-policy.ts';
import {
  type ApplicationObject,
  type ApplicationRow,
  applicationObject,
  findApplication,
  findIdle,
  holdApplication,
  type StoredScreening,
  stageOf,
} from './application.ts';
import type { NewApplication, SignedContract } from './input.ts';
import { moveOf, type OnboardingAction, type Stage, stateOf } from './machine.ts';

export interface OnboardingOptions extends Pick<Context, 'db' | 'now'> {
  /** A new account's id. */
  readonly newAccountId: () => string;
  readonly keys: Pick<Keys, 'issueFirst' | 'announce'>;
  readonly idleDays: number;
}

export type OnboardingRefusal =
  | { readonly why: 'unknown_application' }
  | { readonly why: 'invalid_transition'; readonly stage: Stage; readonly action: OnboardingAction }
  | { readonly why: 'key_refused'; readonly refusal: KeyRefusal };

export type StepResult<T = ApplicationObject> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: OnboardingRefusal };

export type Decision = 'clear_match' | 'reject_match' | 'approve_review' | 'reject_review';

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
interface Change {
  readonly data?: Prisma.OnboardingUpdateInput;
  readonly input: unknown;
  readonly outcome?: unknown;
}

/** Ends the transaction of a step that is refused after it has begun to write. */
class StepRefused extends Error {
  readonly refusal: OnboardingRefusal;
  constructor(refusal: OnboardingRefusal) {
    super(refusal.why);
    this.refusal = refusal;
  }
}

const dayMs = 86_400_000;
const patience = { maxWait: 5000, timeout: 10_000 };
const asJson = (value: unknown): Prisma.InputJsonValue => JSON.parse(JSON.stringify(value ?? {}));
const refused = (refusal: OnboardingRefusal): StepResult<never> => ({ ok: false, refusal });
const bySystem = (id: string): Caller => ({ actor: { kind: 'system', id, name: null }, requestId: null });

export type Onboarding = ReturnType<typeof createOnboarding>;

export function createOnboarding(options: OnboardingOptions) {
  const { db, now, keys, newAccountId } = options;
  const expiry = (): Date => new Date(now().getTime() + options.idleDays * dayMs);

  /** Holds the row, asks the machine, writes. `then` runs in the same transaction. */
  const take = async (
    accountId: string,
    action: OnboardingAction,
    caller: Caller,
    changeOf: (row: ApplicationRow) => Change,
    then: (tx: Transaction, row: ApplicationRow) => Promise<void> = async () => {},
  ): Promise<StepResult> => {
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
          data: { ...data, state: stateOf(move.to), updatedAt: at, expiresAt: expiry() },
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
  };

  return {
    async create(input: NewApplication, caller: Caller): Promise<ApplicationObject> {
      const accountId = newAccountId();
      return db.$transaction(async (tx) => {
        const at = now();
        const { limits } = input;
        await tx.account.create({
          data: {
            id: accountId,
            name: input.name,
            tier: input.tier,
            state: 'onboarding',
            createdAt: at,
            billingContact: input.billing_contact,
            technicalContact: input.technical_contact,
            limitPerS: limits?.per_s ?? null,
            limitBurst: limits?.burst ?? null,
            limitPerDay: limits?.per_day ?? null,
          },
        });
        await tx.onboarding.create({
          data: { accountId, state: 'account_created', expiresAt: expiry(), updatedAt: at },
        });
        await writeStep(tx, {
          accountId,
          step: 1,
          action: 'create',
          from: null,
          to: 'account_created',
          caller,
          at,
          input,
        });
        const row = await findApplication(tx, accountId);
        if (row === null) throw new Error('An application that was created can not be read.');
        return applicationObject(row);
      }, patience);
    },

    declare: (accountId: string, declaration: Declaration, caller: Caller) =>
      take(accountId, 'declare', caller, () => ({ data: { declaration: asJson(declaration) }, input: declaration })),

    /** The outcome of step 2, by the screening job. */
    recordUse(accountId: string, result: UseScreening): Promise<StepResult> {
      const actions = { clear: 'pass_use', match: 'match_use', prohibited: 'prohibit_use' } as const;
      const change: Change = {
        data: { useScreening: asJson(result), highRisk: result.high_risk },
        input: { policy_version: result.policy_version },
        outcome: result,
      };
      return take(accountId, actions[result.outcome], bySystem('screening'), () => change);
    },

    /** The outcome of step 3, by the screening job. */
    recordSanctions(
      accountId: string,
      result: StoredScreening & { readonly outcome: 'clear' | 'match' },
    ): Promise<StepResult> {
      const action = result.outcome === 'clear' ? 'pass_sanctions' : 'match_sanctions';
      const change: Change = { data: { sanctionsScreening: asJson(result) }, input: {}, outcome: result };
      return take(accountId, action, bySystem('screening'), () => change);
    },

    /** Says on the application why its screening is not done yet. No step: nothing has happened. */
    async noteWaiting(accountId: string, reason: string): Promise<void> {
      const note = JSON.stringify({ outcome: 'waits', reason: reason.slice(0, 500), at: now().toISOString() });
      await db.$executeRaw`
        UPDATE onboarding SET sanctions_screening = ${note}::jsonb
        WHERE account_id = ${accountId} AND state = 'sanctions_screening'
          AND sanctions_screening->>'outcome' IS DISTINCT FROM 'match'`;
    },

    decide: (accountId: string, action: Decision, reason: string, caller: Caller) =>
      take(accountId, action, caller, () => ({ input: { reason } })),

    signContract: (accountId: string, { sha256, reference, signed_at }: SignedContract, caller: Caller) =>
      take(accountId, 'sign_contract', caller, () => ({
        data: { contractHash: sha256, contractReference: reference, contractSignedAt: new Date(signed_at) },
        input: { sha256, reference, signed_at },
      })),

    /** Step 6. The plaintext is in the returned value and nowhere else. */
    async issueKey(
      accountId: string,
      wanted: KeyCreate,
      caller: Caller,
    ): Promise<StepResult<{ application: ApplicationObject; key: IssuedKeyObject }>> {
      let key: IssuedKeyObject | null = null;
      const taken = await take(
        accountId,
        'issue_key',
        caller,
        () => ({ input: wanted }),
        async (tx, row) => {
          await tx.account.update({ where: { id: accountId }, data: { state: 'active' } });
          const issued = await keys.issueFirst(tx, accountId, row.tier, wanted, caller);
          if (!issued.ok) throw new StepRefused({ why: 'key_refused', refusal: issued.refusal });
          key = issued.value;
        },
      );
      if (!taken.ok) return taken;
      const issued = key as IssuedKeyObject | null;
      if (issued === null) throw new Error('The last step was taken without a key.');
      await keys.announce(issued.id);
      return { ok: true, value: { application: taken.value, key: issued } };
    },

    /** Ends what nobody carries on. Of several instances one ends each application. */
    async expireIdle(): Promise<number> {
      let expired = 0;
      for (const accountId of await findIdle(db, now(), 100)) {
        const taken = await take(accountId, 'expire', bySystem('expiry'), ({ expires_at }) => {
          // Somebody has carried it on since it was found.
          if (expires_at > now()) throw new StepRefused({ why: 'unknown_application' });
          return { input: { idle_until: expires_at.toISOString() } };
        });
        if (taken.ok) expired += 1;
      }
      return expired;
    },
  };
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

async function writeStep(tx: Transaction, row: StepRow): Promise<void> {
  const { accountId, step, action, from, to, caller, at, input, outcome } = row;
  const actor: Actor = caller.actor;
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
