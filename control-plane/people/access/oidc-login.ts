/**
 * Lets in whom an identity provider has named.
 *
 * Invariant: the issuer of the operators' port lets in operators alone, and that of an account the admins of this account alone; only
 * people whom somebody here has made. The first login binds the provider's subject to the person of that name; from then on the
 * subject alone decides, whatever the name becomes.
 */
import { ok, type Result } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { Principal } from '../../shared/principal.ts';
import { emailDigestOf } from './hidden-person.ts';
import { auditPerson } from './login.ts';
import type { OidcIdentity } from './oidc.ts';
import { type OidcFailure, oidcFailed } from './oidc-failure.ts';
import { sessionIdOf, startSession } from './sessions.ts';

type Tx = Prisma.TransactionClient;

/** The token of a new session. `accountId`: whose issuer it was; null: that of the operators. */
export async function logInAs(
  tx: Tx,
  identity: OidcIdentity,
  accountId: string | null,
  { address, at, requestId }: { readonly address: string; readonly at: Date; readonly requestId: string },
): Promise<Result<string, OidcFailure>> {
  const found = await findOrBind(tx, accountId === null ? operators(tx) : adminsOf(tx, accountId), identity);
  if (!found.ok) return found;
  const { isNew, principal } = found.value;
  const fact = { at, requestId };
  const after = { issuer: identity.issuer, subject: identity.subject };
  if (isNew) await auditPerson(tx, principal, { ...fact, action: `${principal.kind}.identity_bound`, after });
  const token = await startSession(tx, principal, at);
  const person = { ...principal, proof: { kind: 'session', id: sessionIdOf(token) } as const };
  await auditPerson(tx, person, { ...fact, action: 'session.started', after: { by: 'oidc', address } });
  return ok(token);
}

interface FoundPerson {
  readonly principal: Principal;
  readonly disabled: boolean;
  readonly isBound: boolean;
}

type Bound = Pick<OidcIdentity, 'issuer' | 'subject'>;

/** An issuer may name somebody among these. */
interface People {
  /** Held until the session is there: whoever disables or unbinds the person at this moment finds it, or it is not made. */
  bound(identity: Bound): Promise<FoundPerson | null>;
  named(emailDigest: Uint8Array<ArrayBuffer>): Promise<FoundPerson | null>;
  /** False: somebody else was faster. */
  bind(id: string, identity: Bound): Promise<boolean>;
}

async function findOrBind(
  tx: Tx,
  people: People,
  identity: OidcIdentity,
): Promise<Result<{ principal: Principal; isNew: boolean }, OidcFailure>> {
  const bound = await people.bound(identity);
  if (bound !== null) return bound.disabled ? disabled : ok({ principal: bound.principal, isNew: false });
  const whose = `the subject ${identity.subject}`;
  const { name } = identity;
  if (!name.ok) return oidcFailed(name.error.reason, `${name.error.detail}; it came with ${whose}`);
  const named = await people.named(await emailDigestOf(tx, name.value));
  if (named === null) return oidcFailed('unknown_person', `nobody has the name that came with ${whose}`);
  if (named.disabled) return disabled;
  if (named.isBound || !(await people.bind(named.principal.id, identity)))
    return oidcFailed('bound_otherwise', `${named.principal.id} is bound to another identity than ${whose}`);
  return ok({ principal: named.principal, isNew: true });
}

const disabled = oidcFailed('disabled', 'the person is disabled');

const free = { disabledAt: null, oidcSubject: null };

function operators(tx: Tx): People {
  const found = (row: Prisma.OperatorGetPayload<object> | null): FoundPerson | null =>
    row && {
      principal: { kind: 'operator', id: row.id, name: row.name, role: row.role, proof: null },
      disabled: row.disabledAt !== null,
      isBound: row.oidcSubject !== null,
    };
  return {
    bound: async ({ issuer, subject }) => {
      await tx.$executeRaw`
        SELECT 1 FROM operators WHERE oidc_issuer = ${issuer} AND oidc_subject = ${subject} FOR UPDATE`;
      const where = { oidcIssuer: issuer, oidcSubject: subject };
      return found(await tx.operator.findFirst({ where }));
    },
    named: async (emailDigest) => found(await tx.operator.findUnique({ where: { emailDigest } })),
    bind: async (id, { issuer, subject }) => {
      const data = { oidcIssuer: issuer, oidcSubject: subject };
      return (await tx.operator.updateMany({ where: { id, ...free }, data })).count === 1;
    },
  };
}

function adminsOf(tx: Tx, accountId: string): People {
  const found = (row: Prisma.OrganisationAdminGetPayload<object> | null): FoundPerson | null =>
    row && {
      principal: { kind: 'organisation_admin', id: row.id, name: row.name, accountId, proof: null },
      disabled: row.disabledAt !== null,
      isBound: row.oidcSubject !== null,
    };
  return {
    bound: async ({ issuer, subject }) => {
      await tx.$executeRaw`
        SELECT 1 FROM organisation_admins
        WHERE account_id = ${accountId} AND oidc_issuer = ${issuer} AND oidc_subject = ${subject} FOR UPDATE`;
      const where = { accountId, oidcIssuer: issuer, oidcSubject: subject };
      return found(await tx.organisationAdmin.findFirst({ where }));
    },
    named: async (emailDigest) => found(await tx.organisationAdmin.findFirst({ where: { accountId, emailDigest } })),
    bind: async (id, { issuer, subject }) => {
      const data = { oidcIssuer: issuer, oidcSubject: subject };
      return (await tx.organisationAdmin.updateMany({ where: { id, accountId, ...free }, data })).count === 1;
    },
  };
}
