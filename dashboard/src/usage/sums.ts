import type { UsageRow } from '../api/types.ts';

/** The fields of a row that can be added up. */
export type Summed = {
  [Name in keyof UsageRow]-?: NonNullable<UsageRow[Name]> extends number ? Name : never;
}[keyof UsageRow];

/** The sum of what is known; null if nothing is, or there is no row. */
export function sumOf(rows: readonly UsageRow[], name: Summed): number | null {
  const known = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
}
