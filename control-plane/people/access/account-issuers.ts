/**
 * The identity provider of an account: its own, for the admins of its organisation.
 *
 * Invariant: it lets nobody in before its domain is verified, and a verified domain belongs to one account. It lets in admins of its own
 * account alone. Whoever changes whose word counts there unbinds everybody who was bound by it, and ends their sessions.
 */
import { randomBytes } from 'node:crypto';
import { fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import type { Opened, Vault } from '../../shared/vault.ts';
import { appendAudit } from '../audit/append.ts';
import type { ChangeContext } from './change.ts';
import { findRecord, type LookUpTxt } from './domain-record.ts';
import type { OidcSettings } from './oidc.ts';
import { issuerProblem } from './oidc-issuer.ts';
import { type PersonClaim, personClaims } from './oidc-person.ts';
import { reauthorize } from './reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from './refusals.ts';
import { endSessionsOf } from './sessions.ts';

type Tx = Prisma.TransactionClient;
export type AccountIssuer = Prisma.AccountIssuerGetPayload<object>;

export const issuerInput = z.strictObject({
  issuer: z
    .string()
    .max(500)
    .refine((text) => issuerProblem(text) === null, { error: ({ input }) => String(issuerProblem(String(input))) })
    .describe('As the provider calls itself in its /.well-known/openid-configuration'),
  client_id: z.string().trim().min(1).max(300),
  client_secret: z.string().trim().min(1).max(1000),
  claim: z
    .enum(personClaims)
    .default('email')
    .describe('Which claim names the person; oid and sub are bound by an operator before'),
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .max(253)
    .regex(
      /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
      'must be a domain, such as example.com',
    )
    .describe('Of the e-mail addresses that belong to it'),
});
export type IssuerInput = z.infer<typeof issuerInput>;

export interface AccountIssuers {
  /** Replaces the issuer as a whole. */
  set(change: ChangeContext, accountId: string, input: IssuerInput): Promise<ChangeResult<AccountIssuer>>;
  remove(change: ChangeContext, accountId: string): Promise<ChangeResult<AccountIssuer>>;
  /** `reason`: an operator's word in place of the record in DNS; null: DNS is asked. */
  verify(change: ChangeContext, accountId: string, reason: string | null): Promise<ChangeResult<AccountIssuer>>;
  /** The verified issuer whose people have addresses of this domain. */
  ofDomain(domain: string): Promise<AccountIssuer | null>;
  /** Whether anybody can log in with one. */
  any(): Promise<boolean>;
  /** Null: there is none, or none that is verified. */
  ofAccount(accountId: string): Promise<AccountIssuer | null>;
  /** Holds an issuer that somebody logs in with until `tx` ends; false: it was changed or removed meanwhile. */
  hold(tx: Tx, issuer: AccountIssuer): Promise<boolean>;
  /** Null: its secret was sealed with another key, or for something else. */
  settingsOf(issuer: AccountIssuer): OidcSettings | null;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the changes of an issuer, each short, over one way to hold its account.
export function openAccountIssuers(
  { db, guard }: Pick<Context, 'db' | 'guard'>,
  vault: Vault | null,
  lookUpTxt: LookUpTxt,
): AccountIssuers {
  return {
    set: async (change, accountId, { client_secret: secret, ...input }) => {
      if (vault === null) return err(noVault());
      // Outside of the transaction, which would hold the account while DNS is slow.
      const reason = await guard.refusal(input.issuer);
      if (reason !== null)
        return err(fieldError('issuer', `issuer: leads to an address that is not allowed (${reason}).`));
      return changed(db, change, accountId, async (tx, before) => {
        const keepsDomain = before !== null && before.domain === input.domain;
        const row = {
          issuer: input.issuer,
          clientId: input.client_id,
          claim: input.claim,
          domain: input.domain,
          domainToken: keepsDomain ? before.domainToken : randomBytes(20).toString('hex'),
          verifiedAt: keepsDomain ? before.verifiedAt : null,
          verifiedBy: keepsDomain ? before.verifiedBy : null,
          sealed: new Uint8Array(vault.seal(secret, bindingOf({ accountId, issuer: input.issuer }))),
          setAt: change.at,
        };
        const after = await tx.accountIssuer.upsert({
          where: { accountId },
          create: { accountId, ...row },
          update: row,
        });
        const ended = before !== null && isOtherWord(before, after) ? await unbindAll(tx, accountId) : {};
        await audit(tx, change, 'account_issuer.set', before, after, ended);
        return ok(after);
      });
    },

    remove: (change, accountId) =>
      changed(db, change, accountId, async (tx, before) => {
        if (before === null) return err(notFound('account_issuer'));
        await tx.accountIssuer.delete({ where: { accountId } });
        await audit(tx, change, 'account_issuer.removed', before, null, await unbindAll(tx, accountId));
        return ok(before);
      }),

    verify: async (change, accountId, reason) => {
      const asked = await db.accountIssuer.findUnique({ where: { accountId } });
      if (asked === null) return err(notFound('account_issuer'));
      const missing = reason === null ? await findRecord(lookUpTxt, asked) : null;
      if (missing !== null) return err(invalidTransition(missing));
      return changed(db, change, accountId, async (tx, before) => {
        // One after the other, so that two accounts do not take one domain.
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('account_issuers'))`;
        if (before?.domainToken !== asked.domainToken)
          return err(invalidTransition('The domain was changed meanwhile.'));
        const { domain } = before;
        const others = { domain, verifiedAt: { not: null }, accountId: { not: accountId } };
        if ((await tx.accountIssuer.count({ where: others })) > 0)
          return err(
            invalidTransition('This domain is verified for the issuer of another account. Remove it there first.'),
          );
        const verifiedBy = reason === null ? 'dns' : 'operator';
        const after = await tx.accountIssuer.update({
          where: { accountId },
          data: { verifiedAt: change.at, verifiedBy },
        });
        await audit(tx, change, 'account_issuer.verified', before, after, reason === null ? {} : { reason });
        return ok(after);
      });
    },

    ofDomain: (domain) => db.accountIssuer.findFirst({ where: { domain, verifiedAt: { not: null } } }),
    any: async () =>
      (await db.accountIssuer.findFirst({ where: { verifiedAt: { not: null } }, select: { accountId: true } })) !==
      null,
    ofAccount: (accountId) => db.accountIssuer.findFirst({ where: { accountId, verifiedAt: { not: null } } }),
    hold: async (tx, { accountId, setAt }) =>
      (await tx.$executeRaw`
        SELECT 1 FROM account_issuers WHERE account_id = ${accountId} AND set_at = ${setAt} FOR SHARE`) === 1,
    settingsOf: (issuer) => {
      const secret = secretOf(vault, issuer);
      if (secret === null) return null;
      const { claim, clientId, domain } = issuer;
      return {
        issuer: issuer.issuer,
        clientId,
        clientSecret: secret.value,
        claim: claim as PersonClaim,
        domain,
      };
    },
  };
}

const noVault = () =>
  invalidTransition(
    'Issuers cannot be set here: GW_CREDENTIALS_KEY of the control plane, which encrypts their secrets, is not set.',
  );

const changed = <T>(
  db: Context['db'],
  change: ChangeContext,
  accountId: string,
  work: (tx: Tx, before: AccountIssuer | null) => Promise<ChangeResult<T>>,
): Promise<ChangeResult<T>> =>
  db.$transaction(async (tx): Promise<ChangeResult<T>> => {
    const refused = await reauthorize(tx, change);
    if (refused !== null) return err(refused);
    // Changes of one issuer come one by one; a login holds the row of the issuer too.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('account_issuer'), hashtext(${accountId}))`;
    if ((await tx.account.count({ where: { id: accountId } })) === 0) return err(notFound('account'));
    await tx.$executeRaw`SELECT 1 FROM account_issuers WHERE account_id = ${accountId} FOR UPDATE`;
    return work(tx, await tx.accountIssuer.findUnique({ where: { accountId } }));
  });

/** Whether other people may be meant by the same subject. A new secret alone changes nothing. */
const isOtherWord = (before: AccountIssuer, after: AccountIssuer): boolean =>
  (['issuer', 'clientId', 'claim', 'domain'] as const).some((field) => before[field] !== after[field]);

async function unbindAll(tx: Tx, accountId: string): Promise<{ unbound: number; sessions_ended: number }> {
  const where = { accountId, oidcSubject: { not: null } };
  const bound = await tx.organisationAdmin.findMany({ where, select: { id: true } });
  await tx.organisationAdmin.updateMany({ where, data: { oidcIssuer: null, oidcSubject: null } });
  let ended = 0;
  for (const { id } of bound) ended += await endSessionsOf(tx, { kind: 'organisation_admin', id });
  return { unbound: bound.length, sessions_ended: ended };
}

/** No credential of a provider has a name with a blank, so neither can stand for the other. */
const bindingOf = ({ accountId, issuer }: Pick<AccountIssuer, 'accountId' | 'issuer'>) => ({
  name: `account issuer ${accountId}`,
  origin: new URL(issuer).origin,
});

/** Null: it was sealed with a key that this control plane does not have, or for something else. */
export const secretOf = (vault: Vault | null, issuer: AccountIssuer): Opened | null =>
  vault?.open(issuer.sealed, bindingOf(issuer)) ?? null;

/** Seals with the current key what the one before has sealed, so that that one can be taken away. */
export async function sealIssuersAgain(db: Context['db'], vault: Vault | null): Promise<void> {
  if (vault === null) return;
  for (const issuer of await db.accountIssuer.findMany()) {
    const opened = secretOf(vault, issuer);
    if (opened === null || opened.isCurrent) continue;
    const { accountId, sealed } = issuer;
    // Unless somebody has set another one meanwhile.
    await db.accountIssuer.updateMany({
      where: { accountId, sealed },
      data: { sealed: new Uint8Array(vault.seal(opened.value, bindingOf(issuer))) },
    });
  }
}

function audit(
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  action: `account_issuer.${'set' | 'removed' | 'verified'}`,
  before: AccountIssuer | null,
  after: AccountIssuer | null,
  more: object,
): Promise<unknown> {
  const accountId = (after ?? before)?.accountId ?? null;
  return appendAudit(tx, at, {
    accountId,
    actor,
    action,
    requestId,
    target: `account_issuer:${accountId}`,
    before: before && factsOf(before),
    after: { ...(after && factsOf(after)), ...more },
  });
}

const factsOf = ({ claim, clientId, domain, issuer, verifiedBy }: AccountIssuer) => ({
  issuer,
  client_id: clientId,
  claim,
  domain,
  verified_by: verifiedBy,
});
