/** The seals of a service: the key from its environment, and what they find goes to the log and into the gauges. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { LedgerKeys } from '../../shared/seal.ts';
import { openSeals, type Seals } from '../receipts/sealed-rows.ts';
import { noteFaults } from './faults.ts';

export interface LedgerSealsOptions {
  readonly db: Database;
  readonly keys: LedgerKeys;
  readonly log: Logger;
}

export function openLedgerSeals(options: LedgerSealsOptions): Seals {
  return openSeals({
    keys: options.keys,
    report: (faulty, kind = 'receipt') =>
      noteFaults(
        options,
        kind,
        faulty.map(({ fault, id, version }) => ({ name: id, number: version, fault })),
      ),
  });
}
