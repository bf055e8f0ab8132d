/** `./gw admin doctor`: times that a role of Postgres in another time zone has written wrong, and the statements that put them right. */
import { writeFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from '@gw/stack/problem';
import type { AdminCall, AdminCommand } from './command.ts';
import { table } from './table.ts';

export const doctorCommands: readonly AdminCommand[] = [
  {
    name: 'doctor',
    args: [],
    options: { sql: 'a file to write the statements to that put the times right, for the owner of the tables' },
    summary:
      'find times that were written in another time zone, by the audit log and the ids of receipts; exit code 1 if there are any',
    run: examine,
  },
];

interface WrongTime {
  readonly id: string;
  readonly stored: string;
  readonly witnessed: string;
}

interface Piece {
  readonly table: string;
  readonly column: string;
  readonly key: string;
  readonly rows: number;
  readonly wrong: readonly WrongTime[];
  readonly next: string | null;
}

/** A time of a table, with all its pieces. */
interface CheckedTime extends Omit<Piece, 'next' | 'rows' | 'wrong'> {
  rows: number;
  readonly wrong: WrongTime[];
}

/** Rows that people are shown of each time; the file of statements and `--json` have all. */
const shownRows = 10;

async function examine(call: AdminCall) {
  const found = await allPieces(call);
  const wrong = found.filter((time) => time.wrong.length > 0);
  const count = wrong.reduce((sum, time) => sum + time.wrong.length, 0);
  const file = call.option('sql');
  if (file !== undefined) write(file, wrong.map(statements).join('\n'));
  const text = [
    table(
      found.map((time) => ({ time: nameOf(time), rows: time.rows, wrong: time.wrong.length })),
      ['time', 'rows', 'wrong'],
    ),
    ...wrong.map(shown),
    count === 0 ? 'No time was written in another time zone.\n' : cure(count, file),
  ].join('\n');
  return { value: found, text, exitCode: count === 0 ? 0 : 1 };
}

async function allPieces({ api, progress }: AdminCall): Promise<readonly CheckedTime[]> {
  const found = new Map<string, CheckedTime>();
  for (let after: string | undefined; ; ) {
    const piece = (await api.get('/operator/v1/times', { after })) as Piece;
    const { column, key, next, rows, wrong } = piece;
    const time = found.get(nameOf(piece)) ?? { table: piece.table, column, key, rows: 0, wrong: [] };
    found.set(nameOf(piece), time);
    const before = time.rows;
    time.rows += rows;
    for (const row of wrong) time.wrong.push(row);
    if (Math.floor(time.rows / 1_000_000) > Math.floor(before / 1_000_000))
      progress(`${nameOf(time)}: ${time.rows} rows, ${time.wrong.length} wrong.\n`);
    if (next === null) return [...found.values()];
    after = next;
  }
}

const nameOf = ({ column, table: of }: Pick<Piece, 'column' | 'table'>): string => `${of}.${column}`;

function shown(time: CheckedTime): string {
  const rows = time.wrong.slice(0, shownRows).map((row) => ({
    [nameOf(time)]: row.id,
    stored: row.stored,
    right: row.witnessed,
    hours: hours(row),
  }));
  const more = time.wrong.length > shownRows ? `… and ${time.wrong.length - shownRows} more.\n` : '';
  return table(rows, [nameOf(time), 'stored', 'right', 'hours']) + more;
}

const hours = ({ stored, witnessed }: WrongTime): string => {
  const late = Math.round((Date.parse(stored) - Date.parse(witnessed)) / 900_000) / 4;
  return `${late > 0 ? '+' : ''}${late}`;
};

const cure = (count: number, file: string | undefined): string =>
  `${count} times are wrong. ${
    file === undefined
      ? 'Run this again with --sql mend.sql, and the statements in that file'
      : `Run the statements in ${file}`
  } as the owner of the tables (psql -1 -f). Revoke each key that was used after its right end. docs/operations.md has more.\n`;

/** The rows of these tables only grow, so their guards have to be off meanwhile. Sums of usage follow the receipts. */
const guards: Readonly<Record<string, readonly string[]>> = {
  receipts: ['receipts_unchanged', 'receipts_settled'],
  legal_holds: ['legal_holds_unchanged'],
};

function statements({ column, key, table: of, wrong }: CheckedTime): string {
  const guarding = (verb: 'DISABLE' | 'ENABLE') =>
    (guards[of] ?? []).map((name) => `ALTER TABLE ${of} ${verb} TRIGGER ${name};`);
  // Only as long as it is still wrong: whoever has changed the row since knows better.
  const updates = wrong.map(
    ({ id, stored, witnessed }) =>
      `UPDATE ${of} SET ${column} = '${witnessed}' WHERE ${key} = ${quoted(id)} AND ${column} = '${stored}';`,
  );
  return ["SET TIME ZONE 'UTC';", ...guarding('DISABLE'), ...new Set(updates), ...guarding('ENABLE'), ''].join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Problem(`${file} cannot be written (${errorText(error)}).`);
  }
}
