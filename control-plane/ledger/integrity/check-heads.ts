/** Checks the signed heads of the chain of batches, and the newest heads that Redis keeps until they are signed. */
import { checkSignedHead, type SignedHead, signedHeadIn } from '@gw/evidence/batch-proof';
import type { Trust } from '@gw/evidence/verify';
import type { Database, Queryable } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import { type Batch, pinnedHeads } from '../receipts/batches.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import type { Fault } from './faults.ts';

const mostTold = 1000;
/** The name of faults whose numbers are those of the batches that heads are of. */
const heads = 'heads';

interface StoredHead {
  readonly first: number;
  readonly last: number;
  readonly signed: unknown;
  /** The head of the batch; null: there is none. */
  readonly head: string | null;
  readonly isBehindOne: boolean;
}

/** Signed heads of these batches that say something else, that the gateway has not signed, or that stand behind a gap. */
export async function headFaults(db: Queryable, page: readonly Batch[], trust: Trust): Promise<Fault[]> {
  const numbers = page.map(({ number }) => number).filter(Number.isSafeInteger);
  if (numbers.length === 0) return [];
  const found = await db.$queryRaw<StoredHead[]>`
    SELECT h.first::float8 AS first, h.last::float8 AS last, h.signed, encode(b.head, 'hex') AS head,
      h.first <= 1 OR EXISTS (SELECT 1 FROM receipt_heads p WHERE p.last = h.first - 1) AS "isBehindOne"
    FROM receipt_heads h LEFT JOIN receipt_batches b ON b.number = h.last
    WHERE h.last BETWEEN ${Math.min(...numbers) - 1}::bigint AND ${Math.max(...numbers)}::bigint LIMIT ${mostTold}`;
  const faults = found.map(async (stored) => {
    const fault = await faultOfHead(stored, trust);
    return fault === null ? [] : [{ name: heads, number: stored.last, fault }];
  });
  return (await Promise.all(faults)).flat();
}

async function faultOfHead(
  { first, head, isBehindOne, last, signed }: StoredHead,
  trust: Trust,
): Promise<string | null> {
  const stated = signedHeadIn(signed);
  if (head === null || stated?.head !== head) return 'signed, and missing or another';
  if (stated.first !== first || stated.last !== last || !(await isOurs(stated, trust)))
    return 'not signed by the gateway';
  return isBehindOne ? null : 'a signed head before it is missing';
}

/** False also for what has no canonical form, which was never signed. */
const isOurs = (stated: SignedHead, trust: Trust): Promise<boolean> =>
  checkSignedHead(stated, trust).then(
    (check) => check === 'trusted',
    () => false,
  );

/** Finds heads that were made, or signed, and that the end of the chain lacks. */
export async function lackedHeads({
  db,
  redis,
  seals,
}: {
  readonly db: Database;
  readonly redis: Redis;
  readonly seals: Seals;
}): Promise<Fault[]> {
  // Fails open: without Redis only what is signed holds the end.
  const pinned = await pinnedHeads(redis, seals).catch(() => []);
  const cut = await db.$queryRaw<Fault[]>`
    SELECT DISTINCT h.number AS number, ${heads} AS name, 'cut off, or another took its place' AS fault
    FROM json_to_recordset(${JSON.stringify(pinned)}::json) AS h (number float8, head text)
    WHERE NOT EXISTS (SELECT 1 FROM receipt_batches b WHERE b.number = h.number::bigint AND encode(b.head, 'hex') = h.head)`;
  const beyond = await db.$queryRaw<Fault[]>`
    SELECT h.last::float8 AS number, ${heads} AS name, 'signed, and missing or another' AS fault FROM receipt_heads h
    WHERE h.last > (SELECT coalesce(max(b.number), 0) FROM receipt_batches b) ORDER BY h.last LIMIT 1000`;
  return [...cut, ...beyond];
}
