/**
 * The seals of the rows of the ledger: made, and checked.
 *
 * Invariant: whoever serves a row or makes another one of it has asked `check` first, and whatever that finds is
 * reported.
 */

import { setImmediate } from 'node:timers/promises';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { type SealedKind, sealFault, sealOf } from '../../shared/seal.ts';
import { Compressor } from './compressed-rows.ts';
import type { ReceiptRow, Texts } from './entry-row.ts';
import { faultOf, type LedgerFault, type LedgerRow, type Seal, type SealedReceipt, sealed, sealFor } from './seal.ts';

export interface FaultyRow {
  /** The id of a receipt, or the digest of a part of facts, which has version 0; of a log its account, and the index in place of the version. */
  readonly id: string;
  readonly version: number;
  readonly fault: string;
}

export interface SealsOptions {
  readonly keys: KeyRing;
  /** Called with the rows that are not genuine, every time they are read. It must not reject. */
  readonly report: (faults: readonly FaultyRow[], kind?: 'log' | 'receipt') => Promise<void>;
}

/** A seal in hexadecimal, and the id of its key. */
export interface TextSeal {
  readonly seal: string;
  readonly id: number;
}

export interface Seals {
  /** Seals rows with the current key; their facts are as they are stored. */
  seal(rows: readonly ReceiptRow[]): Promise<SealedReceipt[]>;
  /** Seals one row immediately; `texts` is its JSON as it is stored. */
  sealFor(row: ReceiptRow, texts: Texts): Seal;
  /** Returns what is wrong with each row, in their order; null means nothing. It reports what it finds. */
  check(rows: readonly LedgerRow[]): Promise<(LedgerFault | null)[]>;
  /** Seals the head of a batch (batches.ts). */
  sealHead(head: string): Pick<Seal, 'seal' | 'seal_key'>;
  isSealedHead(head: string, seal: string | null, key: number | null): boolean;
  /** Returns what is wrong with a row that is not in the ledger any more. It reports nothing. */
  faultOf(row: LedgerRow): LedgerFault | null;
  /** Seals what is no receipt with the current key. */
  sealText(kind: SealedKind, text: string): TextSeal;
  /** Returns what is wrong with the seal of a text; null means nothing. It reports nothing. */
  textFault(kind: SealedKind, text: string, seal: TextSeal): 'forged' | 'unknown key' | null;
  /** Compresses rows that are sealed, before they are stored. */
  readonly compressor: Compressor;
  /** Tells of what else is not what was stored. */
  readonly report: SealsOptions['report'];
}

/** Rows that are worked on at once, in a few milliseconds; then requests to this process get their turn. */
const pieceSize = 25;

export function openSeals({ keys, report }: SealsOptions): Seals {
  return {
    seal: (rows) => inPieces(rows, (row) => sealed(row, keys)),
    sealFor: (row, texts) => sealFor(row, texts, keys),
    check: async (rows) => {
      const faults = await inPieces(rows, (row) => faultOf(row, keys));
      const faulty = rows.flatMap(({ id, version }, at) => {
        const fault = faults[at] ?? null;
        return fault === null ? [] : { id, version, fault };
      });
      if (faulty.length > 0) await report(faulty);
      return faults;
    },
    sealHead: (head) => ({ seal: sealOf(keys.current, 'gw.batch', head), seal_key: keys.current.id }),
    isSealedHead: (head, seal, id) =>
      seal !== null && id !== null && sealFault(keys, 'gw.batch', head, { id, seal }) === null,
    faultOf: (row) => faultOf(row, keys),
    sealText: (kind, text) => ({ seal: sealOf(keys.current, kind, text), id: keys.current.id }),
    textFault: (kind, text, seal) => sealFault(keys, kind, text, seal),
    compressor: new Compressor(),
    report,
  };
}

/** Returns the same seals, which report nothing of what they find. */
export const withoutReport = (seals: Seals): Seals => ({
  ...seals,
  check: (rows) => inPieces(rows, seals.faultOf),
  report: async () => undefined,
});

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
