/**
 * Rows of the ledger as they were stored, decompressed: the only way in which anybody reads their receipts, routing traces and facts.
 *
 * Invariant: a row that cannot be read, since its dictionary is gone or it was altered, is given without a receipt (an empty text), which no
 * check of a seal passes. It hides no other row.
 */
import { textDigest } from '@gw/contract/internal/ledger-entry';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { z } from 'zod';
import { dictionaryOf, type StoredTexts, uncompressed } from './compressed-rows.ts';
import type { LedgerRow } from './seal.ts';
import { inPieces } from './sealed-rows.ts';

/**
 * A column as a double; one that no double can be, which only somebody with the database can have written, as NaN, since
 * Postgres would refuse the whole query for it. The bounds are the least and the greatest double.
 */
const asDouble = (column: string): Prisma.Sql =>
  Prisma.raw(`CASE WHEN ${column} <> 0 AND abs(${column}) NOT BETWEEN 5e-324 AND 1.7976931348623157e308 THEN 'NaN'
    ELSE ${column}::float8 END AS ${column.slice('r.'.length)}`);

/** The columns of a StoredTexts, for a query over `receipts r`. */
export const textColumns = Prisma.sql`r.body::text AS body, r.routing_trace::text AS routing_trace, r.facts::text AS facts,
  r.shown, r.compressed`;

/** The columns of a LedgerRow, for a query over `receipts r` that `readRows` runs. */
export const storedColumns = Prisma.sql`r.id, r.version, r.created_at, r.account_id, r.key_id, r.endpoint, r.model,
  r.region, r.tier, r.status, r.prompt_tokens::float8 AS prompt_tokens, r.completion_tokens::float8 AS completion_tokens,
  ${asDouble('r.energy_wh')}, ${asDouble('r.carbon_g')}, ${textColumns}, r.content_sha256, r.seal, r.seal_key`;

/** In a query that joins receipts to something else, `body` is null where there is no receipt. */
type Readable = Omit<StoredTexts, 'body'> & { readonly body: string | null };

/**
 * Runs a query for rows, or for their texts alone, and gives them as they were before they were compressed. Dictionaries are read each time, so that
 * the checks see what everybody will see.
 */
export async function readRows<Row extends Readable = LedgerRow>(db: Queryable, query: Prisma.Sql): Promise<Row[]> {
  return whole(db, await db.$queryRaw<Row[]>(query));
}

async function whole<Row extends Readable>(db: Queryable, rows: readonly Row[]): Promise<Row[]> {
  const needed = rows.flatMap(({ compressed }) => (compressed === null ? [] : (dictionaryOf(compressed) ?? [])));
  const dictionaries = await dictionariesOf(db, [...new Set(needed)]);
  return inPieces(rows, (row) => {
    const { body, compressed } = row;
    if (body === null || compressed === null) return row;
    const digest = dictionaryOf(compressed);
    if (digest === null) return { ...row, body: '' };
    const dictionary = dictionaries.get(digest);
    if (dictionary === undefined) return { ...row, body: '', unreadable: 'no dictionary' };
    return { ...row, ...(uncompressed({ ...row, body, compressed }, dictionary) ?? { body: '' }) };
  });
}

/**
 * Receipts before they were settled (settle.ts), as JSON: by their id, a colon and the digest of the row that they stood in. Null or empty: what is
 * there is none.
 */
export async function replacedBodies(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  // As a text: somebody with the database can have written JSON that fails each statement which looks into it.
  const found = await db.$queryRaw<{ receipt_id: string; replaced: string }[]>`
    SELECT receipt_id, replaced::text AS replaced FROM receipt_replacements WHERE receipt_id = ANY (${[...new Set(ids)]})`;
  const rows = found.map(({ receipt_id, replaced }) => replacedRow(receipt_id, JSON.parse(replaced)));
  return new Map((await whole(db, rows)).map(({ body, name }) => [name, body]));
}

type Replaced = Readonly<Record<string, unknown>> | null;

/** A row as `to_json` writes it (guard_receipt): bytes in hexadecimal, behind `\x`. What is something else has no bytes that can be read. */
function replacedRow(id: string, replaced: Replaced) {
  const text = (name: string): string | null => (replaced?.[name] == null ? null : JSON.stringify(replaced[name]));
  const { compressed, content_sha256: digest, shown } = replaced ?? {};
  return {
    name: `${id}:${typeof digest === 'string' ? digest : ''}`,
    body: text('body'),
    routing_trace: text('routing_trace'),
    facts: text('facts'),
    shown: shown === true,
    compressed: compressed == null ? null : Buffer.from(String(compressed).slice(2), 'hex'),
  };
}

/** The columns of a LedgerRow in JSON, without its time and its texts. */
export const jsonColumns = {
  id: z.string(),
  version: z.int(),
  account_id: z.string(),
  key_id: z.string(),
  endpoint: z.string(),
  model: z.string(),
  region: z.string().nullable(),
  tier: z.string(),
  status: z.string(),
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  energy_wh: z.number().nullable(),
  carbon_g: z.number().nullable(),
  content_sha256: z.string(),
  seal: z.string(),
  seal_key: z.int(),
};
const replacedSchema = z.object({
  ...jsonColumns,
  created_at: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
});

/** A row as it was before it was replaced. */
export interface ReplacedRow extends LedgerRow {
  /** The place among all that were replaced, as text. */
  readonly seq: string;
}

/** Returns the rows that these receipts had before, in the order in which they were replaced; without those that can be none. */
export async function replacedRows(db: Queryable, ids: readonly string[]): Promise<ReplacedRow[]> {
  if (ids.length === 0) return [];
  const found = await db.$queryRaw<{ seq: string; receipt_id: string; version: number; replaced: string }[]>`
    SELECT seq::text AS seq, receipt_id, version, replaced::text AS replaced FROM receipt_replacements
    WHERE receipt_id = ANY (${[...new Set(ids)]}) ORDER BY receipt_replacements.seq`;
  const rows = found.flatMap(({ receipt_id: id, replaced, seq, version }): ReplacedRow[] => {
    const value: unknown = JSON.parse(replaced);
    const { data } = replacedSchema.safeParse(value);
    if (data?.id !== id || data.version !== version) return [];
    const { name: _, ...texts } = replacedRow(id, value as Replaced);
    return texts.body === null ? [] : [{ ...data, ...texts, body: texts.body, seq }];
  });
  return whole(db, rows);
}

async function dictionariesOf(db: Queryable, digests: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  if (digests.length === 0) return new Map();
  const rows = await db.$queryRaw<{ sha256: string; content: string }[]>(
    Prisma.sql`SELECT sha256, content FROM receipt_dictionaries WHERE sha256 = ANY (${digests})`,
  );
  const genuine = rows.filter(({ content, sha256 }) => textDigest(content) === sha256);
  return new Map(genuine.map(({ content, sha256 }) => [sha256, Buffer.from(content)]));
}
