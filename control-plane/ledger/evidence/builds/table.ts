/** Makes a table of receipts with one row for each version. Lineages, proofs and sums do not fit into cells and are left out. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { signedStatement, type TableStatement, tableFormat } from '@gw/evidence/table-statement';
import { mediaTypes } from '../media-types.ts';
import { receiptOfRow, selectReceipts } from '../select.ts';
import { type Column, columnsOf, type TableRow, tableRow } from './columns.ts';
import type { Product, ProductOrder, ProductStores } from './product.ts';

/** Writes rows in one file format. */
export interface TableFormat {
  rows(rows: readonly TableRow[]): void;
  finish(): void;
}

/** Rows that are written in one go, which takes some milliseconds; other requests have their turn in between. */
const pieceSize = 100;

export function tableProduct(
  stores: ProductStores,
  { about, pack, writer }: ProductOrder,
  open: (columns: readonly Column[], write: (bytes: Uint8Array | string) => void) => TableFormat,
): Product {
  const digest = createHash('sha256');
  const withRouting = pack.request.asked.include_routing;
  const table = open(columnsOf(withRouting), (bytes) => {
    digest.update(bytes);
    writer.write(0, bytes);
  });
  let [receipts, excluded] = [0, 0];
  return {
    take: async (window) => {
      const selected = await selectReceipts(stores, about.accountId, window);
      for (let at = 0; at < selected.rows.length; at += pieceSize) {
        await setImmediate();
        const rows = selected.rows.slice(at, at + pieceSize);
        table.rows(
          rows.map((row) => (withRouting ? tableRow(receiptOfRow(row), row.routing_trace) : receiptOfRow(row))),
        );
      }
      receipts += selected.rows.length;
      excluded += selected.excluded.length;
      return selected.rows.length;
    },
    finish: async () => {
      table.finish();
      const statement: TableStatement = {
        format: tableFormat,
        id: `urn:uuid:${about.id}`,
        account: about.accountId,
        issued: about.issuedAt.toISOString(),
        from: pack.request.from,
        to: pack.request.until,
        media_type: mediaTypes[pack.format],
        receipts,
        excluded,
        sha256: digest.digest('hex'),
      };
      return JSON.stringify(await signedStatement(statement, stores.key));
    },
  };
}
