/**
 * Receipts as Parquet: amounts are DECIMAL(38, 24), times TIMESTAMP in milliseconds of UTC, texts UTF-8.
 *
 * Invariant: a group of rows is in memory at once, and is written before the next one begins.
 */
import { plainDecimal } from '@gw/evidence/decimal';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type Column, type ColumnKind, plainValue, type TableRow } from './columns.ts';
import type { TableFormat } from './table.ts';

const rowsOfGroup = 5000;
/** A receipt's amounts have twelve digits, so every amount from 10^-12 to 10^14 fits exactly. */
const scale = 24;

const types = {
  count: { type: 'INT64' },
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, converted_type: 'DECIMAL', precision: 38, scale },
  flag: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const satisfies Record<ColumnKind, object>;

/** Hands on what was written and forgets it; places in the file are counted on. */
class PassingWriter extends ByteWriter {
  readonly #write: (bytes: Uint8Array) => void;

  constructor(write: (bytes: Uint8Array) => void) {
    super(1024 * 1024);
    this.#write = write;
  }

  flush(): void {
    this.#write(this.getBytes().slice());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

export function parquetTable(columns: readonly Column[], write: (bytes: Uint8Array) => void): TableFormat {
  const schema = [
    { name: 'receipts', num_children: columns.length },
    ...columns.map(({ kind, name }) => ({ name, repetition_type: 'OPTIONAL' as const, ...types[kind] })),
  ];
  const file = new ParquetWriter({ writer: new PassingWriter(write), schema, createdBy: 'gw' });
  let waiting: TableRow[] = [];
  const group = (): void => {
    if (waiting.length === 0) return;
    const columnData = columns.map((column) => ({
      name: column.name,
      data: waiting.map((row) => cellOf(row, column)),
      // Readers need none for groups that are this small.
      offsetIndex: false,
    }));
    // The writer has nothing to wait for.
    void file.write({ columnData, rowGroupSize: rowsOfGroup });
    waiting = [];
  };
  return {
    rows: (rows) => {
      waiting.push(...rows);
      if (waiting.length >= rowsOfGroup) group();
    },
    finish: () => {
      group();
      void file.finish();
    },
  };
}

function cellOf(row: TableRow, { kind, name }: Column): unknown {
  const value = plainValue(row[name]);
  if (value === null) return null;
  switch (kind) {
    case 'count':
      return BigInt(Number(value));
    case 'decimal':
      return unscaled(Number(value));
    case 'flag':
      return value === true;
    case 'time':
      return new Date(String(value));
    case 'text':
      return String(value);
  }
}

/** Returns the value as a whole number of units in the last place; smaller digits are cut off. */
function unscaled(value: number): bigint {
  const [whole = '0', fraction = ''] = plainDecimal(value).split('.');
  return BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale));
}
