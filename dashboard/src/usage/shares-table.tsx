import type { UsageRow } from '../api/types.ts';
import { type Column, Rows } from '../parts/table.tsx';
import { amount, number } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type Group, type Metric, type Share, sharesOf } from './series.ts';
import { sumOf } from './sums.ts';

export interface SharesTableProps {
  readonly rows: readonly UsageRow[];
  readonly metric: Metric;
  readonly by: Group;
}

/** Read and written; null if either is not known. */
function tokensOf({ rows }: Share): number | null {
  const [read, written] = [sumOf(rows, 'prompt_tokens'), sumOf(rows, 'completion_tokens')];
  return read === null || written === null ? null : read + written;
}

/** Who or what used how much, the largest first. */
export function SharesTable({ rows, metric, by }: SharesTableProps) {
  const columns: Column<Share>[] = [
    { title: words.usage[by], cell: ({ name }) => name },
    { title: words.usage.requests, cell: (share) => number(sumOf(share.rows, 'requests')), isNumber: true },
    {
      title: words.usage.tokens,
      cell: (share) => number(tokensOf(share)),
      isNumber: true,
    },
    { title: words.usage.energy_wh, cell: (share) => amount(sumOf(share.rows, 'energy_wh'), 'Wh'), isNumber: true },
    { title: words.usage.carbon_g, cell: (share) => amount(sumOf(share.rows, 'carbon_g'), 'g'), isNumber: true },
    { title: words.usage.water_ml, cell: (share) => amount(sumOf(share.rows, 'water_ml'), 'mL'), isNumber: true },
  ];
  const shares = sharesOf(rows, metric, by);
  return <Rows caption={words.usage[by]} columns={columns} rows={shares} idOf={({ id }) => id} empty={null} />;
}
