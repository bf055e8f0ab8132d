/**
 * The steps of an application, from its creation to the first key.
 *
 * Invariant: the account becomes active with its first key and not before; a rejected or expired application closes it.
 */
import { isDeepStrictEqual } from 'node:util';
import { ok } from '@gw/contract/internal/result';
import type { IssuedKeyObject, KeyCreate } from '@gw/contract/keys';
import type { Queryable } from '@gw/prisma/client';
import type { Caller } from '../../people/keys/caller.ts';
import type { Keys } from '../../people/keys/keys.ts';
import type { Transaction } from '../../people/keys/result.ts';
import { openHider } from '../../shared/names/names.ts';
import type { NameScreening } from '../screening/screen-names.ts';
import type { Declaration, UseScreening } from '../screening/use-policy.ts';
import {
  type ApplicationObject,
  type ApplicationRow,
  applicationObject,
  type Contact,
  findApplication,
  findIdle,
  type ScreenedNames,
  type StoredScreening,
  screenedNamesOf,
} from './application.ts';
import type { NewApplication, SignedContract } from './input.ts';
import type { OnboardingAction } from './machine.ts';
import { noteUnscreened, recordRename } from './record-rename.ts';
import {
  expiryAt,
  patience,
  type StepOptions,
  type StepRecord,
  StepRefused,
  type StepResult,
  takeStep,
} from './take-step.ts';
import { asJson, writeStep } from './write-step.ts';

export interface OnboardingOptions extends StepOptions {
  /** Makes the id of a new account. */
  readonly newAccountId: () => string;
  readonly keys: Pick<Keys, 'issueFirst' | 'announce'>;
}

export type Decision = 'clear_match' | 'reject_match' | 'approve_review' | 'reject_review';

const bySystem = (id: string): Caller => ({ actor: { kind: 'system', id, name: null }, requestId: null });

export type Onboarding = ReturnType<typeof createOnboarding>;

/** Makes the steps. Each is one transaction, and returns a refusal if the stage or the caller does not allow it. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps in their order, each short, over one way to take them.
export function createOnboarding(options: OnboardingOptions) {
  const { db, now, keys } = options;
  const take = (
    accountId: string,
    action: OnboardingAction,
    caller: Caller,
    changeOf: (row: ApplicationRow) => StepRecord,
    then?: (tx: Transaction, row: ApplicationRow) => Promise<void>,
  ): Promise<StepResult> => takeStep(options, accountId, action, caller, changeOf, then);

  return {
    create: (input: NewApplication, caller: Caller): Promise<ApplicationObject> => create(options, input, caller),

    declare: (accountId: string, declaration: Declaration, caller: Caller) =>
      take(accountId, 'declare', caller, () => ({ data: { declaration: asJson(declaration) }, input: declaration })),

    /** Records the outcome of step 2, for the screening job. */
    recordUse(accountId: string, result: UseScreening): Promise<StepResult> {
      const actions = { clear: 'pass_use', match: 'match_use', prohibited: 'prohibit_use' } as const;
      const change: StepRecord = {
        data: { useScreening: asJson(result), highRisk: result.high_risk },
        input: { policy_version: result.policy_version },
        outcome: result,
      };
      return take(accountId, actions[result.outcome], bySystem('screening'), () => change);
    },

    /** Records the outcome of step 3, for the screening job. Throws if a name was changed while it was screened. */
    recordSanctions(
      accountId: string,
      result: StoredScreening & { readonly outcome: 'clear' | 'match'; readonly screened: ScreenedNames },
    ): Promise<StepResult> {
      const action = result.outcome === 'clear' ? 'pass_sanctions' : 'match_sanctions';
      const change: StepRecord = { data: { sanctionsScreening: asJson(result) }, input: {}, outcome: result };
      return take(accountId, action, bySystem('screening'), (row) => {
        if (!isDeepStrictEqual(screenedNamesOf(row), result.screened))
          throw new Error('A name was changed while it was screened.');
        return change;
      });
    },

    recordRename: (accountId: string, screened: ScreenedNames, names: NameScreening): Promise<void> =>
      recordRename(options, accountId, screened, names, bySystem('screening')),

    noteUnscreened: (accountId: string, screened: ScreenedNames, reason: string): Promise<void> =>
      noteUnscreened(options, accountId, screened, reason, bySystem('screening')),

    /** Notes on the application why its screening is not done yet. This is no step, since nothing has happened. */
    async noteWaiting(accountId: string, reason: string): Promise<void> {
      const at = now();
      const note = JSON.stringify({ outcome: 'waits', reason: reason.slice(0, 500), at: at.toISOString() });
      // The time too, so that those which cannot be screened hold up no others.
      await db.$executeRaw`
        UPDATE onboarding SET sanctions_screening = ${note}::jsonb, updated_at = ${at}
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

    /**
     * Takes step 6, and makes the account active. The plaintext of the key is in the returned value and nowhere else.
     */
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
          if (!issued.ok) throw new StepRefused({ why: 'key_refused', refusal: issued.error });
          key = issued.value;
        },
      );
      if (!taken.ok) return taken;
      const issued = key as IssuedKeyObject | null;
      if (issued === null) throw new Error('The last step was taken without a key.');
      await keys.announce(issued.id);
      return ok({ application: taken.value, key: issued });
    },

    /** Ends up to 100 applications that have expired; returns how many. Only one of several instances ends each. */
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

async function create(
  { db, now, newAccountId, idleDays }: OnboardingOptions,
  asked: NewApplication,
  caller: Caller,
): Promise<ApplicationObject> {
  const accountId = newAccountId();
  return db.$transaction(async (tx) => {
    const at = now();
    const input = await hideApplicant(tx, accountId, asked);
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
        limitStreams: limits?.streams ?? null,
      },
    });
    await tx.onboarding.create({
      data: { accountId, state: 'account_created', expiresAt: expiryAt(at, idleDays), updatedAt: at },
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
    if (row === null) throw new Error('An application that was created cannot be read.');
    return applicationObject(row);
  }, patience);
}

async function hideApplicant(tx: Queryable, accountId: string, asked: NewApplication): Promise<NewApplication> {
  const subject = `account:${accountId}` as const;
  const hide = await openHider(tx, [subject]);
  const contact = ({ email, name }: Contact): Contact => ({ name: hide(subject, name), email: hide(subject, email) });
  return {
    ...asked,
    name: hide(subject, asked.name),
    billing_contact: contact(asked.billing_contact),
    technical_contact: contact(asked.technical_contact),
  };
}
