/**
 * Signs each minute how far the chain of batches is, and proves by that that a receipt is in it.
 *
 * Invariant: nothing is signed that does not go on from what was signed before. Closed: a chain that has a gap, or whose last signed head is not what
 * was signed, gets no further signature until somebody has mended it; the check of the batches names the place. Several instances can do it at once.
 */

import { elementAt } from '@gw/contract/internal/defined';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { restDigest } from '@gw/contract/internal/ledger-entry';
import { checkSignedHead, type SignedHead, signedHead, signedHeadIn } from '@gw/evidence/batch-proof';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import type { Context } from '../../shared/context.ts';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { allJobs, type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { archivedVersions, ledgerEntries } from '../receipts/archived-rows.ts';
import {
  type Batch,
  batchColumns,
  firstPrevious,
  levelsOf,
  pathIn,
  pinHeads,
  pinnedHeads,
  rootAbove,
  rootOf,
  sealBatches,
  unpinHeads,
} from '../receipts/batches.ts';
import { readRows, storedColumns } from '../receipts/read-rows.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import type { LedgerRow } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { trustIn } from './sign.ts';
import { LogBrokenError } from './tree.ts';

/** With the time that a round takes, a receipt is signed within a minute. */
const signEveryMs = 50_000;
const sealEveryMs = 1000;
const mostAtOnce = 4096;
/** A batch that is younger may still be sealed by whoever made it. An older one is named by the check, and does not hold up the others. */
const unsealedMs = 60_000;

export interface HeadOptions extends Pick<Context, 'db' | 'now'> {
  readonly redis: Redis;
  readonly seals: Seals;
  readonly key: SigningKey;
}

export const startHeads = (options: HeadOptions & Pick<Context, 'log'>): RepeatedJob =>
  allJobs([
    repeat({ name: 'seals of batches', everyMs: sealEveryMs, log: options.log, run: () => sealOpen(options) }),
    repeat({ name: 'signed heads', everyMs: signEveryMs, log: options.log, run: () => signHeads(options) }),
  ]);

/** Seals what jobs, and whoever died, left unsealed; never what is signed already. */
export async function sealOpen(
  { db, redis, seals }: Pick<HeadOptions, 'db' | 'redis' | 'seals'>,
  ageMs = 1000,
): Promise<void> {
  const signed = await db.$queryRaw<{ last: number }[]>`
    SELECT coalesce(max(last), 0)::float8 AS last FROM receipt_heads`;
  await pinHeads(redis, await sealBatches(db, seals, { after: elementAt(signed, 0).last, ageMs }));
}

/** Signs all that came since the last time. Throws LogBrokenError if it does not go on from that. */
export async function signHeads(options: HeadOptions): Promise<void> {
  // A batch that is signed without a seal gets none any more. Nobody may have sealed the last batches for a while: their maker died, and was alone.
  await sealOpen(options, 0);
  for (let last = await signOnce(options); last !== null; last = await signOnce(options)) {
    const { redis, seals } = options;
    const pinned = await pinnedHeads(redis, seals).catch(() => []);
    const kept = await headsAt(
      options.db,
      pinned.map(({ number }) => number),
    );
    // The last one stays, and holds what is signed. One that is not what the chain has stays too, so that the check finds it.
    const signed = last;
    const done = pinned.filter(({ head, number }) => number < signed && kept.get(number) === head);
    await unpinHeads(redis, done).catch(() => {});
  }
}

async function headsAt(db: Queryable, numbers: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const found = await db.$queryRaw<{ number: number; head: string }[]>`
    SELECT number::float8 AS number, encode(head, 'hex') AS head FROM receipt_batches WHERE number = ANY (${numbers}::bigint[])`;
  return new Map(found.map(({ head, number }) => [number, head]));
}

/** The number of the last batch that it has signed; null: there was none left. */
async function signOnce({ db, key, now, seals }: HeadOptions): Promise<number | null> {
  return db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('receipt_heads'))`;
    const before = await lastSigned(tx, key);
    const batches = await tx.$queryRaw<Batch[]>`
      SELECT arrived, ${Prisma.raw(batchColumns)} FROM receipt_batches WHERE number > ${before.last}
      ORDER BY receipt_batches.number LIMIT ${mostAtOnce}`;
    const ready = readyOf(batches, seals, now().getTime());
    const last = ready.at(-1);
    if (last === undefined) return null;
    expectToGoOn(before, ready);
    const heads = ready.map(({ head }) => head);
    const stated = { first: before.last + 1, last: last.number, head: last.head, root_hash: rootOf(heads) };
    const signed = await signedHead(stated, now(), key);
    await tx.$executeRaw`
      INSERT INTO receipt_heads (last, first, signed) VALUES (${stated.last}, ${stated.first}, ${JSON.stringify(signed)}::json)`;
    return stated.last;
  });
}

/** Returns the batches in front of the first that somebody may be about to seal. */
function readyOf(batches: readonly Batch[], seals: Seals, now: number): readonly Batch[] {
  const open = batches.findIndex(
    ({ at_ms, head, seal, seal_key }) => !seals.isSealedHead(head, seal, seal_key) && now - at_ms < unsealedMs,
  );
  return open === -1 ? batches : batches.slice(0, open);
}

type Reached = Pick<SignedHead, 'head' | 'last'>;

async function lastSigned(tx: Queryable, key: SigningKey): Promise<Reached> {
  const [stored] = await tx.$queryRaw<{ last: number; signed: unknown; head: string | null }[]>`
    SELECT h.last::float8 AS last, h.signed, encode(b.head, 'hex') AS head FROM receipt_heads h
    LEFT JOIN receipt_batches b ON b.number = h.last ORDER BY h.last DESC LIMIT 1`;
  if (stored === undefined) return { last: 0, head: firstPrevious };
  const signed = signedHeadIn(stored.signed);
  const isOurs = signed?.last === stored.last && (await checkSignedHead(signed, trustIn(key))) === 'trusted';
  if (!isOurs)
    throw new LogBrokenError(
      `The last signed head of the batches, up to batch ${stored.last}, is not what was signed.`,
    );
  if (signed.head !== stored.head) throw new LogBrokenError(`Batch ${signed.last} is not what was signed.`);
  return signed;
}

function expectToGoOn(before: Reached, batches: readonly Batch[]): void {
  let { head, last: number } = before;
  for (const batch of batches) {
    if (batch.number !== number + 1 || batch.previous !== head)
      throw new LogBrokenError(`The chain of batches does not go on behind batch ${number}.`);
    ({ head, number } = batch);
  }
}

interface ProofStores {
  readonly db: Database;
  readonly seals: Seals;
  /** Where archived months are. */
  readonly objects: ObjectStore;
}

/**
 * The batch of a version of a receipt, with the path from there to what was signed; null: Postgres does not have it yet. Throws LogBrokenError if it
 * is not in its batch.
 */
export async function batchProof(
  { db, objects, seals }: ProofStores,
  { accountId, id, version }: { readonly accountId: string; readonly id: string; readonly version: number },
) {
  const [stored] = await readRows<LedgerRow & { readonly arrived: bigint }>(
    db,
    Prisma.sql`SELECT ${storedColumns}, r.arrived FROM receipts r
      WHERE r.id = ${id} AND r.version = ${version} AND r.created_at = ${timeOfReceipt(id)} AND r.account_id = ${accountId}`,
  );
  const archived =
    stored === undefined
      ? (await archivedVersions({ db, objects, seals }, accountId, id)).find((each) => each.version === version)
      : undefined;
  const row = stored ?? (archived === undefined ? undefined : { ...archived, arrived: BigInt(archived.arrived) });
  if (row === undefined) return null;
  const [step] = await db.$queryRaw<{ arrived: bigint }[]>`
    SELECT arrived FROM receipt_replacements WHERE receipt_id = ${id} AND version = ${version} ORDER BY seq DESC LIMIT 1`;
  const { arrived } = step ?? row;
  const kind = step === undefined ? 'added' : 'settled';
  const [batch] = await db.$queryRaw<Batch[]>`
    SELECT arrived, ${Prisma.raw(batchColumns)} FROM receipt_batches WHERE arrived = ${arrived} AND kind = ${kind}`;
  if (batch === undefined) throw new LogBrokenError(`Version ${version} of ${id} is in no batch.`);
  const place = { from: arrived - 1n, to: arrived, most: batch.count + 1 };
  const entries = (await ledgerEntries({ db, objects, seals }, place)).get(`${arrived} ${kind}`) ?? [];
  const index = entries.findIndex((entry) => entry.startsWith(`${id} ${version} ${row.content_sha256}`));
  const levels = levelsOf(entries);
  if (index === -1 || rootAbove(levels) !== batch.root)
    throw new LogBrokenError(`Batch ${batch.number} does not have the receipts that came with it.`);
  const { at_ms, count, number, previous, total } = batch;
  return {
    number,
    kind,
    at: new Date(at_ms).toISOString(),
    count,
    total,
    previous,
    rest_sha256: restDigest(row),
    replaces: entries[index]?.split(' ')[3] ?? null,
    index,
    path: pathIn(levels, index),
    signed: await signedOf(db, batch),
  };
}

async function signedOf(db: Database, { head, number }: Batch) {
  const [found] = await db.$queryRaw<{ signed: unknown; heads: string[] }[]>`
    SELECT h.signed, ARRAY(
      SELECT encode(b.head, 'hex') FROM receipt_batches b WHERE b.number BETWEEN h.first AND h.last ORDER BY b.number LIMIT ${mostAtOnce + 1}) AS heads
    FROM receipt_heads h WHERE h.last >= ${number} ORDER BY h.last LIMIT 1`;
  if (found === undefined) return null;
  const signed = signedHeadIn(found.signed);
  const levels = levelsOf(found.heads);
  const index = signed === null ? -1 : number - signed.first;
  if (signed === null || found.heads[index] !== head || rootAbove(levels) !== signed.root_hash)
    throw new LogBrokenError(`Batch ${number} is not what was signed.`);
  return { head: signed, path: pathIn(levels, index) };
}
