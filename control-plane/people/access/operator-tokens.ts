/** Operator tokens: what a script of an operator shows. Each has the role that its operator has at that moment. */
import { dayMs } from '@gw/contract/internal/durations';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { hide } from '../../shared/names/names.ts';
import { appendAudit } from '../audit/append.ts';
import { type ChangeContext, makeId } from './change.ts';
import { reauthorize } from './reauthorize.ts';
import { type ChangeResult, notFound } from './refusals.ts';
import { hashToken, makeOperatorToken } from './token-hash.ts';

export const tokenSchema = z.strictObject({
  id: z.string(),
  object: z.literal('operator_token'),
  operator_id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
});
export type TokenView = z.infer<typeof tokenSchema>;

export const tokenWithPlaintextSchema = tokenSchema.extend({ token: z.string().describe('Shown once') });
export type TokenWithPlaintext = z.infer<typeof tokenWithPlaintextSchema>;

type Stores = Pick<Context, 'db'>;
type TokenRow = Prisma.OperatorTokenGetPayload<object>;

export async function listTokens({ db }: Stores, operatorId: string): Promise<TokenView[]> {
  return (await db.operatorToken.findMany({ where: { operatorId }, orderBy: { createdAt: 'asc' } })).map(viewOf);
}

/**
 * Makes a token for the operator who asks, valid for `days`. It expires no later than the token by which the operator
 * asks; otherwise a stolen one could be renewed for ever.
 */
export function createToken(
  { db }: Stores,
  change: ChangeContext,
  { operatorId, name, days }: { operatorId: string; name: string; days: number },
): Promise<ChangeResult<TokenWithPlaintext>> {
  return db.$transaction(async (tx): Promise<ChangeResult<TokenWithPlaintext>> => {
    // Whoever disables the person or resets the credential at this moment finds the token, or it is not made.
    const refused = await reauthorize(tx, change);
    if (refused !== null) return err(refused);
    const { proof } = change.principal;
    const notAfter = proof?.kind === 'token' ? proof.expiresAt : null;
    const token = makeOperatorToken();
    const wanted = new Date(change.at.getTime() + days * dayMs);
    const expiresAt = notAfter !== null && notAfter < wanted ? notAfter : wanted;
    const row = await storeToken(tx, change, { id: makeId('optk'), operatorId, name, token, expiresAt });
    return ok({ ...viewOf(row), token });
  });
}

/** Stores the hash of a token, with its audit entry. Null as `expiresAt` means that it never expires. */
export async function storeToken(
  tx: Prisma.TransactionClient,
  { actor, at, requestId }: Pick<ChangeContext, 'actor' | 'at'> & { readonly requestId: string | null },
  { name, token, ...data }: { id: string; operatorId: string; name: string; token: string; expiresAt: Date | null },
): Promise<TokenRow> {
  const hidden = await hide(tx, `operator:${data.operatorId}`, name);
  const row = await tx.operatorToken.create({
    data: { ...data, name: hidden, createdAt: at, tokenHash: hashToken(token) },
  });
  const after = { operator: row.operatorId, name: row.name, expires_at: row.expiresAt?.toISOString() ?? null };
  const target = `operator_token:${row.id}`;
  await appendAudit(tx, at, { accountId: null, actor, action: 'operator_token.created', target, requestId, after });
  return row;
}

/** Ends all tokens of an operator; returns how many there were. */
export async function endTokensOf(tx: Prisma.TransactionClient, operatorId: string): Promise<number> {
  const { count } = await tx.operatorToken.deleteMany({ where: { operatorId } });
  return count;
}

/** Ends one token from the next request on. Refuses with `invalid_operator_token` if the operator has no such token. */
export function revokeToken(
  { db }: Stores,
  change: ChangeContext,
  operatorId: string,
  id: string,
): Promise<ChangeResult<TokenView>> {
  return db.$transaction(async (tx): Promise<ChangeResult<TokenView>> => {
    const refused = await reauthorize(tx, change);
    if (refused !== null) return err(refused);
    const [row] = await tx.operatorToken.findMany({ where: { id, operatorId } });
    const { count } = await tx.operatorToken.deleteMany({ where: { id, operatorId } });
    if (row === undefined || count === 0) return err(notFound('operator_token'));
    const { actor, at, requestId } = change;
    const before = { operator: operatorId, name: row.name };
    const target = `operator_token:${id}`;
    await appendAudit(tx, at, { accountId: null, actor, action: 'operator_token.revoked', target, requestId, before });
    return ok(viewOf(row));
  });
}

function viewOf(row: TokenRow): TokenView {
  return {
    id: row.id,
    object: 'operator_token',
    operator_id: row.operatorId,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
}
