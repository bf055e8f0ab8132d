/** How many of the measured configurations lie within the bounds that a receipt has for them. */
import { type CoverageRow, coverage } from '@gw/methodology/internals/scripts/coverage';
import { tableOf } from './numbers.ts';

const words: Readonly<Record<CoverageRow['stated'], string>> = {
  both: 'requests at once, bits',
  concurrency: 'requests at once',
  bits: 'bits',
  neither: 'neither',
};
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

export function coverageTable(): string {
  const rows = coverage().map((row) => [
    `${row.architecture === 'dense' ? 'dense' : 'mixture of experts'}, ${row.accelerator}`,
    words[row.stated],
    String(row.configurations),
    `**${percent(row.inside)}**`,
    `${percent(row.below)}, ${percent(row.above)}`,
    row.median.toFixed(2),
    percent(row.leftOut),
    percent(row.byOther),
    percent(row.unstated),
  ]);
  return tableOf(
    [
      'Models',
      'Stated',
      'Configurations',
      'Inside',
      'Below, above',
      'Measured / value, median',
      'Each model left out',
      'By the other accelerator',
      'Accelerators not stated',
    ],
    rows,
  );
}
