/** Finds out who makes a request on the operator listener: by an operator token, else by the session's cookie. */
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../shared/context.ts';
import type { Principal } from '../../shared/principal.ts';
import type { Identified } from './guard.ts';
import type { SessionCookie } from './session-cookie.ts';
import { findSession } from './sessions.ts';
import { hashToken, isOperatorToken } from './token-hash.ts';

type Stores = Pick<Context, 'db' | 'now'>;

/**
 * Returns null if nobody is proved. If a request shows a token, only that counts, even if its cookie would be valid.
 */
export async function identify(
  request: FastifyRequest,
  stores: Stores,
  cookie: SessionCookie,
): Promise<Identified | null> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
    const principal = token === undefined ? null : await findTokenHolder(stores, token);
    return principal && { principal, by: 'bearer' };
  }
  const token = cookie.read(request);
  const principal = token === null ? null : await findSession(stores.db, token, stores.now());
  return principal && { principal, by: 'cookie' };
}

async function findTokenHolder({ db, now }: Stores, token: string): Promise<Principal | null> {
  if (!isOperatorToken(token)) return null;
  const found = await db.operatorToken.findUnique({
    where: { tokenHash: hashToken(token) },
    include: { operator: true },
  });
  if (found === null || found.operator.disabledAt !== null) return null;
  if (found.expiresAt !== null && found.expiresAt <= now()) return null;
  const { id, name, role } = found.operator;
  return { kind: 'operator', id, name, role, proof: { kind: 'token', id: found.id, expiresAt: found.expiresAt } };
}
