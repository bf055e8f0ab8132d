import { expect, test } from 'vitest';
import { byId } from './names.ts';

test('where a hidden name stands before an id in brackets, the id alone is left', () => {
  const hidden = '{gw-name:operator:op_a:c2VjcmV0}';
  expect(byId(`${hidden} (op_a)`)).toBe('op_a');
  expect(byId(`by ${hidden} (op_a), then by ${hidden} (op_b)`)).toBe('by op_a, then by op_b');
  expect(byId('./gw up (seed)')).toBe('./gw up (seed)');
});
