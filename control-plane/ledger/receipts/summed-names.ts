/** The names of what usage sums over receipts, and where a row has each of them. */
import { usageAmountNames } from '@gw/contract/usage';

/** Everything that is summed. Sums also have a column `known_…` with the number of calls for which it is known. */
export const summed = ['prompt_tokens', 'completion_tokens', ...usageAmountNames] as const;

/** The ledger has columns of these, which filters and seals hold to the body. */
export const namesInColumns: readonly string[] = ['prompt_tokens', 'completion_tokens', 'energy_wh', 'carbon_g'];
/** It is in the routing trace, which later versions of a receipt have from the first. */
export const savedName = 'carbon_saved_g';

/** The fields of the body that sums read. */
export const namesInBody: readonly string[] = [
  'project',
  'provider',
  'grid_basis',
  'measured_by',
  'simulated',
  ...summed.filter((name) => name !== savedName && !namesInColumns.includes(name)),
];
