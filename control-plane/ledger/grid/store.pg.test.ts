/** The history is read as it is for one moment. */

import { startStores } from '@gw/testing/control-plane/fixtures';
import { settledObservation } from '@gw/testing/control-plane/restatements';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { recentReadings, storeReadings } from './store.ts';

const stores = forFile(startStores);

test('the day before and the hour a week ago are read; nothing later, and no interval of days', async () => {
  const of = (start: string, gPerKwh: number) => settledObservation(start, gPerKwh);
  const days = (start: string, end: string) => ({ ...of(start, 9), periodEnd: new Date(end) });
  await storeReadings(stores.db, [
    of('2026-11-20T08:00:00Z', 1),
    of('2026-11-20T09:00:00Z', 2),
    of('2026-11-21T09:00:00Z', 3),
    of('2026-11-21T10:00:00Z', 4),
    of('2026-11-14T09:00:00Z', 5),
    of('2026-11-14T10:00:00Z', 6),
    // Only their end tells them apart in the index that bounds what is read.
    days('2026-11-20T00:00:00Z', '2026-11-23T00:00:00Z'),
    days('2026-11-13T00:00:00Z', '2026-11-16T00:00:00Z'),
  ]);
  const found = await recentReadings(stores.db, ['SWE'], new Date('2026-11-21T09:30:00Z'));
  expect(found.map(({ gPerKwh }) => gPerKwh).sort()).toEqual([2, 3, 5]);
});
