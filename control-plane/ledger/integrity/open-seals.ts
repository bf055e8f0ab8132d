/** The seals of a service: the key from its environment, and what they find goes to the log and into the gauges. */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { openSeals, type Seals } from '../receipts/sealed-rows.ts';
import { noteFaults } from './faults.ts';

export interface LedgerSealsOptions {
  readonly db: Database;
  readonly keys: KeyRing;
  readonly log: Logger;
  /** False while the keys are not known to be those of the stored rows: then what looks forged says nothing. */
  readonly mayNoteFaults?: () => boolean;
}

export function openLedgerSeals(options: LedgerSealsOptions): Seals {
  return openSeals({
    keys: options.keys,
    report: async (faulty, kind = 'receipt') => {
      if (options.mayNoteFaults?.() === false) return;
      await noteFaults(
        options,
        kind,
        faulty.map(({ fault, id, version }) => ({ name: id, number: version, fault })),
      );
    },
  });
}
