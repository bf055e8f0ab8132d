/** Defines the columns of a table of receipts: one for each field of a receipt, in the order of the schema. */
import { receiptSchema } from '@gw/contract/receipt';
import { isAmount } from '@gw/evidence/quantities';

export type ColumnKind = 'count' | 'decimal' | 'flag' | 'text' | 'time';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

const counts = ['version', 'supersedes', 'prompt_tokens', 'completion_tokens'];
const flags = ['simulated', 'recalculable'];
const times = ['created_at', 'grid_intensity_observed_at', 'grid_intensity_requested_at'];

function kindOf(name: string): ColumnKind {
  if (isAmount(name)) return 'decimal';
  if (counts.includes(name)) return 'count';
  if (flags.includes(name)) return 'flag';
  return times.includes(name) ? 'time' : 'text';
}

export const columns: readonly Column[] = Object.keys(receiptSchema.shape)
  .filter((name) => name !== 'object')
  .map((name) => ({ name, kind: kindOf(name) }));

/** A receipt has one field that is a list; it becomes words separated by spaces. */
export const plainValue = (value: unknown): unknown => (Array.isArray(value) ? value.join(' ') : (value ?? null));
