/**
 * Rows of the ledger, read so that their seals can be checked.
 *
 * Invariant: whoever serves a row or makes another one of it has asked `check` first, and whatever that finds is
 * reported.
 */
import { setImmediate } from 'node:timers/promises';
import { Prisma } from '@gw/prisma/client';
import type { ReceiptRow } from './entry-row.ts';
import { faultOf, type LedgerFault, type LedgerKeys, type LedgerRow, type SealedReceipt, sealed } from './seal.ts';

export interface FaultyRow {
  /** Of a receipt, or the digest of a part of facts, which has version 0. */
  readonly id: string;
  readonly version: number;
  readonly fault: string;
}

export interface SealsOptions {
  readonly keys: LedgerKeys;
  /** Since when every row has to be sealed; null means from the first one on. */
  readonly sealedSince: Date | null;
  /** Called with the rows that are not genuine, every time they are read. It must not reject. */
  readonly report: (faults: readonly FaultyRow[]) => Promise<void>;
}

export interface Seals {
  /** Seals rows with the current key; their facts are as they are stored. */
  seal(rows: readonly ReceiptRow[]): Promise<SealedReceipt[]>;
  /** The same for one row at once. */
  sealed(row: ReceiptRow): SealedReceipt;
  /** Returns what is wrong with each row, in their order; null means nothing. It reports what it finds. */
  check(rows: readonly LedgerRow[]): Promise<(LedgerFault | null)[]>;
  /** Tells of what else is not what was stored. */
  readonly report: SealsOptions['report'];
}

/**
 * A column as a double; one that no double can be, which only somebody with the database can have written, as NaN, since
 * Postgres would refuse the whole query for it. The bounds are the least and the greatest double.
 */
const asDouble = (column: string): Prisma.Sql =>
  Prisma.raw(`CASE WHEN ${column} <> 0 AND abs(${column}) NOT BETWEEN 5e-324 AND 1.7976931348623157e308 THEN 'NaN'
    ELSE ${column}::float8 END AS ${column.slice('r.'.length)}`);

/** The columns of a LedgerRow, for a query over `receipts r`. */
export const storedColumns = Prisma.sql`r.id, r.version, r.created_at, r.account_id, r.key_id, r.endpoint, r.model,
  r.region, r.tier, r.status, r.prompt_tokens::float8 AS prompt_tokens, r.completion_tokens::float8 AS completion_tokens,
  ${asDouble('r.energy_wh')}, ${asDouble('r.carbon_g')}, r.body::text AS body,
  r.routing_trace::text AS routing_trace, r.facts::text AS facts, r.shown, r.content_sha256, r.seal, r.seal_key`;

/** Rows that are worked on at once, in a few milliseconds; then requests to this process get their turn. */
const pieceSize = 25;

export function openSeals({ keys, report, sealedSince }: SealsOptions): Seals {
  return {
    seal: (rows) => inPieces(rows, (row) => sealed(row, keys)),
    sealed: (row) => sealed(row, keys),
    check: async (rows) => {
      const faults = await inPieces(rows, (row) => faultOf(row, keys, sealedSince));
      const faulty = rows.flatMap(({ id, version }, at) => {
        const fault = faults[at] ?? null;
        return fault === null ? [] : { id, version, fault };
      });
      if (faulty.length > 0) await report(faulty);
      return faults;
    },
    report,
  };
}

/** Makes something of each row, with turns for others between. */
export async function inPieces<T, R>(rows: readonly T[], each: (row: T) => R): Promise<R[]> {
  const done: R[] = [];
  for (const row of rows) {
    if (done.length > 0 && done.length % pieceSize === 0) await setImmediate();
    done.push(each(row));
  }
  return done;
}

/** Returns the rows that are genuine; the others are reported. */
export async function genuine<T extends LedgerRow>(seals: Seals, rows: readonly T[]): Promise<T[]> {
  const faults = await seals.check(rows);
  return rows.filter((_, at) => faults[at] === null);
}
