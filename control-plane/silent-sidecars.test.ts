import { expect, test } from 'vitest';
import { SilentSidecars } from './silent-sidecars.ts';

const at = (instance: string, seconds: number) => ({ instance, at: seconds * 1000 });

test('a sidecar that stops to report is named until it reports again, also once nobody keeps its report', () => {
  const sidecars = new SilentSidecars();
  expect(sidecars.look([at('a', 0), at('b', 0)], 1000)).toEqual([]);
  expect(sidecars.look([at('a', 0), at('b', 8)], 10_000)).toEqual([]);
  expect(sidecars.look([at('a', 0), at('b', 12)], 14_000)).toEqual(['a']);
  expect(sidecars.look([at('b', 90)], 91_000)).toEqual(['a']);
  // It was started again, under the same name and as another process.
  expect(sidecars.look([at('a', 0), at('a', 92), at('b', 92)], 93_000)).toEqual([]);
});

test('one that takes back its report while it is fresh has ended in order', () => {
  const sidecars = new SilentSidecars();
  sidecars.look([at('a', 0)], 1000);
  expect(sidecars.look([], 3000)).toEqual([]);
  expect(sidecars.look([], 60_000)).toEqual([]);
});

test('one that was silent for an hour was removed', () => {
  const sidecars = new SilentSidecars();
  sidecars.look([at('a', 0)], 1000);
  expect(sidecars.look([], 3_000_000)).toEqual(['a']);
  expect(sidecars.look([], 3_700_000)).toEqual([]);
});
