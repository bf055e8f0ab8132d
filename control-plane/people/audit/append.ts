/**
 * Writes audit entries, in the transaction of what they tell of.
 *
 * Invariant: a change and its entry are committed together or not at all, and each entry is sealed. What names somebody is hidden
 * (`hide-names.ts`) before it is hashed. Entries of one chain are written one after
 * the other: the writer holds the head of the chain until its transaction ends.
 */
import {
  type Actor,
  type AuditEntry,
  auditHash,
  firstPrevHash,
  operatorChain,
} from '@gw/contract/internal/audit-chain';
import type { Queryable } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { hideNames } from './hide-names.ts';
import { auditSealer } from './seal.ts';

/** The content of an audit entry; `appendAudit` adds the chain, the number, the time and the hashes. */
export interface AuditFact {
  /** Null if it concerns no account: then it goes into the operators' chain. */
  readonly accountId: string | null;
  readonly actor: Actor;
  readonly action: string;
  readonly target: string;
  readonly requestId: string | null;
  /** The values before and after, as plain JSON without secrets. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Writes one entry. `tx` has to be a transaction, and holds the head of the chain until it ends. */
export async function appendAudit(tx: Queryable, at: Date, fact: AuditFact): Promise<AuditEntry> {
  const [entry] = await appendAudits(tx, at, fact.accountId, [fact]);
  if (entry === undefined) throw new Error('An audit fact has left no entry.');
  return entry;
}

/**
 * Writes many entries of one chain in their order, with as many round trips as for one. `tx` has to be a transaction.
 */
export async function appendAudits(
  tx: Queryable,
  at: Date,
  accountId: string | null,
  facts: readonly Omit<AuditFact, 'accountId'>[],
): Promise<AuditEntry[]> {
  const chain = accountId ?? operatorChain;
  // Before the chain is held, since a key that is new is held too.
  const hiddenFacts = await hideNames(tx, accountId, facts);
  // A chain without entries has no head to lock; this lock also covers its first one.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('audit:' || ${chain}, 0))`;
  const [head] = await tx.$queryRaw<{ seq: bigint; hash: string }[]>`
    SELECT seq, hash FROM audit_heads WHERE chain = ${chain}`;
  const before = head === undefined ? { seq: 0, hash: firstPrevHash } : { seq: Number(head.seq), hash: head.hash };
  const entries = linked(chain, at, hiddenFacts, before);
  const sealOf = auditSealer(tx);
  const rows = entries.map(({ actor, ...entry }) => ({
    ...entry,
    ...sealOf(entry.hash),
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
  }));
  // In order, since a trigger admits each row only behind the one before.
  await tx.$executeRaw`
    INSERT INTO audit (chain, seq, at, account_id, actor_kind, actor_id, actor_name, action, target, request_id, before,
      after, prev_hash, hash, seal, seal_key)
    SELECT chain, seq, at, ${accountId}::text, actor_kind, actor_id, actor_name, action, target, request_id, before,
      after, prev_hash, hash, seal, seal_key
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS entry (chain text, seq bigint, at timestamptz,
      actor_kind text, actor_id text, actor_name text, action text, target text, request_id text, before json,
      after json, prev_hash text, hash text, seal text, seal_key int)
    ORDER BY seq`;
  return entries;
}

function linked(
  chain: string,
  at: Date,
  facts: readonly Omit<AuditFact, 'accountId'>[],
  head: { readonly seq: number; readonly hash: string },
): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (const fact of facts) {
    const unsigned = {
      chain,
      seq: head.seq + entries.length + 1,
      at: at.toISOString(),
      actor: fact.actor,
      action: fact.action,
      target: fact.target,
      request_id: fact.requestId,
      before: plain(fact.before),
      after: plain(fact.after),
      prev_hash: entries.at(-1)?.hash ?? head.hash,
    };
    entries.push({ ...unsigned, hash: auditHash(unsigned) });
  }
  return entries;
}

/** Returns a value as it comes back from JSON, since what is hashed has to be what is stored. */
const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)));

/**
 * Warns in the log if the database lets a role of this service change what the audit log tells; elsewhere rights make the log
 * append-only. Never throws: others say that the database is away.
 */
export async function warnOfRights({ databases, log }: Pick<Context, 'databases' | 'log'>): Promise<void> {
  await Promise.all(Object.values(databases).map((db) => warnOfRole(db, log)));
}

async function warnOfRole(db: Context['db'], log: Context['log']): Promise<void> {
  const rows = await db.$queryRaw<{ role: string; above: boolean }[]>`
    SELECT current_user::text AS role, r.rolsuper OR pg_has_role(c.relowner, 'MEMBER')
      OR has_table_privilege('audit', 'UPDATE, DELETE, TRUNCATE') AS above
    FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = 'audit'::regclass`.catch(() => []);
  const [found] = rows;
  if (found?.above)
    log.warn(
      { role: found.role },
      'this database role may change the audit log, which only triggers protect; give the services a role of their own (docs/operations.md)',
    );
}
