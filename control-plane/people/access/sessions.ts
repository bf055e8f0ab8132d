/**
 * Sessions of people who logged in.
 *
 * Invariant: a session answers for its holder only while it is neither idle nor old, and the person is enabled; the
 * person is read anew on each request, so a role that is taken away is gone with the next one.
 */
import { hourMs, minuteMs } from '@gw/contract/internal/durations';
import type { Database, Prisma } from '@gw/prisma/client';
import type { Principal, Proof } from './principal.ts';
import { hashToken, isSessionToken, makeSessionToken } from './token-hash.ts';

export const sessionMs = 12 * hourMs;
export const idleMs = 30 * minuteMs;
/** A use is noted at most this often, so that reading does not write. */
const noteUseMs = 60_000;

export type Person = Pick<Principal, 'kind' | 'id'>;

/** By which the audit log names a session: of its hash, so that it opens nothing. */
export const sessionIdOf = (token: string): string => Buffer.from(hashToken(token)).toString('hex').slice(0, 12);

/** Starts a session; returns the token, which is to be had only now. Takes away what has expired. */
export async function startSession(tx: Prisma.TransactionClient, person: Person, now: Date): Promise<string> {
  const token = makeSessionToken();
  const expired = { OR: [{ expiresAt: { lte: now } }, { lastSeenAt: { lte: new Date(now.getTime() - idleMs) } }] };
  await tx.session.deleteMany({ where: expired });
  await tx.session.create({
    data: {
      tokenHash: hashToken(token),
      subjectKind: person.kind,
      subjectId: person.id,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + sessionMs),
    },
  });
  return token;
}

/** Null for a token that is unknown, idle, too old, or of a person who is disabled. */
export async function findSession(db: Database, token: string, now: Date): Promise<Principal | null> {
  if (!isSessionToken(token)) return null;
  const tokenHash = hashToken(token);
  const session = await db.session.findUnique({ where: { tokenHash } });
  if (session === null || session.expiresAt <= now) return null;
  const silentMs = now.getTime() - session.lastSeenAt.getTime();
  if (silentMs >= idleMs) return null;
  const principal = await findPerson(db, session.subjectKind, session.subjectId, {
    kind: 'session',
    id: sessionIdOf(token),
  });
  // Many: it may have been ended in between, which is no fault.
  if (principal !== null && silentMs >= noteUseMs)
    await db.session.updateMany({ where: { tokenHash }, data: { lastSeenAt: now } });
  return principal;
}

async function findPerson(db: Database, kind: string, id: string, proof: Proof): Promise<Principal | null> {
  if (kind === 'operator') {
    const operator = await db.operator.findUnique({ where: { id } });
    if (operator === null || operator.disabledAt !== null) return null;
    return { kind: 'operator', id, name: operator.name, role: operator.role, proof };
  }
  const admin = await db.organisationAdmin.findUnique({ where: { id } });
  if (admin === null || admin.disabledAt !== null) return null;
  return { kind: 'organisation_admin', id, name: admin.name, accountId: admin.accountId, proof };
}

export async function endSession(tx: Prisma.TransactionClient, token: string): Promise<void> {
  await tx.session.deleteMany({ where: { tokenHash: hashToken(token) } });
}

/** Returns how many there were. */
export async function endSessionsOf(tx: Prisma.TransactionClient, { kind, id }: Person): Promise<number> {
  const { count } = await tx.session.deleteMany({ where: { subjectKind: kind, subjectId: id } });
  return count;
}
