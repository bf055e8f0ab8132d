/** The seals of a service: the key from its environment, and what they find goes to the log and into the gauges. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { LedgerKeys } from '../receipts/seal.ts';
import { openSeals, type Seals } from '../receipts/sealed-rows.ts';
import { noteFaults } from './faults.ts';

export interface LedgerSealsOptions {
  readonly db: Database;
  readonly keys: LedgerKeys;
  /** Rows of calls from before may be without a seal. Null: none may. */
  readonly sealedSince: Date | null;
  readonly log: Logger;
}

export function openLedgerSeals(options: LedgerSealsOptions): Seals {
  const { keys, sealedSince } = options;
  return openSeals({
    keys,
    sealedSince,
    report: (faulty) =>
      noteFaults(
        options,
        'receipt',
        faulty.map(({ fault, id, version }) => ({ name: id, number: version, fault })),
      ),
  });
}

/** Says what is missing where the ledger begins with rows from before the seals. Fails open: it only writes to the log. */
export async function warnOfUnsealed({ db, log, sealedSince }: LedgerSealsOptions): Promise<void> {
  if (sealedSince !== null) return;
  const [oldest] = await db.$queryRaw<{ isUnsealed: boolean }[]>`
    SELECT seal IS NULL AS "isUnsealed" FROM receipts ORDER BY id LIMIT 1`.catch(() => []);
  if (oldest?.isUnsealed)
    log.error(
      `receipts from before the seals are not served: if this is the first start after the upgrade, set GW_LEDGER_SEALED_SINCE=${new Date().toISOString()}`,
    );
}
