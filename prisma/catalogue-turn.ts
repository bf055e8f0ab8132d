/**
 * The turn to change the catalogue: changes happen one after the other, and each entry keeps who changed it last.
 *
 * Invariant: who changes entries says so here, once per transaction, before the first change; a trigger writes it into each entry that
 * really changes (`note_catalogue_change`). Where nobody has said it, the entry says `not stated`.
 */
import type { Prisma } from './client.ts';

export interface CatalogueChange {
  /** For whoever audits receipts: customers read it, so it holds no secret and no address. */
  readonly by: string;
  readonly at: Date;
}

/** Waits until nobody else changes the catalogue. The turn ends with the transaction. */
export async function takeCatalogueTurn(tx: Prisma.TransactionClient, { at, by }: CatalogueChange): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('catalogue')),
    set_config('gw.changed_by', ${by}, true), set_config('gw.changed_at', ${at.toISOString()}, true)`;
}
