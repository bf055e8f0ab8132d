/** Rows of usage as CSV (RFC 4180), for spreadsheets. */
import { derivedNames, type UsageRow, usageAmountNames, usageRatioNames } from '@gw/contract/usage';
import { csvCell } from '../../shared/csv-cell.ts';

const sums = ['prompt_tokens', 'completion_tokens', ...usageAmountNames, ...derivedNames] as const;
const counts = [
  'requests_measured',
  'requests_metered',
  'requests_reported',
  'requests_doubtful',
  'requests_modelled',
  'requests_estimated',
  'requests_degraded',
  'requests_aborted',
];

/** Text with a head; unknown numbers are empty. `groups`: the columns in front. */
export function usageCsv(rows: readonly UsageRow[], groups: readonly string[]): string {
  const own = ['requests', ...counts, ...sums, 'currency', 'energy_aborted_wh', ...usageRatioNames];
  // The groups of a row come first, and are not repeated.
  const columns = [...groups, 'simulated', ...own, ...(groups.includes('grid_basis') ? [] : ['grid_basis'])];
  const head = [...columns, ...sums.map((name) => `missing_${name}`)];
  const lines = rows.map((row) => [
    ...columns.map((name) => (row as unknown as Record<string, unknown>)[name]),
    ...sums.map((name) => row.missing[name] ?? 0),
  ]);
  return [head, ...lines].map((cells) => `${cells.map(csvCell).join()}\r\n`).join('');
}
