/** Reads how far Postgres is, and how far each chain of the audit log. */
import { elementAt } from '@gw/contract/internal/defined';
import type { GroundAlarm } from '@gw/contract/internal/ground';
import { groundChainsKey } from '@gw/contract/internal/redis';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import { sqlStateOf } from '../../shared/sql-state.ts';
import type { Ground } from './compare.ts';

interface FoundGround extends Ground {
  /** The head of the newest known batch as Postgres has it now; null: it has none. */
  readonly headOfKnown: string | null;
  /** The generation of keys at the last heartbeat: what changed behind it may be lost. */
  readonly lostAfter: number;
}

/** Ask the server, and not the database. */
const identity = Prisma.sql`
  (SELECT system_identifier::text FROM pg_control_system()) || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`;
const timeline = Prisma.sql`left(pg_walfile_name(pg_current_wal_lsn()), 8)`;
const untold = Prisma.sql`''`;

/** Insufficient privilege, no such function, not supported, not in this state: managed servers refuse to tell who they are in these ways. */
const untellable = new Set<string | null>(['42501', '42883', '0A000', '55000']);

/**
 * Fails open: a managed server that tells neither name nor timeline is known by its heartbeat alone. Rejects if Postgres was not reached: one that is
 * only slow, or has just been replaced, tells its name with the next look.
 */
export const readGround = (db: Database, known: Ground | null): Promise<FoundGround> =>
  read(db, known, { identity, timeline }).catch((error: unknown) => {
    if (!untellable.has(sqlStateOf(error))) throw error;
    return read(db, known, { identity: untold, timeline: untold });
  });

async function read(
  db: Database,
  known: Ground | null,
  server: { readonly identity: Prisma.Sql; readonly timeline: Prisma.Sql },
): Promise<FoundGround> {
  const rows = await db.$queryRaw<FoundGround[]>`
    SELECT g.heartbeat::float8 AS heartbeat, g.generation::float8 AS "lostAfter", k.generation::float8 AS generation,
      coalesce(b.number, 0)::float8 AS batch, coalesce(encode(b.head, 'hex'), '') AS head, coalesce(b.total, 0)::float8 AS receipts,
      ${server.identity} AS server, ${server.timeline} AS timeline,
      (SELECT encode(head, 'hex') FROM receipt_batches WHERE number = ${known === null ? 0 : known.batch}) AS "headOfKnown"
    FROM ground g CROSS JOIN key_generation k
    LEFT JOIN LATERAL (SELECT number, head, total FROM receipt_batches ORDER BY number DESC LIMIT 1) AS b ON TRUE`;
  return elementAt(rows, 0);
}

interface Chain {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

interface Chains {
  /** As Redis knows them. */
  readonly known: readonly Chain[];
  /** Fields for Redis: those that have moved since. */
  readonly newer: readonly string[];
}

/** Reads the heads of all chains, here and there. */
export async function readChains(db: Database, redis: Redis): Promise<Chains> {
  const fields = await redis.hgetall(groundChainsKey);
  const known = Object.entries(fields).map(([chain, text]) => {
    const [seq = '', hash = ''] = text.split(' ');
    return { chain, seq: Number(seq), hash };
  });
  const heads = await db.$queryRaw<{ chain: string; text: string }[]>`
    SELECT chain, seq || ' ' || hash AS text FROM audit_heads`;
  const newer = heads.flatMap(({ chain, text }) => (fields[chain] === text ? [] : [chain, text]));
  return { known, newer };
}

/** Returns the known heads that are in no chain any more, with how far each chain is now. */
export async function fallenChains(db: Database, { known, newer }: Chains): Promise<GroundAlarm['audit_chains']> {
  const moved = new Set(newer.filter((_, at) => at % 2 === 0));
  return db.$queryRaw<GroundAlarm['audit_chains'][number][]>`
    SELECT k.chain, k.seq::float8 AS known, coalesce(h.seq, 0)::float8 AS found
    FROM json_to_recordset(${JSON.stringify(known)}::json) AS k (chain text, seq bigint, hash text)
    LEFT JOIN audit_heads h ON h.chain = k.chain
    WHERE (h.chain IS NULL OR k.chain = ANY (${[...moved]}::text[]))
      AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.chain = k.chain AND a.seq = k.seq AND a.hash = k.hash)
    ORDER BY k.chain`;
}
