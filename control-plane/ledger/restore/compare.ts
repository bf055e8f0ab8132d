/**
 * Compares a Postgres, mostly a restored one, with what outlived it: Valkey, the object store, and receipts that clients have kept.
 *
 * Invariant: it changes nothing, and each question reads a bounded number of rows, keys or names.
 */
import { keyGenerationKey, receiptKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { type Database, Prisma } from '@gw/prisma/client';
import { keyGeneration } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';
import type { Context } from '../../shared/context.ts';
import { lackedHeads } from '../integrity/check-heads.ts';
import { looseName } from '../receipts/archive-files.ts';
import { archivedMonths, monthOf } from '../receipts/archive-notes.ts';
import { pinnedHeads } from '../receipts/batches.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { countWaiting } from '../receipts/waiting.ts';

export interface Finding {
  readonly id: 'keys' | 'receipts' | 'catalogue' | 'months' | 'packs' | 'valkey';
  readonly finding: string;
  readonly cure: string;
}

export interface RestoreOptions extends Pick<Context, 'databases' | 'objects' | 'redis'> {
  readonly seals: Seals;
}

/** The most packs and months whose objects are looked for. */
const most = 200;

/** Rejects if a store does not answer, since then nothing is known to be whole. */
export async function compareStores(options: RestoreOptions) {
  const { databases, redis } = options;
  const found = await Promise.all([
    lackedKeys(databases.customers, redis),
    lackedReceipts(options),
    lackedCatalogue(databases.ledger, redis),
    lackedMonths(options),
    lackedPacks(options),
  ]);
  const { length, setAside } = await countWaiting(redis);
  return { findings: found.flat(), waiting: length, setAside };
}

async function lackedKeys(customers: Database, redis: Redis): Promise<Finding[]> {
  const [stored, copy] = await Promise.all([keyGeneration(customers), redis.get(keyGenerationKey)]);
  const lost = Number(copy) - stored;
  if (lost <= 0) return [];
  return [
    {
      id: 'keys',
      finding: `${lost} changes of keys or accounts are gone (${stored} of ${copy}).`,
      cure: './gw admin restore show names them; ./gw admin restore confirm makes known revocations again.',
    },
  ];
}

/** The newest batches are in Valkey until a later one is signed. */
async function lackedReceipts({ databases, redis, seals }: RestoreOptions): Promise<Finding[]> {
  const lacked = await lackedHeads({ db: databases.ledger, redis, seals });
  const [stored] = await databases.ledger.$queryRaw<{ last: number }[]>`
    SELECT coalesce(max(number), 0)::float8 AS last FROM receipt_batches`;
  // The last signed head always stays there.
  if (stored !== undefined && stored.last > 0 && (await pinnedHeads(redis, seals)).length === 0)
    return [
      {
        id: 'valkey',
        finding: 'Valkey was emptied: it knows no batch that Postgres could lack.',
        cure: 'Compare receipts that clients have kept (--receipts), and repeat revocations since the backup.',
      },
    ];
  if (lacked.length === 0) return [];
  const last = Math.max(...lacked.map(({ number }) => number));
  return [
    {
      id: 'receipts',
      finding: `Batches of receipts up to number ${last} were stored, and Postgres has them up to ${stored?.last}, or others.`,
      cure: 'Store the later receipts from a newer backup, or tell the accounts: those that have kept replies can name them (--receipts). Then acknowledge the faults under heads.',
    },
  ];
}

async function lackedCatalogue(db: Database, redis: Redis): Promise<Finding[]> {
  const [row] = await db.$queryRaw<{ version: number }[]>`SELECT version FROM catalogue_version`;
  const published = Number(await redis.get(snapshotVersionKey));
  if (row === undefined || published <= row.version) return [];
  return [
    {
      id: 'catalogue',
      finding: `The published catalogue has version ${published}, and Postgres has ${row.version}.`,
      cure: 'Repeat the changes of the catalogue since the backup. The control plane publishes what Postgres has under a later version by itself.',
    },
  ];
}

/** Months whose receipts are in the object store alone, and whose list is not there. */
async function lackedMonths({ databases, objects, seals }: RestoreOptions): Promise<Finding[]> {
  const gone: string[] = [];
  for (const month of (await archivedMonths(databases.ledger, seals)).slice(0, most))
    if ((await objects.get(looseName(month, 'files.txt'))) === null) gone.push(month);
  if (gone.length === 0) return [];
  return [
    {
      id: 'months',
      finding: `The object store lacks the files of archived months: ${gone.join(', ')}.`,
      cure: 'Restore receipts/ and facts/ of the object store from a copy that is as new as the backup of Postgres, or newer.',
    },
  ];
}

async function lackedPacks({ databases, objects }: RestoreOptions): Promise<Finding[]> {
  const ready = await databases.reader.$queryRaw<{ id: string; try: number }[]>`
    SELECT id, try FROM evidence_packs WHERE state = 'ready' ORDER BY changed_at DESC LIMIT ${most}`;
  const folders = new Set<string>();
  if (ready.length > 0) for await (const name of objects.list('packs')) folders.add(name.split('/')[0] ?? name);
  const gone = ready.filter((pack) => !folders.has(`${pack.id}-${pack.try}`));
  if (gone.length === 0) return [];
  return [
    {
      id: 'packs',
      finding: `${gone.length} of the newest ${ready.length} evidence packs are listed and their files are gone.`,
      cure: 'Their accounts order them again.',
    },
  ];
}

export type KnownReceipt =
  | { readonly id: string; readonly is: 'stored'; readonly version: number }
  | { readonly id: string; readonly is: 'archived' | 'waiting' | 'missing' | 'not_an_id' };

/** Looks for receipts by their ids: in Postgres, in archived months, and on their way. Ids of other forms are no receipts. */
export async function findReceipts(options: RestoreOptions, ids: readonly string[]): Promise<KnownReceipt[]> {
  const { databases, redis, seals } = options;
  const timed = ids.flatMap((id) => {
    const at = timeOfReceipt(id);
    return at === null ? [] : [{ id, at }];
  });
  const [stored, archived] = await Promise.all([
    versionsOf(databases.ledger, timed),
    archivedMonths(databases.ledger, seals),
  ]);
  const months = new Set(archived);
  const times = new Map(timed.map(({ at, id }) => [id, at]));
  const open = timed.filter(({ at, id }) => !stored.has(id) && !months.has(monthOf(at)));
  const waiting = new Set<string>();
  await Promise.all(open.map(async ({ id }) => (await redis.exists(receiptKey(id))) === 1 && waiting.add(id)));
  return ids.map((id) => {
    const at = times.get(id);
    const version = stored.get(id);
    if (at === undefined) return { id, is: 'not_an_id' };
    if (version !== undefined) return { id, is: 'stored', version };
    return { id, is: months.has(monthOf(at)) ? 'archived' : waiting.has(id) ? 'waiting' : 'missing' };
  });
}

/** The time of an id names its partition. */
async function versionsOf(db: Database, receipts: readonly { readonly id: string; readonly at: Date }[]) {
  if (receipts.length === 0) return new Map<string, number>();
  const wanted = JSON.stringify(receipts.map(({ at, id }) => ({ id, at: at.toISOString() })));
  const rows = await db.$queryRaw<{ id: string; version: number }[]>`
    SELECT w.id, r.version FROM json_to_recordset(${Prisma.sql`${wanted}::json`}) AS w (id text, at timestamptz),
      LATERAL (SELECT version FROM receipts r WHERE r.id = w.id AND r.created_at = w.at ORDER BY version DESC LIMIT 1) r`;
  return new Map(rows.map(({ id, version }) => [id, version]));
}
