/** Puts rows into Postgres, idempotently: the id, version and time of a receipt are its primary key. */
import { type Database, Prisma } from '@gw/prisma/client';
import type { ReceiptRow } from './entry-row.ts';

const keep = Prisma.sql`DO NOTHING`;
/** Trace and facts stay: they are what a recalculation of the degraded receipt starts from. */
const replace = Prisma.sql`(id, version, created_at) DO UPDATE SET region = EXCLUDED.region, tier = EXCLUDED.tier,
  status = EXCLUDED.status, prompt_tokens = EXCLUDED.prompt_tokens, completion_tokens = EXCLUDED.completion_tokens,
  energy_wh = EXCLUDED.energy_wh, carbon_g = EXCLUDED.carbon_g, body = EXCLUDED.body`;

/**
 * One statement, one round trip, for the whole batch. What is there already stays as it is, unless the client was shown
 * another receipt.
 */
export async function insertReceipts(db: Database, rows: readonly ReceiptRow[]): Promise<void> {
  const shown = new Map(rows.filter((row) => row.shown).map((row) => [`${row.id} ${row.version}`, row]));
  const others = shown.size === 0 ? rows : rows.filter((row) => !row.shown);
  if (others.length > 0) await insert(db, others, keep);
  // Each id once: a statement may not change a row twice.
  if (shown.size > 0) await insert(db, [...shown.values()], replace);
}

async function insert(db: Database, rows: readonly ReceiptRow[], onConflict: Prisma.Sql): Promise<void> {
  await db.$executeRaw`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
      prompt_tokens, completion_tokens, energy_wh, carbon_g, body, routing_trace, facts)
    SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS entry (
      id text, version int, created_at timestamptz, account_id text, key_id text, endpoint text, model text,
      region text, tier text, status text, prompt_tokens bigint, completion_tokens bigint, energy_wh numeric,
      carbon_g numeric, body json, routing_trace json, facts json)
    ON CONFLICT ${onConflict}`;
}

/**
 * Whether Postgres refused the data itself (SQLSTATE class 22: data exception, 23: integrity), so that trying again is
 * in vain. Everything else, known or unknown, counts as passing: a receipt is never given up for an outage.
 */
export function isRefusedData(fault: unknown): boolean {
  if (!(fault instanceof Prisma.PrismaClientKnownRequestError)) return false;
  const adapterError = fault.meta?.driverAdapterError;
  if (typeof adapterError !== 'object' || adapterError === null || !('cause' in adapterError)) return false;
  const { cause } = adapterError;
  if (typeof cause !== 'object' || cause === null || !('originalCode' in cause)) return false;
  return typeof cause.originalCode === 'string' && /^2[23]/.test(cause.originalCode);
}
