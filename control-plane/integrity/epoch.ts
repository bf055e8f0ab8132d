/**
 * Since when every row of the ledger is sealed. Rows of calls from before may be without a seal; nobody can tell any more
 * whether they were altered.
 *
 * Invariant: the time is written once, before the first row is sealed, and is sealed itself: whoever has the database alone
 * can not put it later and so make a row without a seal pass. Where it is gone or not genuine, no row without a seal passes.
 */
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { isSealOf, keyOf, type LedgerKeys, sealOf } from '../receipts/seal.ts';

export interface EpochOptions {
  readonly db: Database;
  readonly keys: LedgerKeys;
  readonly now: () => Date;
  readonly log: Logger;
}

const never = new Date(0);

/** Asks Postgres until it has answered once. Rejects while it is away. */
export function openEpoch(options: EpochOptions): () => Promise<Date> {
  let known: Promise<Date> | null = null;
  return () => {
    known ??= readEpoch(options).catch((fault: unknown) => {
      known = null;
      throw fault;
    });
    return known;
  };
}

async function readEpoch(options: EpochOptions): Promise<Date> {
  const { db, keys, log } = options;
  const found = (await db.ledgerEpoch.findUnique({ where: { id: 1 } })) ?? (await begin(options));
  if (found === null) {
    log.error('the time since when the ledger is sealed is gone: every receipt without a seal counts as altered');
    return never;
  }
  const key = keyOf(keys, found.sealKey);
  if (key !== undefined && isSealOf(key, 'gw.ledger_epoch', found.sealedSince.toISOString(), found.seal))
    return found.sealedSince;
  log.error(
    { key: found.sealKey },
    'GW_LEDGER_KEY is not the key that the ledger is sealed with, or the time since when it is sealed was altered',
  );
  return never;
}

/** Null if there are sealed rows already, so that it was there. */
async function begin({ db, keys, now }: EpochOptions) {
  const [newest] = await db.$queryRaw<{ sealed: number }[]>`
    SELECT count(seal)::int AS sealed FROM (SELECT seal FROM receipts ORDER BY id DESC LIMIT 100) r`;
  if (newest === undefined || newest.sealed > 0) return null;
  const sealedSince = now();
  const seal = sealOf(keys.current, 'gw.ledger_epoch', sealedSince.toISOString());
  await db.$executeRaw`
    INSERT INTO ledger_epoch (id, sealed_since, seal, seal_key) VALUES (1, ${sealedSince}, ${seal}, ${keys.current.id})
    ON CONFLICT DO NOTHING`;
  return db.ledgerEpoch.findUnique({ where: { id: 1 } });
}
