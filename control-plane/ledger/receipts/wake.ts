/**
 * Makes degraded receipts due for which the catalogue has something new.
 *
 * Invariant: no statement reads or changes more than a page of them, each is looked at once, and what was woken stays
 * so if the rest fails. A receipt that is being tried at that moment is passed over: whoever tries it sees the new
 * catalogue next.
 */
import { type Database, Prisma } from '@gw/prisma/client';
import type { HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';

const pageSize = 5000;

type KnownCatalogue = Pick<HeldCatalogue, 'snapshot'>;

/**
 * Wakes every receipt whose missing entry differs between the two catalogues; with null as `before` all that wait,
 * since another build can have tried them. Throws if Postgres is away; doing it again is safe.
 */
export async function wake(
  db: Database,
  before: KnownCatalogue | null,
  after: KnownCatalogue,
  signal: AbortSignal,
): Promise<void> {
  if (before?.snapshot === after.snapshot) return;
  const names = before === null ? [null] : new Set(changed(before.snapshot, after.snapshot));
  for (const name of names) {
    for (let from: string | null = ''; from !== null && !signal.aborted; ) from = await wakePage(db, name, from);
  }
}

/** `name` is what they wait for; null means anything. Returns the last id of a full page, or null at the end. */
async function wakePage(db: Database, name: string | null, from: string): Promise<string | null> {
  const which = name === null ? Prisma.empty : Prisma.sql`AND waits_for = ${name}`;
  // Arrays, so that the planner looks each up in the index, whatever it believes of the table.
  const [page] = await db.$queryRaw<{ last: string }[]>`
    WITH page AS (
      SELECT receipt_id FROM recalculations WHERE receipt_id > ${from} ${which} ORDER BY receipt_id LIMIT ${pageSize}
    ), asleep AS (
      SELECT receipt_id FROM recalculations
      WHERE receipt_id = ANY (ARRAY(SELECT receipt_id FROM page)) AND due_at > CURRENT_TIMESTAMP FOR UPDATE SKIP LOCKED
    ), woken AS (
      UPDATE recalculations SET due_at = CURRENT_TIMESTAMP WHERE receipt_id = ANY (ARRAY(SELECT receipt_id FROM asleep))
    )
    SELECT receipt_id AS last FROM page ORDER BY receipt_id OFFSET ${pageSize - 1}`;
  return page?.last ?? null;
}

/** Returns the names that receipts can wait for and whose entries are new or have changed. */
function changed(before: KnownCatalogue['snapshot'], after: KnownCatalogue['snapshot']): string[] {
  const models = changedIn(before.models, after.models);
  // The values that failed may be those of the deployment.
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
  // Who changed its region is no news of a deployment.
  const textOf = (each: T): string => JSON.stringify({ ...each, regionEntry: undefined });
  const old = new Map(before.map((each) => [each.id, textOf(each)]));
  return after.filter((each) => old.get(each.id) !== textOf(each));
}
