/**
 * Makes degraded receipts due for which the catalogue has something new.
 *
 * Invariant: no statement touches more than a batch of them, and what was woken stays so if the rest fails: it goes on
 * where it ended. A receipt that is being tried at that moment is passed over: whoever tries it sees the new catalogue next.
 */
import { type Database, Prisma } from '@gw/prisma/client';
import type { HeldCatalogue } from '../catalogue/keeper.ts';

const batchSize = 5000;

type Known = Pick<HeldCatalogue, 'snapshot'>;

/**
 * Everything whose missing entry has changed between two catalogues; the first time, whatever waits: the build, too, may
 * be another than the one that tried. Throws if Postgres is away; doing it again is safe.
 */
export async function wake(db: Database, before: Known | null, after: Known, signal: AbortSignal): Promise<void> {
  if (before?.snapshot === after.snapshot) return;
  const names = before === null ? null : changed(before.snapshot, after.snapshot);
  if (names?.length === 0) return;
  const which = names === null ? Prisma.empty : Prisma.sql`AND waits_for = ANY (${names})`;
  for (let woken = batchSize; woken === batchSize && !signal.aborted; ) {
    woken = await db.$executeRaw`
      UPDATE recalculations SET due_at = CURRENT_TIMESTAMP WHERE receipt_id IN (
        SELECT receipt_id FROM recalculations WHERE due_at > CURRENT_TIMESTAMP ${which}
        LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`;
  }
}

/** What receipts may wait for that is there now, or that is another than before. */
function changed(before: Known['snapshot'], after: Known['snapshot']): string[] {
  const models = changedIn(before.models, after.models);
  // What could not be calculated with may be of the deployment.
  const served = changedIn(before.deployments, after.deployments).flatMap((each) => Object.keys(each.models));
  const hadReading = new Set(before.grid.map(({ zone }) => zone));
  const zoneOf = new Map(after.regions.map(({ code, gridZone }) => [code, gridZone]));
  const zones = [
    ...after.grid.flatMap(({ zone }) => (hadReading.has(zone) ? [] : zone)),
    // A region that was in the wrong zone.
    ...before.regions.flatMap(({ code, gridZone }) => (zoneOf.get(code) === gridZone ? [] : gridZone)),
  ];
  return [
    ...models.map(({ id }) => `model ${id}`),
    ...served.map((id) => `model ${id}`),
    ...zones.map((z) => `zone ${z}`),
  ];
}

function changedIn<T extends { readonly id: string }>(before: readonly T[], after: readonly T[]): T[] {
  const old = new Map(before.map((each) => [each.id, JSON.stringify(each)]));
  return after.filter((each) => old.get(each.id) !== JSON.stringify(each));
}
