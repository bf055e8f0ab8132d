/**
 * Adds what ext-authz states to the counts of calls, and follows the lives of its processes.
 *
 * Invariants: each statement is added once, in the transaction that notes it. One that is altered is never added, and it or one that is gone
 * is a fault. A time in which nobody may have counted is a gap, however it came about.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { minuteMs } from '@gw/contract/internal/durations';
import { isStatementGenuine, type WitnessKeys } from '@gw/contract/internal/witness';
import { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { Fault } from '../integrity/faults.ts';

type Tx = Prisma.TransactionClient;

const amount = z.number().int().min(0).max(1_000_000_000);
const statementSchema = z.object({
  calls: z.array(z.tuple([amount, z.string(), amount])),
  unsure: z.array(z.tuple([z.number(), z.number()])),
  isLast: z.boolean(),
});

interface StoredStatement {
  readonly life: string;
  readonly seq: number;
  readonly stated_at: Date;
  readonly statement: string;
  readonly code: string;
  /** The number of the last one that was added before; 0 for none. */
  readonly taken: number;
}

interface Life {
  readonly life: string;
  readonly seq: number;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly is_last: boolean;
}

interface Gap {
  readonly life: string;
  readonly from_at: Date;
  readonly to_at: Date;
}

const atOnce = 5000;

/** Adds the statements that came since. Returns those that were altered or are gone. */
export async function takeStatements(tx: Tx, keys: WitnessKeys): Promise<Fault[]> {
  const stored = await tx.$queryRaw<StoredStatement[]>`
    SELECT s.life, s.seq, s.stated_at, s.statement, s.code, coalesce(l.seq, 0) AS taken
    FROM witness_statements s LEFT JOIN witness_lives l ON l.life = s.life
    -- The clock of the database may have been set back.
    WHERE s.stated_at > least(coalesce((SELECT max(last_at) FROM witness_lives), '-infinity'), clock_timestamp()) - INTERVAL '10 minutes'
      AND s.seq > coalesce(l.seq, 0)
    ORDER BY s.life, s.seq LIMIT ${atOnce}`;
  const faults: Fault[] = [];
  const lives = new Map<string, Life>();
  const calls = new Map<string, { minute: Date; account_id: string; calls: number }>();
  const gaps: Gap[] = [];
  for (const { code, life, seq, stated_at: at, statement, taken } of stored) {
    const before = lives.get(life)?.seq ?? taken;
    const fault = (number: number, what: string) => faults.push({ name: `witness ${life}`, number, fault: what });
    if (seq > before + 1) fault(before + 1, 'a statement about counted calls is missing');
    const said = isStatementGenuine(keys, { life, seq }, statement, code) ? readStatement(statement) : null;
    if (said === null) fault(seq, 'a statement about counted calls was altered');
    const first = lives.get(life)?.first_at ?? at;
    lives.set(life, { life, seq, first_at: first, last_at: at, is_last: said?.isLast ?? false });
    for (const [minute, accountId, count] of said?.calls ?? []) {
      const known = calls.get(`${minute} ${accountId}`);
      const sum = known === undefined ? count : known.calls + count;
      calls.set(`${minute} ${accountId}`, { minute: new Date(minute * minuteMs), account_id: accountId, calls: sum });
    }
    for (const [fromMs, toMs] of said?.unsure ?? [])
      gaps.push({ life, from_at: new Date(at.getTime() - fromMs), to_at: new Date(at.getTime() - toMs) });
  }
  await addCalls(tx, [...calls.values()]);
  await addGaps(tx, gaps);
  await noteLives(tx, [...lives.values()]);
  return faults;
}

function readStatement(text: string): z.infer<typeof statementSchema> | null {
  return statementSchema.safeParse(JSON.parse(text)).data ?? null;
}

const rows = (found: readonly unknown[]): Prisma.Sql => Prisma.sql`${JSON.stringify(found)}::json`;

async function addCalls(tx: Tx, found: readonly unknown[]): Promise<void> {
  if (found.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO call_counts AS c (minute, account_id, calls)
    SELECT * FROM json_to_recordset(${rows(found)}) AS f (minute timestamptz, account_id text, calls int)
    ON CONFLICT (minute, account_id) DO UPDATE SET calls = c.calls + EXCLUDED.calls, due_at = now()`;
}

async function addGaps(tx: Tx, found: readonly Gap[]): Promise<void> {
  if (found.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO witness_gaps (life, from_at, to_at, is_end)
    SELECT *, FALSE FROM json_to_recordset(${rows(found)}) AS f (life text, from_at timestamptz, to_at timestamptz)
    ON CONFLICT DO NOTHING`;
}

/** A life that speaks has not ended, whatever was thought of its silence. */
async function noteLives(tx: Tx, found: readonly Life[]): Promise<void> {
  if (found.length === 0) return;
  const said = Prisma.sql`json_to_recordset(${rows(found)}) AS f (
    life text, seq int, first_at timestamptz, last_at timestamptz, is_last boolean)`;
  await tx.$executeRaw`
    INSERT INTO witness_lives AS l (life, seq, first_at, last_at, ended_at)
    SELECT life, seq, first_at, last_at, CASE WHEN is_last THEN last_at END FROM ${said}
    ON CONFLICT (life) DO UPDATE SET seq = EXCLUDED.seq, last_at = EXCLUDED.last_at, ended_at = EXCLUDED.ended_at`;
  await tx.$executeRaw`DELETE FROM witness_gaps g USING ${said} WHERE g.life = f.life AND g.is_end`;
  // An orderly end leaves a gap too, since Envoy may have had more for it.
  for (const { is_last, life } of found) if (is_last) await noteEnd(tx, life, orderlyUnsentS);
}

/** ext-authz states something every five seconds. */
const silentS = 20;
/** How old the entries may be that Envoy had for a life that ended. */
const unsentS = 15;
const orderlyUnsentS = 3;

/** Takes lives as ended that have said nothing for long. */
export async function noteSilence(tx: Tx): Promise<void> {
  const silent = await tx.$queryRaw<{ life: string }[]>`
    UPDATE witness_lives SET ended_at = clock_timestamp()
    WHERE ended_at IS NULL AND last_at < clock_timestamp() - ${silentS}::int * INTERVAL '1 second' RETURNING life`;
  for (const { life } of silent) await noteEnd(tx, life, unsentS);
  // Envoy soon tells another life, if there is one. While there is none nobody counts; the next one ends that.
  await tx.$executeRaw`
    UPDATE witness_gaps g
    SET to_at = CASE WHEN o.speaks THEN l.last_at + ${unsentS}::int * INTERVAL '1 second' ELSE o.next_at + INTERVAL '5 seconds' END
    FROM witness_lives l, LATERAL (
      SELECT bool_or(first_at <= l.last_at AND last_at > l.last_at + INTERVAL '10 seconds') AS speaks,
        min(first_at) FILTER (WHERE first_at > l.last_at) AS next_at
      FROM witness_lives o WHERE o.life <> l.life) o
    WHERE g.to_at IS NULL AND l.life = g.life AND (o.speaks OR o.next_at IS NOT NULL)`;
}

const noteEnd = (tx: Tx, life: string, beforeS: number): Promise<number> => tx.$executeRaw`
  INSERT INTO witness_gaps (life, from_at, is_end)
  SELECT life, last_at - ${beforeS}::int * INTERVAL '1 second', TRUE FROM witness_lives WHERE life = ${life}
  ON CONFLICT DO NOTHING`;

export interface Heard {
  /** The clock of the database. */
  readonly now: Date;
  /** When the first life began; null: there never was one. */
  readonly since: Date | null;
  /** Up to when every life that has not ended has spoken. */
  readonly until: Date;
}

export async function heardOf(tx: Tx, aheadMs: number): Promise<Heard> {
  const found = await tx.$queryRaw<{ until: Date | null; since: Date | null; now: Date }[]>`
    SELECT min(last_at) FILTER (WHERE ended_at IS NULL) AS until, min(first_at) AS since, clock_timestamp() AS now
    FROM witness_lives`;
  const { now, since, until } = elementAt(found, 0);
  const ahead = (at: Date) => new Date(at.getTime() + aheadMs);
  return { now: ahead(now), since, until: ahead(until ?? now) };
}
