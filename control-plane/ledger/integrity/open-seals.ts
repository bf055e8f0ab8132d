/** The seals of a service: the key from its environment, and what they find goes to the log and into the gauges. */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { LedgerKeys } from '../receipts/seal.ts';
import { openSeals, type Seals } from '../receipts/sealed-rows.ts';
import { noteFaults } from './faults.ts';

export interface LedgerSealsOptions {
  readonly db: Database;
  readonly keys: LedgerKeys;
  /** Rows of calls before this time can be without a seal; null means that none can. */
  readonly sealedSince: Date | null;
  /** Whether new rows are compressed; they are not unless it says so. */
  readonly compresses?: boolean;
  readonly log: Logger;
}

export function openLedgerSeals(options: LedgerSealsOptions): Seals {
  const { compresses = false, keys, sealedSince } = options;
  return openSeals({
    compresses,
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

/** Logs which setting is missing if the ledger begins with rows from before the seals. Never rejects. */
export async function warnOfUnsealed({ db, log, sealedSince }: LedgerSealsOptions): Promise<void> {
  if (sealedSince !== null) return;
  const [oldest] = await db.$queryRaw<{ isUnsealed: boolean }[]>`
    SELECT seal IS NULL AS "isUnsealed" FROM receipts ORDER BY id LIMIT 1`.catch(() => []);
  if (oldest?.isUnsealed)
    log.error(
      `receipts from before the seals are not served: if this is the first start after the upgrade, set GW_LEDGER_SEALED_SINCE=${new Date().toISOString()}`,
    );
}
