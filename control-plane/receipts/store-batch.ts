/**
 * Puts rows into Postgres, idempotently: the id, version and time of a receipt are its primary key.
 *
 * Invariant: in whatever order the entries of one call come, and however often, what is stored in the end is the same:
 * the receipt that the client was shown, and the facts, if any entry has them. Later versions are never touched.
 */
import { type Database, Prisma } from '@gw/prisma/client';
import type { ReceiptRow } from './entry-row.ts';
import { noteLateReceipts } from './note-late.ts';

/** Facts that come after a receipt that was closed without them are what a recalculation starts from. */
const keep = Prisma.sql`(id, version, created_at) DO UPDATE SET facts = EXCLUDED.facts,
  routing_trace = COALESCE(receipts.routing_trace, EXCLUDED.routing_trace)
  WHERE receipts.facts IS NULL AND EXCLUDED.facts IS NOT NULL`;
/** Trace and facts stay, for the same reason. */
const replace = Prisma.sql`(id, version, created_at) DO UPDATE SET region = EXCLUDED.region, tier = EXCLUDED.tier,
  status = EXCLUDED.status, prompt_tokens = EXCLUDED.prompt_tokens, completion_tokens = EXCLUDED.completion_tokens,
  energy_wh = EXCLUDED.energy_wh, carbon_g = EXCLUDED.carbon_g, body = EXCLUDED.body,
  facts = COALESCE(receipts.facts, EXCLUDED.facts),
  routing_trace = COALESCE(receipts.routing_trace, EXCLUDED.routing_trace)`;

/** What is there already stays as it is, unless the client was shown another receipt. */
export async function insertReceipts(db: Database, rows: readonly ReceiptRow[]): Promise<void> {
  const others = distinct(
    rows.filter((row) => !row.shown),
    (first, later) => ({ ...first, ...factsOf(first, later) }),
  );
  const shown = distinct(
    rows.filter((row) => row.shown),
    (first, later) => ({ ...later, ...factsOf(first, later) }),
  );
  if (others.length > 0) await insert(db, others, keep);
  if (shown.length > 0) await insert(db, shown, replace);
  await noteLateReceipts(db, rows);
}

const factsOf = (first: ReceiptRow, later: ReceiptRow): Pick<ReceiptRow, 'facts' | 'routing_trace'> => ({
  facts: first.facts ?? later.facts,
  routing_trace: first.routing_trace ?? later.routing_trace,
});

/** Each id once, since a statement may not change a row twice; in one order, so that two ingesters never wait in a ring. */
function distinct(
  rows: readonly ReceiptRow[],
  merge: (first: ReceiptRow, later: ReceiptRow) => ReceiptRow,
): ReceiptRow[] {
  const byKey = new Map<string, ReceiptRow>();
  for (const row of rows) {
    const key = `${row.id} ${row.version}`;
    const first = byKey.get(key);
    byKey.set(key, first === undefined ? row : merge(first, row));
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** One statement, one round trip, for the whole batch: the rows, and which of them wait to be recalculated. */
async function insert(db: Database, rows: readonly ReceiptRow[], onConflict: Prisma.Sql): Promise<void> {
  await db.$executeRaw`
    WITH stored AS (
      INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
        prompt_tokens, completion_tokens, energy_wh, carbon_g, body, routing_trace, facts)
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS entry (
        id text, version int, created_at timestamptz, account_id text, key_id text, endpoint text, model text,
        region text, tier text, status text, prompt_tokens bigint, completion_tokens bigint, energy_wh numeric,
        carbon_g numeric, body json, routing_trace json, facts json)
      ON CONFLICT ${onConflict}
      RETURNING id, created_at, tier, facts
    )
    INSERT INTO recalculations (receipt_id, created_at)
    SELECT id, created_at FROM stored WHERE tier = 'degraded' AND facts ->> 'usage' IS NOT NULL
    ON CONFLICT DO NOTHING`;
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
