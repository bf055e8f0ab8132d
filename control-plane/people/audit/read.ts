/** Reads the audit log in the form in which it was hashed. */
import { type ActorKind, type AuditEntry, isHashed, type SealFault } from '@gw/contract/internal/audit-chain';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import { openedRecords } from '../../shared/names/hidden-values.ts';
import { auditSealFault } from './seal.ts';

interface AuditRow {
  chain: string;
  seq: bigint;
  at: Date;
  actor_kind: string;
  actor_id: string;
  actor_name: string | null;
  action: string;
  target: string;
  request_id: string | null;
  before: unknown;
  after: unknown;
  prev_hash: string;
  hash: string;
  seal: string | null;
  seal_key: number | null;
}

/** An entry as it is stored, and what is wrong with its seal; whether its hash fits is for whoever uses it to ask. */
export interface StoredAudit extends AuditEntry {
  readonly sealFault: SealFault | null;
}

/** Returns why this is not an entry that the gateway has written, or null. */
export const auditFault = (entry: StoredAudit): SealFault | 'altered' | null =>
  isHashed(entry) ? entry.sealFault : 'altered';

/** Which entries to read; a condition that is absent admits all. */
export interface AuditFilter {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The actor's id. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Only entries that follow this one in `order`. */
  readonly afterSeq?: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** Returns entries of one chain by their numbers, with their names opened; `from` is included and `to` is not. */
export const readAudit = async (db: Queryable, chain: string, filter: AuditFilter): Promise<StoredAudit[]> =>
  openedRecords(db, await readHashed(db, chain, filter));

/** Returns the same as it was hashed, whose names are hidden. */
export async function readHashed(db: Queryable, chain: string, filter: AuditFilter): Promise<StoredAudit[]> {
  const { action, actor, afterSeq, from, limit, order, to } = filter;
  const conditions = [
    Prisma.sql`chain = ${chain}`,
    ...(from ? [Prisma.sql`at >= ${from}`] : []),
    ...(to ? [Prisma.sql`at < ${to}`] : []),
    ...(actor ? [Prisma.sql`actor_id = ${actor}`] : []),
    ...(action ? [Prisma.sql`action = ${action}`] : []),
    ...(afterSeq === undefined
      ? []
      : [order === 'asc' ? Prisma.sql`seq > ${afterSeq}` : Prisma.sql`seq < ${afterSeq}`]),
  ];
  const rows = await db.$queryRaw<AuditRow[]>`
    SELECT chain, seq, at, actor_kind, actor_id, actor_name, action, target, request_id, before, after, prev_hash, hash,
      seal, seal_key
    FROM audit WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY seq ${order === 'asc' ? Prisma.sql`ASC` : Prisma.sql`DESC`} LIMIT ${limit}`;
  const faultOf = auditSealFault(db);
  return rows.map((row) => ({ ...entryOf(row), sealFault: faultOf(row.hash, row.seal, row.seal_key) }));
}

/** Returns the last entry of this action that is genuine. Others with its name, which somebody with the database has put there, hide none. */
export async function lastGenuine(db: Queryable, chain: string, action: string): Promise<StoredAudit | null> {
  let limit = 1;
  for (let afterSeq: number | undefined; ; ) {
    const page = await readAudit(db, chain, { action, order: 'desc', limit, afterSeq });
    const found = page.find((entry) => auditFault(entry) === null);
    if (found !== undefined || page.length < limit) return found ?? null;
    afterSeq = page.at(-1)?.seq;
    limit = Math.min(limit * 10, 1000);
  }
}

/** Returns the number and the hash of the last entry; null if the chain has none. */
export async function readHead(db: Database, chain: string): Promise<{ seq: number; hash: string } | null> {
  const rows = await db.$queryRaw<{ seq: bigint; hash: string }[]>`
    SELECT seq, hash FROM audit_heads WHERE chain = ${chain}`;
  return rows[0] ? { seq: numberOf(rows[0].seq), hash: rows[0].hash } : null;
}

/** The end of a chain, as the check has to find it. */
export interface Chain {
  readonly chain: string;
  /** The number that its last entry should have; 0 if it should have none. */
  readonly seq: number;
  /** The hash of its head; null if there is no head, which is right only for `seq` 0. */
  readonly hash: string | null;
}

/**
 * Returns every chain that there is or should be, by name, after `after`: a chain whose head was deleted must still be
 * checked. An account that applied has at least one entry.
 */
export async function readChains(db: Database, after: string, limit: number): Promise<Chain[]> {
  const rows = await db.$queryRaw<{ chain: string; seq: bigint; hash: string | null }[]>`
    SELECT c.chain, GREATEST(MAX(c.seq), h.seq) AS seq, h.hash FROM (
      SELECT chain, MAX(seq) AS seq FROM audit WHERE chain > ${after} GROUP BY chain
      UNION ALL SELECT chain, 0 FROM audit_heads WHERE chain > ${after}
      UNION ALL SELECT id, 0 FROM accounts WHERE id > ${after}
      UNION ALL SELECT account_id, 1 FROM onboarding WHERE account_id > ${after}
    ) c LEFT JOIN audit_heads h ON h.chain = c.chain
    GROUP BY c.chain, h.seq, h.hash ORDER BY c.chain LIMIT ${limit}`;
  return rows.map(({ chain, hash, seq }) => ({ chain, seq: numberOf(seq), hash }));
}

/** The number of an entry. One beyond what a double tells apart, which no chain reaches, is the last one below. */
export const numberOf = (seq: bigint): number => Math.min(Number(seq), Number.MAX_SAFE_INTEGER);

/** A time for which JavaScript has no date was never hashed; it is told as the last that an entry can have. */
const timeOf = (at: Date): string => (Number.isNaN(at.getTime()) ? latest : at).toISOString();
const latest = new Date('9999-12-31T23:59:59.999Z');

function entryOf(row: AuditRow): AuditEntry {
  return {
    chain: row.chain,
    seq: numberOf(row.seq),
    at: timeOf(row.at),
    actor: { kind: row.actor_kind as ActorKind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: row.target,
    request_id: row.request_id,
    before: row.before,
    after: row.after,
    prev_hash: row.prev_hash,
    hash: row.hash,
  };
}
