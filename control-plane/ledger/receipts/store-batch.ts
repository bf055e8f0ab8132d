/**
 * Puts rows into Postgres, idempotently: the id, version and time of a receipt are its primary key.
 *
 * Invariant: in whatever order the entries of one call come, and however often, what is stored in the end is the same:
 * the receipt that the client was shown, and the facts, if any entry has them. Later versions are never touched. Rows
 * are inserted; the steps that one may take afterwards are in settle.ts.
 */
import { type CopyStatement, type Database, queryTexts, runOverCopy } from '@gw/prisma/client';
import { sqlStateOf } from '../../shared/sql-state.ts';
import { batchColumns, type ChainedBatch, sealBatch } from './batches.ts';
import type { Dictionary } from './compressed-rows.ts';
import type { Column, CopyLines, Line } from './copy-lines.ts';
import { type CameRow, type ReceiptRow, type Texts, textsOf } from './entry-row.ts';
import { type FactsPart, splitFacts, storingTexts } from './facts-parts.ts';
import { gridUsed, noteGridUses } from './note-late.ts';
import type { Seal, SealedReceipt } from './seal.ts';
import { inPieces, type Seals } from './sealed-rows.ts';
import { isMade, settleReceipts, UnreadableRowError } from './settle.ts';

/**
 * A row ready to be copied. What it was made of is not kept: the objects and texts of a whole batch would outlive every short
 * collection of garbage, which took a third of the ledger's time.
 */
export interface ReadyRow extends Pick<SealedReceipt, 'id' | 'version' | 'created_at' | 'content_sha256'> {
  /** Its `columns`. */
  readonly line: Line;
  readonly parts: readonly FactsPart[];
  /** The dictionary that it is compressed with; null: it may still change, so it is not compressed. */
  readonly dictionary: Dictionary | null;
  /** The grid value that it was made with (`gridUsed`); null: none. */
  readonly uses: string | null;
  /** Makes the row again. */
  readonly row: () => ReceiptRow;
}

/** `again` makes the row once more, for the few that need it. */
export function readyRow(
  { row, split, texts: came }: CameRow,
  seals: Pick<Seals, 'sealFor' | 'compressor'>,
  lines: CopyLines,
  again: () => ReceiptRow = () => row,
): ReadyRow {
  const { created_at, id, version } = row;
  const { parts, stored } = split ?? splitFacts(row.facts);
  const texts = readable({ ...came, facts: stored === null ? null : JSON.stringify(stored) });
  const seal = seals.sealFor(row, texts);
  const compressed = seals.compressor.compress(row, texts, stored);
  const line = lines.add(columnsOf(row, seal, compressed?.columns ?? texts, compressed?.compressed ?? null));
  return {
    id,
    version,
    created_at,
    content_sha256: seal.content_sha256,
    line,
    parts,
    dictionary: compressed?.dictionary ?? null,
    uses: gridUsed(row),
    row: again,
  };
}

const columns = `id, version, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens,
  completion_tokens, energy_wh, carbon_g, body, routing_trace, facts, shown, compressed, content_sha256, seal, seal_key`;

const columnsOf = (
  row: ReceiptRow,
  { content_sha256, seal, seal_key }: Seal,
  { body, facts, routing_trace }: Texts,
  compressed: Buffer | null,
): Column[] => [
  row.id,
  row.version,
  row.created_at,
  row.account_id,
  row.key_id,
  row.endpoint,
  row.model,
  row.region,
  row.tier,
  row.status,
  row.prompt_tokens,
  row.completion_tokens,
  row.energy_wh,
  row.carbon_g,
  body,
  routing_trace,
  facts,
  row.shown,
  compressed === null ? null : `\\x${compressed.toString('hex')}`,
  content_sha256,
  seal,
  seal_key,
];

/** A NUL or half of a pair of surrogates, behind an even number of backslashes. */
const unreadable = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/;

/** Throws for what Postgres would store as it is, and refuse whenever a statement looks into it. Into a body the insertion does. */
function readable(texts: Texts): Texts {
  for (const json of [texts.routing_trace, texts.facts])
    if (json?.includes('\\u') && unreadable.test(json))
      throw new Error('Postgres cannot read JSON with a NUL or half of a character in it');
  return texts;
}

/**
 * Stores rows of `lines`. One that is there stays as it is, unless the client was shown another receipt or it lacks facts. Returns the head of
 * their batch, as `sealBatch` does.
 */
export async function insertReceipts(
  db: Database,
  rows: readonly ReadyRow[],
  seals: Seals,
  lines: CopyLines,
): Promise<string | null> {
  const wanted = distinct(rows, seals, lines);
  await storeParts(db, wanted);
  await seals.compressor.store(db, [...new Set(wanted.flatMap(({ dictionary }) => dictionary ?? []))]);
  const { batch, present } = await insert(db, wanted, lines);
  const isPresent = (row: ReadyRow): boolean => present.has(keyOf(row));
  const added = present.size === 0 ? wanted : wanted.filter((row) => !isPresent(row));
  const head = batch === undefined ? null : await sealBatch(db, seals, batch, added);
  if (present.size > 0) {
    const others = wanted.filter(isPresent);
    await expectThere(db, others, seals);
    await settleReceipts(db, await inPieces(others, ({ row }) => row()), seals);
  }
  await noteGridUses(
    db,
    rows.flatMap(({ uses }) => uses ?? []),
  );
  return head;
}

/** The database took a row and does not have it: somebody has made it swallow rows. */
class NotKeptError extends Error {}

/** Reports rows that are not there although they could not be inserted, and throws, so that their entries are set aside and not lost. */
async function expectThere(db: Database, rows: readonly ReadyRow[], seals: Seals): Promise<void> {
  const keys = JSON.stringify(rows.map(({ created_at, id, version }) => ({ created_at, id, version })));
  const there = await db.$queryRaw<{ key: string }[]>`
    SELECT r.id || ' ' || r.version AS key FROM json_to_recordset(${keys}::json) AS k (id text, version int, created_at timestamptz)
    JOIN receipts r ON r.id = k.id AND r.version = k.version AND r.created_at = k.created_at`;
  const found = new Set(there.map(({ key }) => key));
  const gone = rows.filter((row) => !found.has(keyOf(row)));
  if (gone.length === 0) return;
  await seals.report(gone.map(({ id, version }) => ({ id, version, fault: 'not kept' })));
  throw new NotKeptError('the database does not keep it');
}

/** Before the rows that name them. To remember which are there would be wrong once a backup is restored, so they are sent again. */
async function storeParts(db: Database, rows: readonly ReadyRow[]): Promise<void> {
  const parts = new Map(rows.flatMap((row) => row.parts.map((part) => [part.sha256, part])));
  if (parts.size > 0) await queryTexts(db, storingTexts('$1'), [Buffer.from(JSON.stringify([...parts.values()]))]);
}

const keyOf = ({ id, version }: Pick<ReceiptRow, 'id' | 'version'>): string => `${id} ${version}`;

function made(row: ReceiptRow): CameRow {
  const { body, routing_trace } = textsOf(row);
  return { row, texts: { body, routing_trace }, split: null };
}

/** Each id and version once, as the client was shown it if it was. */
function distinct(rows: readonly ReadyRow[], seals: Seals, lines: CopyLines): ReadyRow[] {
  const byKey = new Map<string, ReadyRow>();
  for (const row of rows) {
    const first = byKey.get(keyOf(row));
    byKey.set(keyOf(row), first === undefined ? row : readyRow(made(merged(first.row(), row.row())), seals, lines));
  }
  return [...byKey.values()];
}

/** The receipt that the client was shown takes precedence over one that a sidecar made, and that over a stand-in. */
const weight = (row: ReceiptRow): number => (row.shown ? 2 : isMade(row) ? 1 : 0);

function merged(first: ReceiptRow, later: ReceiptRow): ReceiptRow {
  const base = weight(later) > weight(first) ? later : first;
  return {
    ...base,
    facts: first.facts ?? later.facts,
    routing_trace: first.routing_trace ?? later.routing_trace,
  };
}

/**
 * The rows come as lines, and lie in one piece, as in the ledger, so that nothing tries to compress them. They are inserted in one order, so that two
 * ingesters never wait in a ring, and in one statement, so that none is stored without being noted. It returns the keys of those that were there,
 * and the batch of the others, which is put into the chain last of all (batches.ts).
 */
const insertion: CopyStatement = {
  table: `
    CREATE TEMPORARY TABLE IF NOT EXISTS new_receipts (LIKE receipts INCLUDING STORAGE) WITH (toast_tuple_target = 8160)
    ON COMMIT DELETE ROWS`,
  copy: `COPY new_receipts (${columns}) FROM STDIN`,
  statement: `
    WITH stored AS (
      INSERT INTO receipts (${columns}, arrived)
      SELECT ${columns}, here FROM new_receipts, current_arrival() AS here ORDER BY id COLLATE "C", version
      ON CONFLICT (id, version, created_at) DO NOTHING
      RETURNING id, version, created_at, tier, facts
    ), noted AS (
      INSERT INTO recalculations (receipt_id, created_at)
      SELECT id, created_at FROM stored WHERE tier = 'degraded' AND facts ->> 'usage' IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    SELECT n.id || ' ' || n.version AS key FROM new_receipts n
    WHERE NOT EXISTS (SELECT FROM stored s WHERE s.id = n.id AND s.version = n.version);
    SET CONSTRAINTS receipt_batches_chained IMMEDIATE;
    SELECT ${batchColumns} FROM receipt_batches WHERE arrived = current_arrival()`,
};

interface Inserted {
  /** The keys of the rows that were there. */
  readonly present: ReadonlySet<string>;
  /** Absent if all were. */
  readonly batch: ChainedBatch | undefined;
}

async function insert(db: Database, rows: readonly ReadyRow[], lines: CopyLines): Promise<Inserted> {
  const text = lines.together(rows.map(({ line }) => line));
  const [present, , batches] = await runOverCopy<[{ key: string }[], [], ChainedBatch[]]>(db, insertion, text);
  return { present: new Set(present.map(({ key }) => key)), batch: batches[0] };
}

/** Why trying again is in vain for now; null: it is not. */
export function refusalOf(error: unknown): string | null {
  if (error instanceof UnreadableRowError || error instanceof NotKeptError) return error.message;
  return isRefusedData(error) ? 'the database refuses its values' : null;
}

/**
 * Whether Postgres refused the data itself, so that trying again is in vain. Everything else, known or unknown, counts as passing:
 * a receipt is never given up for an outage.
 */
export function isRefusedData(error: unknown): boolean {
  const state = sqlStateOf(error);
  // Class 22: data exception, 23: integrity.
  return state !== null && /^2[23]/.test(state);
}
