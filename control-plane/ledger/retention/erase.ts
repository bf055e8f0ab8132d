/**
 * Erases a person or an account: destroys the key that their names are encrypted with, and what lets them in.
 *
 * Invariant: one transaction decides it, with its audit entry: the key is gone with its commit, and so are credential, sessions and tokens. What
 * is left then (API keys, settings, evidence packs) is done in steps of other roles. Each step can be done again, and a job finds the
 * erasures that an instance has left unfinished. Receipts, their log, sums and the audit log stay, and verify as before.
 *
 * Closed: where the holds cannot be read, or the entry cannot be written, nothing is erased.
 */

import { accountMessage } from '@gw/contract/internal/redis';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma, Queryable } from '@gw/prisma/client';
import type { ChangeContext } from '../../people/access/change.ts';
import { lockOperators } from '../../people/access/operators.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import { announceKeyChange } from '../../people/keys/announce.ts';
import { type Context, inRole } from '../../shared/context.ts';
import { erased, type Subject } from '../../shared/names/names.ts';
import { heldAccounts } from './holds.ts';

export type ErasedKind = 'account' | 'operator' | 'organisation_admin';

/** Whom a request names: `person` is an operator or an admin of an organisation. */
export interface Whom {
  readonly kind: 'account' | 'person';
  readonly id: string;
}

interface FoundSubject {
  readonly kind: ErasedKind;
  readonly id: string;
  /** Whose hold counts; null: that on all alone. */
  readonly accountId: string | null;
}

/** Numbers of the things that an erasure destroys. */
export interface ErasurePreview {
  readonly kind: ErasedKind;
  readonly id: string;
  readonly erased_at: Date | null;
  /** The reason of a legal hold that forbids it. */
  readonly held: string | null;
  readonly people: number;
  readonly sessions: number;
  readonly operator_tokens: number;
  readonly api_keys: number;
  readonly evidence_packs: number;
  readonly webhooks: number;
}

async function find(db: Queryable, { id, kind }: Whom): Promise<FoundSubject | null> {
  const [found] = await db.$queryRaw<{ kind: ErasedKind; account_id: string | null }[]>`
    SELECT 'account' AS kind, id AS account_id FROM accounts WHERE id = ${id} AND ${kind === 'account'}
    UNION ALL SELECT 'operator', NULL FROM operators WHERE id = ${id} AND ${kind === 'person'}
    UNION ALL SELECT 'organisation_admin', account_id FROM organisation_admins WHERE id = ${id} AND ${kind === 'person'}`;
  return found === undefined ? null : { kind: found.kind, id, accountId: found.account_id };
}

const unknown = ({ kind }: Whom) =>
  kind === 'account' ? notFound('account') : notFound('operator', 'There is no such operator or organisation admin.');

/** Says what an erasure would destroy; refuses with `invalid_account` or `invalid_operator`. */
export async function previewErasure(
  { databases }: Pick<Context, 'databases'>,
  whom: Whom,
): Promise<ChangeResult<ErasurePreview>> {
  const { customers, ledger, people } = databases;
  const found = await find(people, whom);
  if (found === null) return err(unknown(whom));
  const { id, kind } = found;
  const isAccount = kind === 'account';
  const [key] = await people.$queryRaw<{ erased_at: Date | null }[]>`
    SELECT erased_at FROM subject_keys WHERE subject = ${`${kind}:${id}`}`;
  const [persons] = await people.$queryRaw<{ people: number; sessions: number; operator_tokens: number }[]>`
    WITH whose AS (
      SELECT 'operator' AS kind, id FROM operators WHERE id = ${id} AND ${!isAccount}
      UNION ALL SELECT 'organisation_admin', id FROM organisation_admins
      WHERE CASE WHEN ${isAccount} THEN account_id ELSE id END = ${id})
    SELECT (SELECT count(*) FROM whose)::int AS people,
      (SELECT count(*) FROM sessions s JOIN whose w ON w.kind = s.subject_kind AND w.id = s.subject_id)::int AS sessions,
      (SELECT count(*) FROM operator_tokens t JOIN whose w ON w.kind = 'operator' AND w.id = t.operator_id)::int AS operator_tokens`;
  const [ofAccount] = await customers.$queryRaw<{ api_keys: number; webhooks: number }[]>`
    SELECT (SELECT count(*) FROM api_keys WHERE account_id = ${id} AND ${isAccount} AND revoked_at IS NULL)::int AS api_keys,
      (SELECT count(*) FROM budget_webhooks WHERE account_id = ${id} AND ${isAccount})::int AS webhooks`;
  const [packs] = await ledger.$queryRaw<{ evidence_packs: number }[]>`
    SELECT count(*)::int AS evidence_packs FROM evidence_packs
    WHERE account_id = ${id} AND ${isAccount} AND state IN ('queued', 'building', 'ready')`;
  if (persons === undefined || ofAccount === undefined || packs === undefined) throw new Error('A count has no row.');
  const held = (await heldAccounts(people)).reasonFor(found.accountId);
  return ok({ kind, id, erased_at: key?.erased_at ?? null, held, ...persons, ...ofAccount, ...packs });
}

/** Decides an erasure and finishes it. What is erased already is finished, if it has to be, and not decided again. */
export async function erase(
  context: Context,
  change: ChangeContext,
  whom: Whom,
): Promise<ChangeResult<ErasurePreview>> {
  const preview = await previewErasure(context, whom);
  if (!preview.ok) return preview;
  const decided = await context.databases.people.$transaction((tx) => decide(tx, change, whom, preview.value));
  if (!decided.ok) return decided;
  await finishErasure(context, decided.value);
  return previewErasure(context, whom);
}

async function decide(
  tx: Prisma.TransactionClient,
  change: ChangeContext,
  whom: Whom,
  preview: ErasurePreview,
): Promise<ChangeResult<Subject>> {
  await lockOperators(tx);
  const mayNot = await reauthorize(tx, change);
  if (mayNot !== null) return err(mayNot);
  const found = await find(tx, whom);
  if (found === null) return err(unknown(whom));
  const { id, kind } = found;
  const subject = `${kind}:${id}` as const;
  const known = await tx.$queryRaw<object[]>`SELECT 1 FROM erasures WHERE subject = ${subject}`;
  if (known.length > 0) return ok(subject);
  const held = (await heldAccounts(tx)).reasonFor(found.accountId);
  if (held !== null)
    return err(
      invalidTransition(`A legal hold forbids the erasure (${held}). To list the holds: ./gw admin hold list`),
    );
  if (kind === 'operator' && id === change.principal.id)
    return err(invalidTransition('You cannot erase yourself. Another admin must do it.'));
  const { actor, at, requestId } = change;
  await tx.$executeRaw`INSERT INTO erasures (subject, decided_at) VALUES (${subject}, ${at})`;
  if (kind === 'account') {
    await destroyKey(tx, subject, at);
    await erasePeopleOf(tx, id, at);
  } else if (kind === 'operator') await eraseOperator(tx, id, at);
  else await eraseAdmin(tx, id, at);
  const { api_keys, evidence_packs, operator_tokens, people, sessions, webhooks } = preview;
  // It names nobody: the id alone says who it was.
  await appendAudit(tx, at, {
    accountId: null,
    actor,
    action: `${kind}.erased`,
    target: subject,
    requestId,
    after: { people, sessions, operator_tokens, api_keys, evidence_packs, webhooks },
  });
  return ok(subject);
}

/** A subject that never had a key gets none from now on. */
async function destroyKey(tx: Queryable, subject: Subject, at: Date): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO subject_keys (subject, erased_at) VALUES (${subject}, ${at})
    ON CONFLICT (subject) DO UPDATE SET wrapped = NULL, key_id = NULL, erased_at = EXCLUDED.erased_at
    WHERE subject_keys.erased_at IS NULL`;
}

async function endAccess(tx: Queryable, kind: 'operator' | 'organisation_admin', id: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM sessions WHERE subject_kind = ${kind} AND subject_id = ${id}`;
  await tx.$executeRaw`DELETE FROM second_factors WHERE subject_kind = ${kind} AND subject_id = ${id}`;
}

async function eraseOperator(tx: Queryable, id: string, at: Date): Promise<void> {
  await destroyKey(tx, `operator:${id}`, at);
  await tx.$executeRaw`
    UPDATE operators SET name = ${erased}, email = ${erased}, email_digest = NULL, credential_hash = NULL,
      oidc_issuer = NULL, oidc_subject = NULL, disabled_at = coalesce(disabled_at, ${at})
    WHERE id = ${id}`;
  await endAccess(tx, 'operator', id);
  await tx.$executeRaw`DELETE FROM operator_tokens WHERE operator_id = ${id}`;
}

async function eraseAdmin(tx: Queryable, id: string, at: Date): Promise<void> {
  await destroyKey(tx, `organisation_admin:${id}`, at);
  await tx.$executeRaw`
    UPDATE organisation_admins SET name = ${erased}, email = ${erased}, email_digest = NULL, credential_hash = NULL,
      oidc_issuer = NULL, oidc_subject = NULL, disabled_at = coalesce(disabled_at, ${at})
    WHERE id = ${id}`;
  await endAccess(tx, 'organisation_admin', id);
}

async function erasePeopleOf(tx: Queryable, accountId: string, at: Date): Promise<void> {
  const admins = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM organisation_admins WHERE account_id = ${accountId} ORDER BY id`;
  for (const { id } of admins) await eraseAdmin(tx, id, at);
  // It names their domain.
  await tx.$executeRaw`DELETE FROM account_issuers WHERE account_id = ${accountId}`;
}

/** Does the steps that follow the decision, all of them again if an instance has died among them. */
async function finishErasure(context: Context, subject: string): Promise<void> {
  const { databases, now } = context;
  const [, accountId] = /^account:(.*)$/.exec(subject) ?? [];
  if (accountId !== undefined) await eraseSettings(context, accountId);
  await databases.people.$transaction(async (tx) => {
    // One may have been made before the account was closed.
    if (accountId !== undefined) await erasePeopleOf(tx, accountId, now());
    await tx.$executeRaw`UPDATE erasures SET done_at = ${now()} WHERE subject = ${subject} AND done_at IS NULL`;
  });
}

async function eraseSettings(context: Context, id: string): Promise<void> {
  const { catalogue, customers, ledger } = context.databases;
  await customers.$transaction(async (tx) => {
    const nobody = JSON.stringify({ name: erased, email: erased });
    await tx.$executeRaw`
      UPDATE accounts SET name = ${erased}, state = 'closed',
        billing_contact = CASE WHEN billing_contact IS NOT NULL THEN ${nobody}::jsonb END,
        technical_contact = CASE WHEN technical_contact IS NOT NULL THEN ${nobody}::jsonb END
      WHERE id = ${id}`;
    await tx.$executeRaw`
      UPDATE api_keys SET name = ${erased}, project = NULL, hash = NULL, revoked_at = coalesce(revoked_at, now())
      WHERE account_id = ${id}`;
    await tx.$executeRaw`
      UPDATE onboarding SET declaration = NULL, use_screening = NULL, sanctions_screening = NULL, contract_reference = NULL,
        state = CASE WHEN state = 'rejected' THEN state ELSE 'expired' END
      WHERE account_id = ${id}`;
    await tx.$executeRaw`DELETE FROM budgets WHERE account_id = ${id}`;
    await tx.$executeRaw`DELETE FROM budget_webhooks WHERE account_id = ${id}`;
    await tx.$executeRaw`DELETE FROM budget_events WHERE account_id = ${id}`;
  });
  await announceKeyChange(inRole(context, 'customers'), accountMessage(id));
  await catalogue.$executeRaw`DELETE FROM policy_exemptions WHERE account_id = ${id}`;
  // Their bytes go as those of all packs that were given up.
  await ledger.$executeRaw`
    UPDATE evidence_packs SET state = 'cancelled', changed_at = now(), leased_until = NULL, statement = NULL
    WHERE account_id = ${id} AND state IN ('queued', 'building', 'ready')`;
}

export interface ErasureRow {
  readonly subject: string;
  readonly decided_at: Date;
  readonly done_at: Date | null;
}

export const listErasures = (db: Queryable): Promise<ErasureRow[]> => db.$queryRaw<ErasureRow[]>`
  SELECT subject, decided_at, done_at FROM erasures ORDER BY decided_at DESC, subject LIMIT 10000`;

/** Finishes the erasures that were decided and not finished. Rejects with the first that could not be, after all others. */
export async function finishErasures(context: Context): Promise<void> {
  const left = await context.databases.people.$queryRaw<{ subject: string }[]>`
    SELECT subject FROM erasures WHERE done_at IS NULL ORDER BY decided_at LIMIT 100`;
  const errors: unknown[] = [];
  for (const { subject } of left)
    await finishErasure(context, subject).catch((error: unknown) => {
      errors.push(error);
    });
  if (errors.length > 0) throw errors[0];
}
