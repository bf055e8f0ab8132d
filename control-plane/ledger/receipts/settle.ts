/**
 * The three steps that a receipt of the first version may take after it was stored: it becomes the one that the client
 * was shown; it gets the facts that it was stored without; or, if it was only closed for want of a word from its
 * sidecar, it becomes the one that the sidecar had made.
 *
 * Invariant: each step is taken once, by the function of the database that allows these three and keeps the row as it
 * was; the services may not change the ledger otherwise. A row that is not genuine takes none: what was altered is
 * never sealed. One that cannot be read for now may take it later, so the entry is kept.
 */
import { type Database, Prisma } from '@gw/prisma/client';
import { columnsOf } from './compressed-rows.ts';
import { type ReceiptRow, type Texts, textsOf } from './entry-row.ts';
import { splitRows, storingOf } from './facts-parts.ts';
import { readRows, storedColumns } from './read-rows.ts';
import { type LedgerRow, parsedColumn, type SealedReceipt } from './seal.ts';
import { genuine, inPieces, type Seals } from './sealed-rows.ts';

const tries = 5;

/** The row of an entry cannot be read before its dictionary is back. */
export class UnreadableRowError extends Error {
  constructor(why: string | undefined) {
    super(`its row cannot be read: ${why}`);
  }
}

/** Takes the steps for `rows`, whose ids were stored already. Throws if Postgres is away; doing it again is safe. */
export async function settleReceipts(db: Database, rows: readonly ReceiptRow[], seals: Seals): Promise<void> {
  // An entry that has neither adds nothing to the one that is stored.
  const { parts, rows: adding } = splitRows(
    rows.filter((row) => row.version === 1 && (isShown(row) || isMade(row) || row.facts !== null)),
  );
  for (let left = tries; adding.length > 0; left--) {
    const rows = await stored(db, adding);
    const before = await genuine(seals, rows);
    const unreadable = rows.find((row) => row.unreadable !== undefined);
    if (unreadable !== undefined) throw new UnreadableRowError(unreadable.unreadable);
    const changes = before.flatMap((row) => after(row, adding) ?? []);
    if (changes.length === 0) return;
    if (left === 0) throw new Error('Receipts change faster than they can be settled.');
    const replaced = new Map(before.map((row) => [row.id, row]));
    const sealed = await inPieces(changes, (row) => {
      const old = replaced.get(row.id);
      return replacing({ ...row, ...seals.sealFor(row, textsAfter(row, old)) }, old);
    });
    // Before the rows, whose triggers read them.
    await db.$executeRaw`${storingOf(parts)}`;
    // It is one statement, so that none is settled without being noted. Another ingester may have settled some of them
    // meanwhile; those are looked at again.
    await db.$executeRaw`
      WITH settled AS (SELECT * FROM settle_receipts(${JSON.stringify(sealed)}::json))
      INSERT INTO recalculations (receipt_id, created_at)
      SELECT receipt_id, receipt_created_at FROM settled WHERE is_recalculable
      ON CONFLICT DO NOTHING`;
  }
}

async function stored(db: Database, rows: readonly ReceiptRow[]): Promise<LedgerRow[]> {
  const keys = JSON.stringify(rows.map(({ created_at, id }) => ({ created_at, id })));
  return readRows(
    db,
    Prisma.sql`
      SELECT ${storedColumns} FROM receipts r
      WHERE r.version = 1 AND (r.id, r.created_at) IN (
        SELECT id, created_at FROM json_to_recordset(${keys}::json) AS k (id text, created_at timestamptz))
      ORDER BY r.id`,
  );
}

/** Texts that are compressed stay to the byte. */
function textsAfter(row: ReceiptRow, before: LedgerRow | undefined): Texts {
  if (before == null || before.compressed === null) return textsOf(row);
  return { body: JSON.stringify(row.body), routing_trace: before.routing_trace, facts: before.facts };
}

/** Returns what `settle_receipts` takes. A compressed row keeps what is compressed, with its routing trace and facts, and so their columns. */
function replacing(row: SealedReceipt, before: LedgerRow | undefined) {
  const replaces = before?.content_sha256 ?? null;
  if (before == null || before.compressed === null) return { ...row, replaces };
  const { facts, routing_trace } = columnsOf(row);
  return { ...row, replaces, facts: parsedColumn(facts), routing_trace: parsedColumn(routing_trace) };
}

/** Whether the entry can replace a stored receipt: only one without numbers can. */
const isShown = ({ carbon_g, energy_wh, shown, tier }: ReceiptRow): boolean =>
  shown && tier === 'degraded' && energy_wh === null && carbon_g === null;

/** Whether a sidecar made it. A stand-in was made because its sidecar reported nothing; a receipt that the client was shown is neither. */
export const isMade = ({ body, shown }: Pick<ReceiptRow, 'body' | 'shown'>): boolean =>
  !shown && (body as { degraded_reason?: unknown }).degraded_reason !== 'sidecar_unavailable';

/** Returns the row with what the entries add to it; null if they add nothing. */
function after(row: LedgerRow, entries: readonly ReceiptRow[]): ReceiptRow | null {
  const own = entries.filter(({ id }) => id === row.id);
  const body: unknown = JSON.parse(row.body);
  const shown = row.shown ? undefined : own.find(isShown);
  const made = row.shown || isMade({ body, shown: false }) ? undefined : own.find(isMade);
  const next = shown ?? made;
  const facts = parsedColumn(row.facts) ?? own.find((entry) => entry.facts !== null)?.facts ?? null;
  if (next === undefined && (row.facts !== null || facts === null)) return null;
  const { compressed: _, ...before } = row;
  const base = { ...before, ...next, body: next?.body ?? body };
  const { account_id, endpoint, key_id } = row;
  return {
    ...base,
    account_id,
    endpoint,
    key_id,
    created_at: row.created_at.toISOString(),
    routing_trace:
      parsedColumn(row.routing_trace) ?? own.find(({ routing_trace }) => routing_trace !== null)?.routing_trace ?? null,
    facts,
    shown: row.shown || shown !== undefined,
  };
}
