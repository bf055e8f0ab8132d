/** Operator tokens: what a script of an operator shows. Each has the role that its operator has at that moment. */
import { appendAudit } from '../audit/append.ts';
import type { Context } from '../context.ts';
import { type Change, makeId } from './change.ts';
import { invalidTransition, notFound, type Outcome } from './refusals.ts';
import { hashToken, makeOperatorToken } from './token-hash.ts';

const dayMs = 86_400_000;

export interface TokenView {
  readonly id: string;
  readonly object: 'operator_token';
  readonly operator_id: string;
  readonly name: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface TokenWithPlaintext extends TokenView {
  /** Shown once. */
  readonly token: string;
}

type Stores = Pick<Context, 'db'>;

export async function listTokens({ db }: Stores, operatorId: string): Promise<TokenView[]> {
  return (await db.operatorToken.findMany({ where: { operatorId }, orderBy: { createdAt: 'asc' } })).map(viewOf);
}

export function createToken(
  { db }: Stores,
  change: Change,
  { operatorId, name, days }: { operatorId: string; name: string; days: number },
): Promise<Outcome<TokenWithPlaintext>> {
  return db.$transaction(async (tx): Promise<Outcome<TokenWithPlaintext>> => {
    const operator = await tx.operator.findUnique({ where: { id: operatorId } });
    if (operator === null) return { refused: notFound('operator') };
    if (operator.disabledAt !== null) return { refused: invalidTransition('This operator is disabled.') };
    const token = makeOperatorToken();
    const expiresAt = new Date(change.at.getTime() + days * dayMs);
    const data = { id: makeId('optk'), operatorId, name, createdAt: change.at, expiresAt };
    const row = await tx.operatorToken.create({ data: { ...data, tokenHash: hashToken(token) } });
    const { actor, at, requestId } = change;
    const after = { operator: operatorId, name, expires_at: expiresAt.toISOString() };
    const target = `operator_token:${row.id}`;
    await appendAudit(tx, at, { accountId: null, actor, action: 'operator_token.created', target, requestId, after });
    return { done: { ...viewOf(row), token } };
  });
}

/** It is of no use from the next request on. */
export function revokeToken(
  { db }: Stores,
  change: Change,
  operatorId: string,
  id: string,
): Promise<Outcome<TokenView>> {
  return db.$transaction(async (tx): Promise<Outcome<TokenView>> => {
    const [row] = await tx.operatorToken.findMany({ where: { id, operatorId } });
    const { count } = await tx.operatorToken.deleteMany({ where: { id, operatorId } });
    if (row === undefined || count === 0) return { refused: notFound('operator_token') };
    const { actor, at, requestId } = change;
    const before = { operator: operatorId, name: row.name };
    const target = `operator_token:${id}`;
    await appendAudit(tx, at, { accountId: null, actor, action: 'operator_token.revoked', target, requestId, before });
    return { done: viewOf(row) };
  });
}

function viewOf(row: {
  id: string;
  operatorId: string;
  name: string;
  createdAt: Date;
  expiresAt: Date | null;
}): TokenView {
  return {
    id: row.id,
    object: 'operator_token',
    operator_id: row.operatorId,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
}
