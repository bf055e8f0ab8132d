/**
 * The stores that every route and job of the control plane is given, and what else each of them asks. Tests pass their
 * own.
 */
import type { Addresses } from '@gw/contract/errors';
import type { Database } from '@gw/prisma/client';
import type { ControlPlaneRole } from '@gw/prisma/roles';
import type { AddressGuard } from '@gw/service/address-guard';
import type { Troubles } from '@gw/service/health/troubles';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { ObjectStore } from './objects/objects.ts';

export type Databases = Readonly<Record<ControlPlaneRole, Database>>;

export interface Context {
  /** Has the rights of a reader, until `inRole` gives it those of a wing. */
  readonly db: Database;
  readonly databases: Databases;
  /** Only for commands that answer at once; a read that blocks has a connection of its own. */
  readonly redis: Redis;
  /** Where evidence packs and archived months are. */
  readonly objects: ObjectStore;
  readonly log: Logger;
  /** Takes what is wrong with this process or with what it stands on: each has a name and a sentence, in health, metrics and log. */
  readonly troubles: Troubles;
  readonly addresses: Addresses;
  /** Has to allow an address that somebody has named, before anything connects to it. */
  readonly guard: AddressGuard;
  /** Also refuses the gateway's own public addresses, at which a provider would send calls back to us. */
  readonly providerGuard: AddressGuard;
  /** ISO 4217: in which the prices of the catalogue are. */
  readonly currency: string;
  readonly now: () => Date;
}

/** The same with the rights of another role (prisma/roles.ts). */
export const inRole = (context: Context, role: ControlPlaneRole): Context => ({
  ...context,
  db: context.databases[role],
});
