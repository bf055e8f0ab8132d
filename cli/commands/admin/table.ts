/** Tables for people. */
import { elementAt } from '@gw/contract/internal/defined';

export type TableRow = Readonly<Record<string, unknown>>;

/** Columns are named as the fields are, so that who reads a table can write a script. */
export function table(rows: readonly TableRow[], columns: readonly string[], empty = 'Nothing.'): string {
  if (rows.length === 0) return `${empty}\n`;
  const cells = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => cell(row[name]))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => elementAt(line, at).length)));
  const lines = cells.map((line) =>
    line
      .map((text, at) => text.padEnd(elementAt(widths, at)))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** One thing, a line per field. */
export function card(row: TableRow): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  const lines = Object.entries(row).map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`);
  return `${lines.join('\n')}\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return '-';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A terminal obeys control characters; whoever names an account must not command it.
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
}
