/**
 * Proves who somebody is: by e-mail and credential and, where the person has a second factor, by a code of it.
 *
 * Invariant: an unknown person, a disabled one and a wrong credential get the same answer after the same work, and only
 * whoever has the credential learns that there is a second factor. What is done for the person is done only if they are still
 * enabled with the very credential that was verified, and takes the code with it.
 */
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import type { Principal } from '../../shared/principal.ts';
import type { MissedLogin } from './failed-logins.ts';
import { emailDigestOf } from './hidden-person.ts';
import { type ChangeResult, loginFailed, slowDown } from './refusals.ts';
import type { AccessServices } from './services.ts';

type Tx = Prisma.TransactionClient;

/** How long a login has to wait that found too many others waiting. */
const busyMs = 1000;

/** One attempt. `address` is the IP address of the client. */
export interface Claim {
  readonly kind: Principal['kind'];
  readonly email: string;
  readonly credential: string;
  /** The code of the second factor; null if none was given. */
  readonly code: string | null;
  readonly address: string;
  readonly requestId: string;
}

interface Candidate {
  readonly principal: Principal;
  /** Null: cannot log in by credential. */
  readonly credentialHash: string | null;
  readonly disabled: boolean;
}

interface Verified {
  readonly principal: Principal;
  readonly stored: string;
  readonly outdated: boolean;
}

/**
 * Runs `act` in the transaction that has looked at the proof. `next` takes the place of the credential. Refuses with `invalid_login`, `second_factor_needed`,
 * `invalid_second_factor`, `too_many_logins`, or what `act` refuses with, and then nothing has changed.
 */
export async function asProven<T>(
  context: Context,
  access: AccessServices,
  claim: Claim,
  act: (tx: Tx, principal: Principal, at: Date) => Promise<ChangeResult<T>>,
  next: string | null = null,
): Promise<ChangeResult<T>> {
  const verified = await verify(context, access, claim);
  if (!verified.ok) return verified;
  const { outdated, principal, stored } = verified.value;
  const text = next ?? (outdated ? claim.credential : null);
  const replacement = text === null ? stored : await access.credentials.hash(text);
  const { attempts, secondFactors } = access;
  const at = context.now();
  const { done, factor } = await context.db.$transaction(async (tx) => {
    // It holds the row of the person: of two that come with one code the second finds it taken.
    if (!(await replaceCredential(tx, principal, stored, stored))) return { factor: err(loginFailed()), done: null };
    const factor = await secondFactors.check(tx, principal, claim.code, at);
    if (!factor.ok) return { factor, done: null };
    if (replacement !== stored) await replaceCredential(tx, principal, stored, replacement);
    return { factor, done: await act(tx, principal, at) };
  });
  if (factor.ok) await attempts.succeeded(attemptOf(claim));
  else {
    const { code } = factor.error;
    // It was right as far as it went: it is asked again with a code, or was not judged.
    if (code === 'second_factor_needed' || code === 'too_many_logins') await attempts.takeBack(attemptOf(claim), 0);
    note(access, claim, principal, code === 'invalid_login' ? 'login.failed' : 'login.second_factor_missed');
  }
  return done ?? factor;
}

async function verify({ db }: Context, access: AccessServices, claim: Claim): Promise<ChangeResult<Verified>> {
  const { attempts, credentials } = access;
  const attempt = attemptOf(claim);
  const { known, waitMs } = await attempts.admit(attempt);
  if (waitMs > 0) return slowDown(waitMs);
  const found = await findByEmail(db, claim.kind, claim.email);
  const stored = found === null || found.disabled ? null : found.credentialHash;
  const verdict = await credentials.verify(stored, claim.credential, known ? 'known' : 'stranger');
  if (verdict === 'busy') {
    await attempts.takeBack(attempt, busyMs);
    return slowDown(busyMs);
  }
  if (verdict === 'wrong' || found === null || stored === null) {
    note(access, claim, found?.principal ?? null);
    return err(loginFailed());
  }
  return ok({ principal: found.principal, stored, outdated: verdict === 'outdated' });
}

/** For the audit log. */
function note(
  { failedLogins }: AccessServices,
  { address }: Claim,
  principal: Principal | null,
  action: MissedLogin = 'login.failed',
): void {
  failedLogins.note(principal && { ...principal, accountId: accountOf(principal) }, address, action);
}

const attemptOf = ({ address, email, kind }: Claim) => ({ subject: `${kind} ${email}`, address });

/** Whose chain in the audit log a person's doings go to; null: the operators'. */
export const accountOf = (principal: Principal): string | null =>
  principal.kind === 'organisation_admin' ? principal.accountId : null;

async function findByEmail(db: Context['db'], kind: Principal['kind'], email: string): Promise<Candidate | null> {
  const where = { emailDigest: await emailDigestOf(db, email) };
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
