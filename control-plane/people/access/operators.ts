/**
 * The people of the platform team.
 *
 * Invariant: there is always an enabled admin. Each change and its audit entry are one transaction, in which whoever
 * asks for it is still an enabled admin, and whoever is disabled, or has lost the credential, loses sessions and tokens
 * in the same one: what a thief made goes too.
 */
import { fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { type OperatorRole, operatorRoles } from '../../shared/principal.ts';
import { appendAudit } from '../audit/append.ts';
import { type ChangeContext, makeId } from './change.ts';
import type { Credentials } from './credential.ts';
import { emailDigestOf, hidePerson } from './hidden-person.ts';
import { endTokensOf } from './operator-tokens.ts';
import { reauthorize } from './reauthorize.ts';
import {
  alreadyBound,
  type ChangeResult,
  invalidTransition,
  notFound,
  subjectTaken,
  tooManyAtOnce,
} from './refusals.ts';
import { removeSecondFactor, secondFactorField, secondFactorSetAt, withSecondFactor } from './second-factor.ts';
import { endSessionsOf } from './sessions.ts';

type Tx = Prisma.TransactionClient;
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}
type OperatorRow = Prisma.OperatorGetPayload<object>;

export const operatorSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('operator'),
    name: z.string(),
    email: z.string(),
    role: z.enum(operatorRoles),
    state: z.enum(['enabled', 'disabled']),
    logins: z.array(z.enum(['credential', 'oidc'])).describe('How the person can log in'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Operator' });
export type OperatorView = z.infer<typeof operatorSchema>;

export const listedOperatorSchema = operatorSchema.extend(secondFactorField).meta({ id: 'ListedOperator' });

export const operatorWithCredentialSchema = operatorSchema.extend({ credential: z.string().describe('Shown once') });
export type OperatorWithCredential = z.infer<typeof operatorWithCredentialSchema>;

/**
 * The changes refuse with `invalid_operator` for an unknown id, and with `invalid_transition` if the state forbids
 * them.
 */
export interface Operators {
  list(): Promise<z.infer<typeof listedOperatorSchema>[]>;
  create(
    change: ChangeContext,
    person: { name: string; email: string; role: OperatorRole },
  ): Promise<ChangeResult<OperatorWithCredential>>;
  update(
    change: ChangeContext,
    id: string,
    wanted: { name?: string; role?: OperatorRole },
  ): Promise<ChangeResult<OperatorView>>;
  setEnabled(change: ChangeContext, id: string, enabled: boolean): Promise<ChangeResult<OperatorView>>;
  /** Frees an operator of the identity that is bound: the next login with a verified e-mail binds another one. */
  unbindIdentity(change: ChangeContext, id: string): Promise<ChangeResult<OperatorView>>;
  /** Binds an identity of the operators' issuer before its first login. */
  bindIdentity(change: ChangeContext, id: string, identity: Identity): Promise<ChangeResult<OperatorView>>;
  /** Replaces a credential that was lost. Sessions, tokens and the second factor end with the old one. */
  resetCredential(change: ChangeContext, id: string): Promise<ChangeResult<OperatorWithCredential>>;
}

/** Lets changes of operators come one by one until `tx` ends, so that two admins cannot disable each other at once. */
export async function lockOperators(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('operators'))`;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the changes of a person, each short, over one way to make them in turn.
export function openOperators({ db }: Pick<Context, 'db'>, credentials: Credentials): Operators {
  const inTurn = (
    change: ChangeContext,
    work: (tx: Tx) => Promise<ChangeResult<OperatorRow>>,
  ): Promise<ChangeResult<OperatorRow>> =>
    db.$transaction(async (tx) => {
      await lockOperators(tx);
      const refused = await reauthorize(tx, change);
      return refused === null ? work(tx) : err(refused);
    });
  const changed = (
    change: ChangeContext,
    id: string,
    work: (tx: Tx, before: OperatorRow) => Promise<ChangeResult<OperatorRow>>,
  ): Promise<ChangeResult<OperatorRow>> =>
    inTurn(change, async (tx) => {
      const before = await tx.operator.findUnique({ where: { id } });
      return before === null ? err(notFound('operator')) : work(tx, before);
    });

  return {
    list: async () => {
      const rows = await db.operator.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
      const ids = rows.map(({ id }) => id);
      const secured = await withSecondFactor(db, 'operator', ids);
      return rows.map((row) => ({ ...viewOf(row), second_factor: secured.has(row.id) }));
    },

    create: async (change, person) => {
      const issued = await credentials.issue();
      if (issued === null) return tooManyAtOnce();
      const { credential, credentialHash } = issued;
      const outcome = await inTurn(change, async (tx) => {
        const emailDigest = await emailDigestOf(tx, person.email);
        if ((await tx.operator.count({ where: { emailDigest } })) > 0)
          return err(fieldError('email', 'email: an operator with this e-mail already exists.'));
        const id = makeId('op');
        const hidden = await hidePerson(tx, `operator:${id}`, person);
        const data = { ...hidden, id, emailDigest, credentialHash, createdAt: change.at };
        const row = await tx.operator.create({ data });
        await audit(tx, change, 'operator.created', row.id, null, hidden);
        return ok(row);
      });
      return mapped(outcome, (row) => ({ ...viewOf(row), credential }));
    },

    update: async (change, id, asked) =>
      mapped(
        await changed(change, id, async (tx, before) => {
          const wanted = await hidePerson(tx, `operator:${id}`, asked);
          if (wanted.role !== undefined && wanted.role !== 'admin' && (await isLastAdmin(tx, before)))
            return err(lastAdmin());
          if ((wanted.name ?? before.name) === before.name && (wanted.role ?? before.role) === before.role)
            return ok(before);
          const row = await tx.operator.update({ where: { id }, data: wanted });
          const of = ({ name, role }: OperatorRow) => ({ name, role });
          await audit(tx, change, 'operator.changed', id, of(before), of(row));
          return ok(row);
        }),
        viewOf,
      ),

    setEnabled: async (change, id, enabled) =>
      mapped(
        await changed(change, id, async (tx, before) => {
          const state = viewOf(before).state;
          if ((state === 'enabled') === enabled) return err(invalidTransition(`This operator is ${state} already.`));
          if (!enabled && (await isLastAdmin(tx, before))) return err(lastAdmin());
          const row = await tx.operator.update({ where: { id }, data: { disabledAt: enabled ? null : change.at } });
          const ended = enabled ? {} : await endAccess(tx, id);
          const action = enabled ? 'operator.enabled' : 'operator.disabled';
          await audit(tx, change, action, id, { state }, { state: viewOf(row).state, ...ended });
          return ok(row);
        }),
        viewOf,
      ),

    unbindIdentity: async (change, id) =>
      mapped(
        await changed(change, id, async (tx, { oidcIssuer, oidcSubject }) => {
          if (oidcSubject === null) return err(invalidTransition('No identity is bound to this operator.'));
          const row = await tx.operator.update({ where: { id }, data: { oidcIssuer: null, oidcSubject: null } });
          const ended = await endSessionsOf(tx, { kind: 'operator', id });
          const before = { issuer: oidcIssuer, subject: oidcSubject };
          await audit(tx, change, 'operator.identity_unbound', id, before, { sessions_ended: ended });
          return ok(row);
        }),
        viewOf,
      ),

    bindIdentity: async (change, id, { issuer, subject }) =>
      mapped(
        await changed(change, id, async (tx, before) => {
          const data = { oidcIssuer: issuer, oidcSubject: subject };
          if (before.oidcSubject !== null) return err(alreadyBound());
          if ((await tx.operator.count({ where: data })) > 0) return err(subjectTaken());
          const row = await tx.operator.update({ where: { id }, data });
          await audit(tx, change, 'operator.identity_bound', id, null, { issuer, subject });
          return ok(row);
        }),
        viewOf,
      ),

    resetCredential: async (change, id) => {
      const issued = await credentials.issue();
      if (issued === null) return tooManyAtOnce();
      const { credential, credentialHash } = issued;
      const outcome = await changed(change, id, async (tx) => {
        if (change.principal.id === id && (await secondFactorSetAt(tx, { kind: 'operator', id })) !== null)
          return err(ownFactor());
        const row = await tx.operator.update({ where: { id }, data: { credentialHash } });
        const factor = await removeSecondFactor(tx, { kind: 'operator', id });
        const after = { ...(await endAccess(tx, id)), second_factor_removed: factor };
        await audit(tx, change, 'operator.credential_reset', id, null, after);
        return ok(row);
      });
      return mapped(outcome, (row) => ({ ...viewOf(row), credential }));
    },
  };
}

async function endAccess(tx: Tx, id: string): Promise<{ sessions_ended: number; tokens_ended: number }> {
  return {
    sessions_ended: await endSessionsOf(tx, { kind: 'operator', id }),
    tokens_ended: await endTokensOf(tx, id),
  };
}

const mapped = <T, U>(outcome: ChangeResult<T>, map: (done: T) => U): ChangeResult<U> =>
  outcome.ok ? ok(map(outcome.value)) : outcome;

/** Whoever has a session or a token alone must not get past credential and code. */
const ownFactor = () =>
  invalidTransition(
    'This is your own login, and it has a second factor. Change the credential and remove the factor with a code, or ask another admin.',
  );

const lastAdmin = () => invalidTransition('This is the last enabled admin. Make another one first.');

async function isLastAdmin(tx: Tx, { id, role, disabledAt }: OperatorRow): Promise<boolean> {
  if (role !== 'admin' || disabledAt !== null) return false;
  return (await tx.operator.count({ where: { role: 'admin', disabledAt: null, id: { not: id } } })) === 0;
}

const audit = (
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  action: string,
  id: string,
  before: unknown,
  after: unknown,
) => appendAudit(tx, at, { accountId: null, actor, action, target: `operator:${id}`, requestId, before, after });

function viewOf(row: OperatorRow): OperatorView {
  return {
    id: row.id,
    object: 'operator',
    name: row.name,
    email: row.email,
    role: row.role,
    state: row.disabledAt === null ? 'enabled' : 'disabled',
    logins: [
      ...(row.credentialHash === null ? [] : ['credential' as const]),
      ...(row.oidcSubject === null ? [] : ['oidc' as const]),
    ],
    created_at: row.createdAt.toISOString(),
  };
}
