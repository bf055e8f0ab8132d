/**
 * Puts rows into Postgres, idempotently: the id, version and time of a receipt are its primary key.
 *
 * Invariant: in whatever order the entries of one call come, and however often, what is stored in the end is the same:
 * the receipt that the client was shown, and the facts, if any entry has them. Later versions are never touched. Rows
 * are inserted; the two steps that one may take afterwards are in settle.ts.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { type Database, DatabaseError, Prisma, queryTexts } from '@gw/prisma/client';
import type { ReceiptRow } from './entry-row.ts';
import { type FactsPart, splitRows, storingTexts } from './facts-parts.ts';
import { gridUsed, noteGridUses } from './note-late.ts';
import { inPieces, type Seals } from './sealed-rows.ts';
import { isMade, settleReceipts } from './settle.ts';

/**
 * A row as the bytes that are stored. What it was made of is not kept: the objects and texts of a whole batch would outlive every
 * short collection of garbage, which took a third of the ledger's time.
 */
export interface ReadyRow extends Pick<ReceiptRow, 'id' | 'version' | 'created_at'> {
  /** A SealedReceipt as JSON, UTF-8, without its columns of JSON. */
  readonly bytes: Buffer;
  /** These, in the order of `jsonColumns`; null: there is none. */
  readonly columns: readonly (Buffer | null)[];
  readonly parts: readonly FactsPart[];
  /** The grid value that it was made with (`gridUsed`); null: none. */
  readonly uses: string | null;
  /** Makes the row again. */
  readonly row: () => ReceiptRow;
}

/** `again` makes the row once more, for the few that need it. */
export function readyRow(row: ReceiptRow, seals: Pick<Seals, 'sealed'>, again: () => ReceiptRow = () => row): ReadyRow {
  const { created_at, id, version } = row;
  const { parts, rows } = splitRows([row]);
  const { body, facts, routing_trace, ...others } = seals.sealed(elementAt(rows, 0));
  const bytes = Buffer.from(JSON.stringify(others));
  const columns = [Buffer.from(JSON.stringify(body)), jsonBytes(routing_trace), jsonBytes(facts)];
  return { id, version, created_at, bytes, columns, parts, uses: gridUsed(row), row: again };
}

/** Behind an even number of backslashes. */
const nul = /(?:^|[^\\])(?:\\\\)*\\u0000/;

/** Throws for what Postgres would store as it is, and refuse whenever a statement looks into it. Into a body the insertion does. */
function jsonBytes(value: unknown): Buffer | null {
  if (value === null) return null;
  const json = JSON.stringify(value);
  if (json.includes('\\u0000') && nul.test(json)) throw new Error('Postgres cannot read JSON with a NUL in it');
  return Buffer.from(json);
}

/** Columns whose JSON Postgres takes as it is: inside of the JSON of their row it would be read three times. */
const jsonColumns = ['body', 'routing_trace', 'facts'] as const;

/** Stores rows. One that is there stays as it is, unless the client was shown another receipt or it lacks facts. */
export async function insertReceipts(db: Database, rows: readonly ReadyRow[], seals: Seals): Promise<void> {
  const wanted = distinct(rows, seals);
  const inserted = await insert(db, wanted);
  if (inserted.size < wanted.length) {
    const others = wanted.filter((row) => !inserted.has(keyOf(row)));
    await settleReceipts(db, await inPieces(others, ({ row }) => row()), seals);
  }
  await noteGridUses(
    db,
    rows.flatMap(({ uses }) => uses ?? []),
  );
}

const keyOf = ({ id, version }: Pick<ReceiptRow, 'id' | 'version'>): string => `${id} ${version}`;

/**
 * Each id and version once, as the client was shown it if it was; in one order, so that two ingesters never wait in a
 * ring.
 */
function distinct(rows: readonly ReadyRow[], seals: Seals): ReadyRow[] {
  const byKey = new Map<string, ReadyRow>();
  for (const row of rows) {
    const first = byKey.get(keyOf(row));
    byKey.set(keyOf(row), first === undefined ? row : readyRow(merged(first.row(), row.row()), seals));
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** What the client was shown stands above what a sidecar made, and that above a close for want of its word. */
const weight = (row: ReceiptRow): number => (row.shown ? 2 : isMade(row) ? 1 : 0);

function merged(first: ReceiptRow, later: ReceiptRow): ReceiptRow {
  const base = weight(later) > weight(first) ? later : first;
  return {
    ...base,
    facts: first.facts ?? later.facts,
    routing_trace: first.routing_trace ?? later.routing_trace,
  };
}

/** The rows are $1, their `jsonColumns` $2 to $4, the parts that they name $5. */
const insertion = `
  WITH parts AS (${storingTexts('$5')}), stored AS (
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
      prompt_tokens, completion_tokens, energy_wh, carbon_g, body, routing_trace, facts, shown, content_sha256, seal,
      seal_key)
    SELECT id, version, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens,
      completion_tokens, energy_wh, carbon_g, body, routing_trace, facts, shown, content_sha256, seal, seal_key
    FROM ROWS FROM (
      json_to_recordset($1::json) AS (
        id text, version int, created_at timestamptz, account_id text, key_id text, endpoint text, model text,
        region text, tier text, status text, prompt_tokens bigint, completion_tokens bigint, energy_wh numeric,
        carbon_g numeric, shown boolean, content_sha256 text, seal text, seal_key int),
      unnest($2::json[]), unnest($3::json[]), unnest($4::json[])
    ) AS entry (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens,
      completion_tokens, energy_wh, carbon_g, shown, content_sha256, seal, seal_key, body, routing_trace, facts)
    ON CONFLICT (id, version, created_at) DO NOTHING
    RETURNING id, version, created_at, tier, facts
  ), noted AS (
    INSERT INTO recalculations (receipt_id, created_at)
    SELECT id, created_at FROM stored WHERE tier = 'degraded' AND facts ->> 'usage' IS NOT NULL
    ON CONFLICT DO NOTHING
  )
  SELECT id || ' ' || version AS key FROM stored`;

/**
 * One statement, one round trip, for the whole batch: the rows, the parts that they name, and which of them wait to be
 * recalculated. Parts that are there are sent again: to remember which those are would be wrong once a backup is restored.
 */
async function insert(db: Database, rows: readonly ReadyRow[]): Promise<ReadonlySet<string>> {
  const parts = new Map(rows.flatMap((row) => row.parts.map((part) => [part.sha256, part])));
  const stored = await queryTexts<{ key: string }>(db, insertion, [
    listOf(rows.map(({ bytes }) => bytes)),
    ...jsonColumns.map((_, at) => jsonArray(rows.map(({ columns }) => columns[at] ?? null))),
    Buffer.from(JSON.stringify([...parts.values()])),
  ]);
  return new Set(stored.map(({ key }) => key));
}

const [opening, comma, closing] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Makes a list in JSON of values in JSON. */
const listOf = (values: readonly Buffer[]): Buffer =>
  Buffer.concat([...values.flatMap((value, at) => [at === 0 ? opening : comma, value]), closing]);

const jsonOid = 114;

/** A `json[]` of one dimension in the binary form of Postgres: array_recv in src/backend/utils/adt/arrayfuncs.c. */
function jsonArray(values: readonly (Buffer | null)[]): Buffer {
  const head = Buffer.alloc(20);
  head.writeInt32BE(1, 0);
  head.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  head.writeInt32BE(jsonOid, 8);
  head.writeInt32BE(values.length, 12);
  head.writeInt32BE(1, 16);
  const pieces = values.flatMap((value) => {
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(value?.length ?? -1);
    return value === null ? length : [length, value];
  });
  return Buffer.concat([head, ...pieces]);
}

/**
 * Whether Postgres refused the data itself (SQLSTATE class 22: data exception, 23: integrity), so that trying again is
 * in vain. Everything else, known or unknown, counts as passing: a receipt is never given up for an outage.
 */
export function isRefusedData(error: unknown): boolean {
  if (error instanceof DatabaseError) return isRefusal(error.code);
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  const adapterError = error.meta?.driverAdapterError;
  if (typeof adapterError !== 'object' || adapterError === null || !('cause' in adapterError)) return false;
  const { cause } = adapterError;
  if (typeof cause !== 'object' || cause === null || !('originalCode' in cause)) return false;
  return isRefusal(cause.originalCode);
}

const isRefusal = (sqlState: unknown): boolean => typeof sqlState === 'string' && /^2[23]/.test(sqlState);
