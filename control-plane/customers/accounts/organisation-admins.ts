/**
 * The people of a customer who have a login.
 *
 * Invariant: they belong to one account, and nothing here looks beyond it. Whoever changes something may still do so in
 * the transaction of the change.
 */
import { fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { type ChangeContext, makeId } from '../../people/access/change.ts';
import type { Credentials } from '../../people/access/credential.ts';
import { emailDigestOf, hidePerson } from '../../people/access/hidden-person.ts';
import { issuerNameOf } from '../../people/access/oidc-issuer.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import {
  alreadyBound,
  type ChangeResult,
  invalidTransition,
  noIssuer,
  notFound,
  subjectTaken,
  tooManyAtOnce,
} from '../../people/access/refusals.ts';
import { removeSecondFactor, secondFactorField, withSecondFactor } from '../../people/access/second-factor.ts';
import { endSessionsOf } from '../../people/access/sessions.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';

type Tx = Prisma.TransactionClient;
type AdminRow = Prisma.OrganisationAdminGetPayload<object>;

export const adminSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('organisation_admin'),
    account_id: z.string(),
    name: z.string(),
    email: z.string(),
    state: z.enum(['enabled', 'disabled']),
    logins: z.array(z.enum(['credential', 'oidc'])).describe('How the person can log in'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OrganisationAdmin' });
export type AdminView = z.infer<typeof adminSchema>;

export const listedAdminSchema = adminSchema.extend(secondFactorField).meta({ id: 'ListedOrganisationAdmin' });

export const adminWithCredentialSchema = adminSchema.extend({ credential: z.string().describe('Shown once') });
export type AdminWithCredential = z.infer<typeof adminWithCredentialSchema>;

export interface OrganisationAdmins {
  /** Null if there is no such account. */
  list(accountId: string): Promise<z.infer<typeof listedAdminSchema>[] | null>;
  create(
    change: ChangeContext,
    accountId: string,
    person: { name: string; email: string },
  ): Promise<ChangeResult<AdminWithCredential>>;
  /** Disabling ends all sessions of the person. */
  setEnabled(change: ChangeContext, accountId: string, id: string, enabled: boolean): Promise<ChangeResult<AdminView>>;
  /** Binds an identity of the account's issuer before its first login. */
  bindIdentity(change: ChangeContext, accountId: string, id: string, subject: string): Promise<ChangeResult<AdminView>>;
  /** Frees the person of the identity that is bound, and ends the sessions. */
  unbindIdentity(change: ChangeContext, accountId: string, id: string): Promise<ChangeResult<AdminView>>;
  /** Replaces the credential, removes the second factor, and ends all sessions of the person. */
  resetCredential(change: ChangeContext, accountId: string, id: string): Promise<ChangeResult<AdminWithCredential>>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the changes of a person, each short, over one way to hold its row.
export function openOrganisationAdmins({ db }: Pick<Context, 'db'>, credentials: Credentials): OrganisationAdmins {
  const changed = (
    change: ChangeContext,
    accountId: string,
    id: string,
    work: (tx: Tx, before: AdminRow) => Promise<ChangeResult<AdminRow>>,
  ): Promise<ChangeResult<AdminRow>> =>
    db.$transaction(async (tx) => {
      const refused = await reauthorize(tx, change);
      if (refused !== null) return err(refused);
      await tx.$executeRaw`SELECT 1 FROM organisation_admins WHERE id = ${id} FOR UPDATE`;
      const before = await tx.organisationAdmin.findFirst({ where: { id, accountId } });
      return before === null ? err(notFound('organisation_admin')) : work(tx, before);
    });

  return {
    list: async (id) => {
      const account = await db.account.findUnique({
        where: { id },
        select: { admins: { orderBy: { createdAt: 'asc' } } },
      });
      if (account === null) return null;
      const ids = account.admins.map((row) => row.id);
      const secured = await withSecondFactor(db, 'organisation_admin', ids);
      return account.admins.map((row) => ({ ...viewOf(row), second_factor: secured.has(row.id) }));
    },

    create: async (change, accountId, person) => {
      const issued = await credentials.issue();
      if (issued === null) return tooManyAtOnce();
      const { credential, credentialHash } = issued;
      return db.$transaction(async (tx): Promise<ChangeResult<AdminWithCredential>> => {
        const refused = await reauthorize(tx, change);
        if (refused !== null) return err(refused);
        // One after the other, so that two at once do not take the same e-mail.
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('organisation_admins'))`;
        const account = await tx.account.findUnique({ where: { id: accountId } });
        if (account === null) return err(notFound('account'));
        if (account.state === 'closed') return err(invalidTransition('The account is closed.'));
        const emailDigest = await emailDigestOf(tx, person.email);
        if ((await tx.organisationAdmin.count({ where: { emailDigest } })) > 0)
          return err(fieldError('email', 'email: a person with this e-mail already exists.'));
        const id = makeId('oadm');
        const hidden = await hidePerson(tx, `organisation_admin:${id}`, person);
        const data = { ...hidden, id, accountId, emailDigest, credentialHash, createdAt: change.at };
        const row = await tx.organisationAdmin.create({ data });
        await audit(tx, change, row, 'organisation_admin.created', null, hidden);
        return ok({ ...viewOf(row), credential });
      });
    },

    setEnabled: async (change, accountId, id, enabled) => {
      const outcome = await changed(change, accountId, id, async (tx, before) => {
        const { state } = viewOf(before);
        if ((state === 'enabled') === enabled) return err(invalidTransition(`This person is ${state} already.`));
        const data = { disabledAt: enabled ? null : change.at };
        const row = await tx.organisationAdmin.update({ where: { id }, data });
        const ended = enabled ? 0 : await endSessionsOf(tx, { kind: 'organisation_admin', id });
        const action = enabled ? 'organisation_admin.enabled' : 'organisation_admin.disabled';
        await audit(tx, change, row, action, { state }, { state: viewOf(row).state, sessions_ended: ended });
        return ok(row);
      });
      return outcome.ok ? ok(viewOf(outcome.value)) : outcome;
    },

    bindIdentity: async (change, accountId, id, subject) => {
      const outcome = await changed(change, accountId, id, async (tx, before) => {
        // Held, so that whoever changes the issuer at this moment unbinds this one too.
        await tx.$executeRaw`SELECT 1 FROM account_issuers WHERE account_id = ${accountId} FOR SHARE`;
        const issuer = await tx.accountIssuer.findUnique({ where: { accountId } });
        if (issuer === null) return err(noIssuer());
        if (before.oidcSubject !== null) return err(alreadyBound());
        const data = { oidcIssuer: issuerNameOf(issuer.issuer), oidcSubject: subject };
        if ((await tx.organisationAdmin.count({ where: { accountId, ...data } })) > 0) return err(subjectTaken());
        const row = await tx.organisationAdmin.update({ where: { id }, data });
        const after = { issuer: data.oidcIssuer, subject };
        await audit(tx, change, row, 'organisation_admin.identity_bound', null, after);
        return ok(row);
      });
      return outcome.ok ? ok(viewOf(outcome.value)) : outcome;
    },

    unbindIdentity: async (change, accountId, id) => {
      const outcome = await changed(change, accountId, id, async (tx, { oidcIssuer, oidcSubject }) => {
        if (oidcSubject === null) return err(invalidTransition('No identity is bound to this person.'));
        const data = { oidcIssuer: null, oidcSubject: null };
        const row = await tx.organisationAdmin.update({ where: { id }, data });
        const ended = await endSessionsOf(tx, { kind: 'organisation_admin', id });
        const before = { issuer: oidcIssuer, subject: oidcSubject };
        await audit(tx, change, row, 'organisation_admin.identity_unbound', before, { sessions_ended: ended });
        return ok(row);
      });
      return outcome.ok ? ok(viewOf(outcome.value)) : outcome;
    },

    resetCredential: async (change, accountId, id) => {
      const issued = await credentials.issue();
      if (issued === null) return tooManyAtOnce();
      const { credential, credentialHash } = issued;
      const outcome = await changed(change, accountId, id, async (tx) => {
        const row = await tx.organisationAdmin.update({ where: { id }, data: { credentialHash } });
        const person = { kind: 'organisation_admin', id } as const;
        const after = {
          sessions_ended: await endSessionsOf(tx, person),
          second_factor_removed: await removeSecondFactor(tx, person),
        };
        await audit(tx, change, row, 'organisation_admin.credential_reset', null, after);
        return ok(row);
      });
      return outcome.ok ? ok({ ...viewOf(outcome.value), credential }) : outcome;
    },
  };
}

const audit = (
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  row: AdminRow,
  action: string,
  before: unknown,
  after: unknown,
) => {
  const target = `organisation_admin:${row.id}`;
  return appendAudit(tx, at, { accountId: row.accountId, actor, action, target, requestId, before, after });
};

const viewOf = (row: AdminRow): AdminView => ({
  id: row.id,
  object: 'organisation_admin',
  account_id: row.accountId,
  name: row.name,
  email: row.email,
  state: row.disabledAt === null ? 'enabled' : 'disabled',
  logins: [
    ...(row.credentialHash === null ? [] : ['credential' as const]),
    ...(row.oidcSubject === null ? [] : ['oidc' as const]),
  ],
  created_at: row.createdAt.toISOString(),
});
