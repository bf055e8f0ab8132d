/**
 * Writes audit entries, in the transaction of what they tell of.
 *
 * Invariant: a change and its entry are committed together or not at all. Entries of one chain are written one after the
 * other: the writer holds the head of the chain until its transaction ends.
 */
import {
  type Actor,
  type AuditEntry,
  auditHash,
  firstPrevHash,
  operatorChain,
} from '@gw/contract/internal/audit-chain';
import type { Queryable } from '@gw/prisma/client';

export interface AuditFact {
  /** Null: it concerns no account. */
  readonly accountId: string | null;
  readonly actor: Actor;
  readonly action: string;
  readonly target: string;
  readonly requestId: string | null;
  /** Without secrets. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** `tx` has to be a transaction. */
export async function appendAudit(tx: Queryable, at: Date, fact: AuditFact): Promise<AuditEntry> {
  const chain = fact.accountId ?? operatorChain;
  // A chain without entries has no head to lock; this lock also covers its first one.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('audit:' || ${chain}, 0))`;
  const [head] = await tx.$queryRaw<{ seq: bigint; hash: string }[]>`
    SELECT seq, hash FROM audit_heads WHERE chain = ${chain}`;
  const unsigned = {
    chain,
    seq: Number(head?.seq ?? 0) + 1,
    at: at.toISOString(),
    actor: fact.actor,
    action: fact.action,
    target: fact.target,
    request_id: fact.requestId,
    before: plain(fact.before),
    after: plain(fact.after),
    prev_hash: head?.hash ?? firstPrevHash,
  };
  const entry: AuditEntry = { ...unsigned, hash: auditHash(unsigned) };
  const { kind, id, name } = entry.actor;
  await tx.$executeRaw`
    INSERT INTO audit (chain, seq, at, account_id, actor_kind, actor_id, actor_name, action, target, request_id, before,
      after, prev_hash, hash)
    VALUES (${chain}, ${entry.seq}, ${at}, ${fact.accountId}, ${kind}, ${id}, ${name}, ${entry.action}, ${entry.target},
      ${entry.request_id}, ${textOf(entry.before)}::json, ${textOf(entry.after)}::json,
      ${entry.prev_hash}, ${entry.hash})`;
  return entry;
}

/** As JSON will give it back: what is hashed has to be what is stored. */
const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));

const textOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
