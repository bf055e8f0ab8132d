/**
 * Logs people in by e-mail and credential.
 *
 * Invariant: an unknown person, a disabled one and a wrong credential get the same answer after the same work. The
 * session is made only if the person is still enabled with the very credential that was verified.
 */
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import { actorOf, type Principal } from './principal.ts';
import { type ChangeResult, loginFailed, type Refusal, tooManyLogins } from './refusals.ts';
import type { AccessServices } from './services.ts';
import { endSession, endSessionsOf, sessionIdOf, startSession } from './sessions.ts';

type Tx = Prisma.TransactionClient;

/** How long a login has to wait that found too many others waiting. */
const busyMs = 1000;

/** One attempt to log in. `address` is the IP address of the client. */
export interface LoginRequest {
  readonly kind: Principal['kind'];
  readonly email: string;
  readonly credential: string;
  readonly address: string;
  readonly requestId: string;
}

/** The session whose cookie came with the login, which ends it. */
export interface Replaced {
  readonly token: string;
  readonly principal: Principal;
}

/** A new session: its token for the cookie, and whose it is. */
export interface LoggedIn {
  readonly token: string;
  readonly principal: Principal;
}

interface Found {
  readonly principal: Principal;
  /** Null: cannot log in by credential. */
  readonly credentialHash: string | null;
  readonly disabled: boolean;
}

type Verified = { readonly found: Found; readonly stored: string; readonly outdated: boolean };

/** Starts a session, and ends the one that it replaces. Refuses with `invalid_login` or `too_many_logins`. */
export async function logIn(
  context: Context,
  access: AccessServices,
  login: LoginRequest,
  replaced: Replaced | null = null,
): Promise<ChangeResult<LoggedIn>> {
  const verified = await verify(context, access, login);
  if (!verified.ok) return verified;
  const { found, stored, outdated } = verified.value;
  const credentialHash = outdated ? await access.credentials.hash(login.credential) : stored;
  const now = context.now();
  const token = await context.db.$transaction(async (tx) => {
    if (!(await replaceCredential(tx, found.principal, stored, credentialHash))) return null;
    if (replaced !== null) await endSession(tx, replaced.token);
    const started = await startSession(tx, found.principal, now);
    const proof = { kind: 'session', id: sessionIdOf(started) } as const;
    const fact = { at: now, requestId: login.requestId };
    const ended = { ...fact, action: 'session.ended', after: { by: 'another login' } };
    const entries = [
      ...(replaced === null ? [] : [{ whose: replaced.principal, fact: ended }]),
      { whose: { ...found.principal, proof }, fact: { ...fact, action: 'session.started' } },
    ];
    // Chains are held in one order by all: those of accounts, then that of the operators.
    for (const { whose, fact } of entries.sort((a, b) => inOrder(chainOf(a.whose), chainOf(b.whose))))
      await auditPerson(tx, whose, fact);
    return started;
  });
  return token === null ? err(loginFailed()) : ok({ token, principal: found.principal });
}

/** Replaces a credential and ends every session of the person, since others may have known the old one. */
export async function changeCredential(
  context: Context,
  access: AccessServices,
  login: LoginRequest,
  next: string,
): Promise<ChangeResult<null>> {
  const verified = await verify(context, access, login);
  if (!verified.ok) return verified;
  const { found, stored } = verified.value;
  const credentialHash = await access.credentials.hash(next);
  const changed = await context.db.$transaction(async (tx) => {
    if (!(await replaceCredential(tx, found.principal, stored, credentialHash))) return false;
    const ended = await endSessionsOf(tx, found.principal);
    const after = { sessions_ended: ended };
    const fact = {
      action: `${found.principal.kind}.credential_changed`,
      at: context.now(),
      requestId: login.requestId,
    };
    await auditPerson(tx, found.principal, { ...fact, after });
    return true;
  });
  return changed ? ok(null) : err(loginFailed());
}

/** Writes what a person did with their login into the chain of their account, or into the operators' chain. */
export function auditPerson(
  tx: Tx,
  principal: Principal,
  { at, ...fact }: { action: string; at: Date; requestId: string; after?: unknown },
): Promise<unknown> {
  const { kind, id } = principal;
  const accountId = principal.kind === 'operator' ? null : principal.accountId;
  return appendAudit(tx, at, { ...fact, accountId, actor: actorOf(principal), target: `${kind}:${id}` });
}

async function verify(
  { db }: Context,
  { attempts, credentials, failedLogins }: AccessServices,
  { kind, email, credential, address }: LoginRequest,
): Promise<ChangeResult<Verified>> {
  const attempt = { subject: `${kind} ${email}`, address };
  const { known, waitMs } = await attempts.admit(attempt);
  if (waitMs > 0) return slowDown(waitMs);
  const found = await findByEmail(db, kind, email);
  const stored = found === null || found.disabled ? null : found.credentialHash;
  const verdict = await credentials.verify(stored, credential, known ? 'known' : 'stranger');
  if (verdict === 'busy') {
    await attempts.takeBack(attempt, busyMs);
    return slowDown(busyMs);
  }
  if (verdict === 'wrong' || found === null || stored === null) {
    failedLogins.note(found && { ...found.principal, accountId: accountOf(found.principal) }, address);
    return err(loginFailed());
  }
  await attempts.succeeded(attempt);
  return ok({ found, stored, outdated: verdict === 'outdated' });
}

/** Refuses with `too_many_logins`; `waitMs` is rounded up to whole seconds. */
export function slowDown(waitMs: number): Refusal {
  return err(tooManyLogins(Math.max(1, Math.ceil(waitMs / 1000))));
}

const accountOf = (principal: Principal): string | null =>
  principal.kind === 'organisation_admin' ? principal.accountId : null;

const inOrder = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Sorts behind every account's. */
const chainOf = (principal: Principal): string => accountOf(principal) ?? '~';

async function findByEmail(db: Context['db'], kind: Principal['kind'], email: string): Promise<Found | null> {
  const where = { email };
  const operator = kind === 'operator' ? await db.operator.findUnique({ where }) : null;
  const admin = kind === 'organisation_admin' ? await db.organisationAdmin.findUnique({ where }) : null;
  const row = operator ?? admin;
  if (row === null) return null;
  const { id, name, credentialHash } = row;
  const principal: Principal =
    'role' in row
      ? { kind: 'operator', id, name, role: row.role, proof: null }
      : { kind: 'organisation_admin', id, name, accountId: row.accountId, proof: null };
  return { principal, credentialHash, disabled: row.disabledAt !== null };
}

/** False if it is no longer the one that was verified, or the person was disabled. */
async function replaceCredential(tx: Tx, { kind, id }: Principal, stored: string, next: string): Promise<boolean> {
  const where = { id, credentialHash: stored, disabledAt: null };
  const data = { credentialHash: next };
  const { count } =
    kind === 'operator'
      ? await tx.operator.updateMany({ where, data })
      : await tx.organisationAdmin.updateMany({ where, data });
  return count === 1;
}
