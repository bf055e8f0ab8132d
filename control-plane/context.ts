/** What every route and job of the control plane is given. Tests pass their own. */
import type { Addresses } from '@gw/contract/errors';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { CatalogueView } from './catalogue/keeper.ts';
import type { Keys } from './keys/keys.ts';
import type { Seals } from './receipts/sealed-rows.ts';
import type { VersionCounts } from './receipts/version-counts.ts';

export interface Context {
  readonly db: Database;
  /** For commands that answer at once; a blocking read has a connection of its own. */
  readonly redis: Redis;
  readonly log: Logger;
  readonly addresses: Addresses;
  readonly now: () => Date;
  readonly catalogue: CatalogueView;
  readonly keys: Keys;
  readonly versionCounts: VersionCounts;
  readonly seals: Seals;
  /** How long after a full check of the records the next one begins. */
  readonly fullCheckS: number;
}
