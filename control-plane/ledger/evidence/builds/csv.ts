/** Writes receipts as CSV (RFC 4180) with a header. Numbers are plain decimals, times are RFC 3339, and unknown values are empty. */
import { plainDecimal } from '@gw/evidence/decimal';
import { csvCell } from '../../../shared/csv-cell.ts';
import { type Column, plainValue } from './columns.ts';
import type { TableFormat } from './table.ts';

export function csvTable(columns: readonly Column[], write: (text: string) => void): TableFormat {
  const line = (cells: readonly string[]): string => `${cells.join()}\r\n`;
  write(line(columns.map(({ name }) => name)));
  return {
    rows: (rows) => {
      const lines = rows.map((fields) => {
        return line(
          columns.map(({ kind, name }) => {
            const value = plainValue(fields[name]);
            return csvCell(kind === 'decimal' && typeof value === 'number' ? plainDecimal(value) : value);
          }),
        );
      });
      write(lines.join(''));
    },
    finish: () => {},
  };
}
