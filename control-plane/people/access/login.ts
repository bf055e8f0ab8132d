/**
 * Logs people in, and changes the credential that they log in with.
 *
 * Invariant: each change is one transaction with its audit entries, in which the person has proved who they are.
 */
import { ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { actorOf, type Principal } from '../../shared/principal.ts';
import { appendAudit } from '../audit/append.ts';
import { accountOf, asProven, type Claim } from './prove.ts';
import type { ChangeResult } from './refusals.ts';
import type { AccessServices } from './services.ts';
import { endSession, endSessionsOf, sessionIdOf, startSession } from './sessions.ts';

type Tx = Prisma.TransactionClient;

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

/** Starts a session, and ends the one that it replaces. Refuses as `asProven` does. */
export const logIn = (
  context: Context,
  access: AccessServices,
  claim: Claim,
  replaced: Replaced | null = null,
): Promise<ChangeResult<LoggedIn>> =>
  asProven(context, access, claim, async (tx, principal, at) => {
    if (replaced !== null) await endSession(tx, replaced.token);
    const token = await startSession(tx, principal, at);
    const proof = { kind: 'session', id: sessionIdOf(token) } as const;
    const fact = { at, requestId: claim.requestId };
    const ended = { ...fact, action: 'session.ended', after: { by: 'another login' } };
    const entries = [
      ...(replaced === null ? [] : [{ whose: replaced.principal, fact: ended }]),
      {
        whose: { ...principal, proof },
        fact: { ...fact, action: 'session.started', after: { address: claim.address } },
      },
    ];
    // Chains are held in one order by all: those of accounts, then that of the operators.
    for (const { whose, fact } of entries.sort((a, b) => inOrder(chainOf(a.whose), chainOf(b.whose))))
      await auditPerson(tx, whose, fact);
    return ok({ token, principal });
  });

/** Replaces a credential and ends every session of the person, since others may have known the old one. */
export const changeCredential = (
  context: Context,
  access: AccessServices,
  claim: Claim,
  next: string,
): Promise<ChangeResult<null>> =>
  asProven(
    context,
    access,
    claim,
    async (tx, principal, at) => {
      const after = { sessions_ended: await endSessionsOf(tx, principal) };
      const action = `${principal.kind}.credential_changed`;
      await auditPerson(tx, principal, { action, at, requestId: claim.requestId, after });
      return ok(null);
    },
    next,
  );

/** Writes what a person did with their login into the chain of their account, or into the operators' chain. */
export function auditPerson(
  tx: Tx,
  principal: Principal,
  { at, ...fact }: { action: string; at: Date; requestId: string; after?: unknown },
): Promise<unknown> {
  const { kind, id } = principal;
  return appendAudit(tx, at, {
    ...fact,
    accountId: accountOf(principal),
    actor: actorOf(principal),
    target: `${kind}:${id}`,
  });
}

const inOrder = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Sorts behind every account's. */
const chainOf = (principal: Principal): string => accountOf(principal) ?? '~';
