/** Settled values, calls with a grid value, and the job that brings the two together. */
import { receiptSchema } from '@gw/contract/receipt';
import type { ZoneSource } from '@gw/control-plane/internals/ledger/grid/config';
import type { GridObservation } from '@gw/control-plane/internals/ledger/grid/reading';
import { storeReadings } from '@gw/control-plane/internals/ledger/grid/store';
import { type ReceiptLineage, receiptLineage } from '@gw/control-plane/internals/ledger/receipts/lineage';
import { restateDue } from '@gw/control-plane/internals/ledger/receipts/restate';
import type { GridReading } from '@gw/methodology/assess';
import { callAt, type Entry, type EntryOptions, entryFrom, hourly, ingest, versionsOf } from './calls.ts';
import { type Stores, silentLog, testSeals } from './fixtures.ts';

export const sweden: ZoneSource = { zone: 'SWE', source: 'electricity-maps', place: 'SE' };
export const nine = '2026-11-21T09:00:00Z';
export const at = '2026-11-21T09:10:00Z';

/** Measured, of the hour from `start` on, fetched when it was over. */
export function settledObservation(
  start: string,
  gPerKwh: number,
  changes: Partial<GridObservation> = {},
): GridObservation {
  const { periodStart, periodEnd, observedAt } = hourly(start);
  return {
    ...sweden,
    gPerKwh,
    signal: 'average',
    kind: 'average',
    basis: 'lifecycle',
    periodStart: new Date(periodStart),
    periodEnd: new Date(periodEnd),
    observedAt: new Date(observedAt),
    fetchedAt: new Date(periodEnd),
    isEstimated: false,
    settled: true,
    rawSha256: 'a'.repeat(64),
    ...changes,
  };
}

export const estimate = (start: string, changes: Partial<GridReading> = {}): GridReading =>
  hourly(start, { temporalMatch: 'fresh', ...changes });

/** The newest version; it has to be a valid receipt that its lineage explains. */
export async function newestVersion(db: Stores['db'], id: string) {
  const found = (await versionsOf(db, id)).at(-1);
  if (found === undefined) throw new Error('there is none');
  receiptSchema.parse(found.receipt);
  const lineage: ReceiptLineage = receiptLineage({ json: JSON.stringify(found.receipt), facts: found.facts });
  return { ...found, lineage };
}

export const emptyLedger = (stores: Stores): Promise<void> =>
  stores.empty('receipts', 'recalculations', 'restatements', 'grid_readings');

/** Looks through what is due; returns how many versions were made. */
export async function restate(
  db: Stores['db'],
  sources: readonly ZoneSource[] = [sweden],
  restatesEarlier = false,
  seals = testSeals,
): Promise<number> {
  let made = 0;
  await restateDue({
    db,
    sources,
    restatesEarlier,
    now: () => new Date('2026-11-22T00:00:00Z'),
    log: silentLog,
    seals,
    signal: new AbortController().signal,
    onRestated: (count) => {
      made += count;
    },
  });
  return made;
}

let fetches = 0;
/** A source says that this value is settled; each time a little later. */
export async function settles(
  { db }: Stores,
  start: string,
  gPerKwh: number,
  changes: Partial<GridObservation> = {},
): Promise<void> {
  const settled = settledObservation(start, gPerKwh, changes);
  fetches += 1;
  await storeReadings(db, [{ ...settled, fetchedAt: new Date(settled.fetchedAt.getTime() + fetches) }]);
}

/** The source was heard long before the calls, so it was configured then. */
export const heardBefore = (stores: Stores, changes: Partial<GridObservation> = {}): Promise<void> =>
  settles(stores, '2026-11-01T00:00:00Z', 1, changes);

/** A call that was made with this grid value is stored. */
export async function called(
  { db }: Stores,
  grid: GridReading,
  time: string = at,
  options: EntryOptions = {},
): Promise<Entry> {
  const entry = entryFrom(callAt(time, { grid }), options);
  await ingest(db, entry);
  return entry;
}

/** The minute until the second look is over. */
export const secondLook = ({ db }: Stores): Promise<number> =>
  db.$executeRaw`UPDATE restatements SET noted_at = noted_at - INTERVAL '2 minutes', due_at = now()`;
