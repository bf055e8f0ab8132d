import type { UsageRow } from '../api/types.ts';
import { type Column, Rows } from '../parts/table.tsx';
import { amount, number } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type Group, type Metric, type Share, sharesOf } from './series.ts';

export interface SharesTableProps {
  readonly rows: readonly UsageRow[];
  readonly metric: Metric;
  readonly by: Group;
}

const sum = ({ rows }: Share, name: keyof UsageRow): number =>
  rows.reduce((all, row) => all + Number(row[name] ?? 0), 0);

/** Who or what used how much, the largest first. */
export function SharesTable({ rows, metric, by }: SharesTableProps) {
  const columns: Column<Share>[] = [
    { title: words.usage[by], cell: ({ name }) => name },
    { title: words.usage.requests, cell: (share) => number(sum(share, 'requests')), isNumber: true },
    {
      title: words.usage.tokens,
      cell: (share) => number(sum(share, 'prompt_tokens') + sum(share, 'completion_tokens')),
      isNumber: true,
    },
    { title: words.usage.energy_wh, cell: (share) => amount(sum(share, 'energy_wh'), 'Wh'), isNumber: true },
    { title: words.usage.carbon_g, cell: (share) => amount(sum(share, 'carbon_g'), 'g'), isNumber: true },
    { title: words.usage.water_ml, cell: (share) => amount(sum(share, 'water_ml'), 'mL'), isNumber: true },
  ];
  const shares = sharesOf(rows, metric, by);
  return <Rows caption={words.usage[by]} columns={columns} rows={shares} idOf={({ name }) => name} empty={null} />;
}
