/**
 * Sessions of people who logged in.
 *
 * Invariant: a session answers for its holder only while it is neither idle nor old, and the person is enabled; the
 * person is read anew on each request, so a role that is taken away is gone with the next one.
 */
import { hourMs, minuteMs } from '@gw/contract/internal/durations';
import type { Database, Prisma } from '@gw/prisma/client';
import type { Principal, Proof } from '../../shared/principal.ts';
import { hashToken, isSessionToken, makeSessionToken } from './token-hash.ts';

/** How long a session lasts, even if it is used. */
export const sessionMs = 12 * hourMs;
/** How long a session lasts without being used. */
export const idleMs = 30 * minuteMs;
/** A use is noted at most this often, so that reading does not write. */
const noteUseMs = 60_000;

export type Person = Pick<Principal, 'kind' | 'id'>;

/** Returns the name of a session in the audit log: the first 12 hex digits of its hash, with which nobody gets in. */
export const sessionIdOf = (token: string): string => Buffer.from(hashToken(token)).toString('hex').slice(0, 12);

/** Starts a session and deletes all that have expired. Returns the token, of which only the hash is stored. */
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

/**
 * Returns whose session it is, and notes the use; null if it is unknown, idle or too old, or the person is disabled.
 */
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

/** Ends one session; does nothing if it has ended already. */
export async function endSession(tx: Prisma.TransactionClient, token: string): Promise<void> {
  await tx.session.deleteMany({ where: { tokenHash: hashToken(token) } });
}

/** Ends all sessions of a person; returns how many there were. */
export async function endSessionsOf(tx: Prisma.TransactionClient, { kind, id }: Person): Promise<number> {
  const { count } = await tx.session.deleteMany({ where: { subjectKind: kind, subjectId: id } });
  return count;
}
