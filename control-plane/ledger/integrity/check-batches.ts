/**
 * Checks the batches of the ledger against their rows and against each other, by digests alone: a row costs microseconds.
 *
 * Invariant: a row that was taken out, put in, moved, or has another digest is found by the number of its batch, and so is a batch that is gone,
 * was altered, or stands elsewhere. The end of the chain is held by the newest heads in Redis and by the signed ones.
 * A page is read from one snapshot, in which a batch and its rows are both there or both not. What archived months have of it is read afterwards, since
 * a month that has left never changes: nobody waits for the object store with a lock on the receipts.
 *
 * While the store is away, everything that Postgres has is checked; batches that lack rows which may be in a file are skipped.
 */
import type { Trust } from '@gw/evidence/verify';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { type ObjectStore, ObjectsUnavailableError } from '../../shared/objects/objects.ts';
import type { ArchiveFile } from '../receipts/archive-files.ts';
import { archivedMonths, isOfMonth } from '../receipts/archive-notes.ts';
import { entryFiles, entryLines, withArchived } from '../receipts/archived-rows.ts';
import { type Batch, batchColumns, firstPrevious, headOf, rootOf, storedEntries } from '../receipts/batches.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { headFaults, lackedHeads } from './check-heads.ts';
import { type Fault, noteFaults } from './faults.ts';
import { goRound, type RoundPace, type RoundPage, type RoundPlace } from './rounds.ts';

export interface BatchCheckOptions {
  readonly db: Database;
  readonly redis: Redis;
  readonly log: Logger;
  readonly seals: Seals;
  /** The keys that heads are signed with. */
  readonly trust: Trust;
  /** Where archived months are. */
  readonly objects: ObjectStore;
}

/** They are in every round, whatever the size of the ledger. */
const newestCount = 2000;
const pageSize = 100;
/** Whoever made a batch seals it at once, or a job does a second later. */
const unsealedS = 60;
/** Rows of a page that are in no batch of it; more are not read. */
const mostOthers = 100_000;
/** One fault would be enough to look. */
const mostTold = 1000;

/** The name of faults whose numbers are those of batches. */
const batches = 'batches';

interface BatchPage {
  readonly checked: number;
  readonly faults: readonly Fault[];
  readonly next: bigint | null;
  /** Batches whose rows may be in files that cannot be read now. */
  readonly skipped: number;
}

/** Whether the object store has not answered; then it is not asked again while the same pages are gone through. */
interface StoreState {
  isAway: boolean;
}

/** Checks the newest batches and the end of the chain. */
export async function checkNewestBatches(options: BatchCheckOptions): Promise<void> {
  const { db, log } = options;
  const [found] = await db.$queryRaw<{ from: bigint | null }[]>`
    SELECT min(arrived) - 1 AS from FROM receipt_batches
    WHERE number > (SELECT max(number) FROM receipt_batches) - ${newestCount}`;
  await noteFaults({ db, log }, 'batch', await endFaults(options));
  const store: StoreState = { isAway: false };
  let skipped = 0;
  for (let next = found?.from ?? null; next !== null; ) {
    const page = await checkBatchPage(options, next, store);
    await noteFaults({ db, log }, 'batch', page.faults);
    skipped += page.skipped;
    next = page.next;
  }
  tellSkipped(log, skipped);
}

function tellSkipped(log: Logger, batches: number): void {
  if (batches > 0)
    log.warn({ batches }, 'batches of archived months are not checked: the object store does not answer');
}

/** The round through all batches. The next one begins `fullS` after its end. */
export async function checkBatches(options: BatchCheckOptions & RoundPace): Promise<boolean> {
  const { db, log } = options;
  const store: StoreState = { isAway: false };
  let allSkipped = 0;
  const isOver = await goRound({ ...options, kind: 'batch' }, async ({ id }: RoundPlace): Promise<RoundPage> => {
    const { checked, faults, next, skipped } = await checkBatchPage(options, placeIn(id), store);
    // Again at the end, so that what is still so counts as seen in this round.
    const ends = next === null ? await endFaults(options) : [];
    await noteFaults({ db, log }, 'batch', [...faults, ...ends]);
    allSkipped += skipped;
    return { checked, skipped, next: next === null ? null : { id: String(next), version: 0 } };
  });
  tellSkipped(log, allSkipped);
  return isOver;
}

const beforeAll = -(2n ** 63n);
const afterAll = 2n ** 63n - 1n;

/** Somebody with the database can have written anything there. */
function placeIn(text: string): bigint {
  return /^-?\d{1,18}$/.test(text) ? BigInt(text) : beforeAll;
}

interface LinkedBatch extends Batch {
  /** The head and sum of the batch before; null: there is none. */
  readonly before: { readonly head: string; readonly total: number } | null;
  readonly now_ms: number;
}

/** Checks the batches behind a place in the order of arrival, and all rows there. */
export async function checkBatchPage(
  { db, objects, seals, trust }: Pick<BatchCheckOptions, 'db' | 'objects' | 'seals' | 'trust'>,
  after: bigint,
  store: StoreState = { isAway: false },
): Promise<BatchPage> {
  const { files, next, page, range, stored, ...found } = await readPage({ db, seals, trust }, after);
  const unread: ArchiveFile[] = [];
  const entries = await withArchived(stored, files, range, async (file) => {
    try {
      if (!store.isAway) return await entryLines(objects, file);
    } catch (error) {
      if (!(error instanceof ObjectsUnavailableError)) throw error;
      store.isAway = true;
    }
    unread.push(file);
    return [];
  });
  const faults: Fault[] = [];
  let [checked, skipped] = [0, 0];
  for (const batch of page) {
    const name = `${batch.arrived} ${batch.kind}`;
    const own = entries.get(name) ?? [];
    entries.delete(name);
    checked += own.length;
    const mayBeUnread = own.length < batch.count && unread.some((file) => mayHave(file, batch));
    if (mayBeUnread) skipped += 1;
    const fault = linkFault(batch) ?? sealFault(batch, seals) ?? (mayBeUnread ? null : rowsFault(batch, own));
    if (fault !== null)
      faults.push({ name: batches, number: Number.isSafeInteger(batch.number) ? batch.number : 0, fault });
    if (batch.before === null && batch.number > 1 && Number.isSafeInteger(batch.number))
      faults.push({ name: batches, number: batch.number - 1, fault: 'missing' });
  }
  for (const own of entries.values()) faults.push(...own.slice(0, mostTold).map(strayFault));
  faults.push(...found.faults);
  return { checked, skipped, faults: faults.slice(0, mostTold), next };
}

const mayHave = ({ first_arrived, last_arrived }: ArchiveFile, { arrived, kind }: Batch): boolean =>
  kind === 'added' && BigInt(first_arrived) <= arrived && arrived <= BigInt(last_arrived);

/** Reads all that Postgres has of a page. */
function readPage({ db, seals, trust }: Pick<BatchCheckOptions, 'db' | 'seals' | 'trust'>, after: bigint) {
  return db.$transaction(
    async (tx) => {
      // Before the snapshot: no month leaves while its batches are read.
      await tx.$executeRaw`LOCK TABLE receipts IN ACCESS SHARE MODE`;
      const page = await tx.$queryRaw<LinkedBatch[]>`
        SELECT b.*, (extract(epoch FROM CURRENT_TIMESTAMP) * 1000)::float8 AS now_ms,
          (SELECT json_build_object('head', encode(p.head, 'hex'), 'total', p.total) FROM receipt_batches p WHERE p.number = b.number - 1) AS before
        FROM (
          SELECT arrived, ${Prisma.raw(batchColumns)} FROM receipt_batches WHERE arrived > ${after}
          ORDER BY receipt_batches.arrived FETCH FIRST ${pageSize} ROWS WITH TIES) b`;
      const next = page.length < pageSize ? null : (page.at(-1)?.arrived ?? null);
      const most = page.reduce((sum, { count }) => sum + count, mostOthers);
      const range = { from: after, to: next ?? afterAll, most };
      const stored = await storedEntries(tx, range);
      const files = await entryFiles({ db: tx, seals }, range);
      const archived = await archivedMonths(tx, seals);
      const faults = [
        ...(await settledFaults(tx, { after, archived, to: range.to })),
        ...(await headFaults(tx, page, trust)),
      ];
      return { page, next, range, stored, files, faults };
    },
    { isolationLevel: 'RepeatableRead', timeout: 60_000, maxWait: 10_000 },
  );
}

function linkFault(batch: LinkedBatch): string | null {
  const { before, count, number, previous, total } = batch;
  if (headOf(batch) !== batch.head) return 'altered';
  const expected = number === 1 ? { head: firstPrevious, total: 0 } : before;
  // A missing predecessor is told by itself.
  if (expected === null) return null;
  return expected.head === previous && expected.total + count === total ? null : 'not behind the batch before';
}

function sealFault({ at_ms, head, now_ms, seal, seal_key }: LinkedBatch, seals: Seals): string | null {
  if (seal === null) return now_ms - at_ms > unsealedS * 1000 ? 'unsealed' : null;
  return seals.isSealedHead(head, seal, seal_key) ? null : 'forged';
}

function rowsFault({ at_ms, count, root }: Batch, own: readonly string[]): string | null {
  const when = `of ${Number.isFinite(at_ms) && Math.abs(at_ms) < 8e15 ? new Date(at_ms).toISOString() : 'no time'}`;
  if (own.length < count) return `${count - own.length} of its ${count} receipts, ${when}, are missing`;
  if (own.length > count) return `${own.length - count} receipts more than the ${count} that came with it, ${when}`;
  return rootOf(own) === root ? null : `other receipts or digests than the ${count} that came with it, ${when}`;
}

function strayFault(line: string): Fault {
  const [id = '', version] = line.split(' ');
  const number = Number(version);
  return { name: id, number: Number.isSafeInteger(number) ? number : 0, fault: 'in no batch' };
}

/**
 * Receipts that are not as the last step left them, or whose steps do not follow from each other. What an archived one is now, its file says, whose
 * seals were compared before the month left.
 */
const settledFaults = (
  db: Queryable,
  { after, archived, to }: { readonly after: bigint; readonly to: bigint; readonly archived: readonly string[] },
): Promise<Fault[]> => db.$queryRaw<Fault[]>`
  SELECT DISTINCT p.receipt_id AS name, p.version AS number, 'not as it was settled' AS fault
  FROM receipt_replacements p
  LEFT JOIN receipts r ON r.id = p.receipt_id AND r.version = p.version
  LEFT JOIN LATERAL (
    SELECT f.replaced ->> 'content_sha256' AS digest FROM receipt_replacements f
    WHERE f.receipt_id = p.receipt_id AND f.version = p.version AND f.seq > p.seq ORDER BY f.seq LIMIT 1) later ON TRUE
  WHERE p.arrived > ${after} AND p.arrived <= ${to}
    AND coalesce(later.digest, r.content_sha256) IS DISTINCT FROM p.content_sha256
    AND NOT (r.id IS NULL AND later.digest IS NULL AND ${isOfMonth(Prisma.sql`p.receipt_id`, archived)})
  LIMIT 1000`;

/** Finds what is wrong at the end of the chain, and rows in places that no transaction has had. */
async function endFaults({ db, redis, seals }: BatchCheckOptions): Promise<Fault[]> {
  const strays = await db.$queryRaw<Fault[]>`
    SELECT id AS name, version AS number, 'in no batch' AS fault FROM receipts
    WHERE arrived IS NULL
      OR arrived >= (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint + base FROM arrival_base) LIMIT 1000`;
  return [...(await lackedHeads({ db, redis, seals })), ...strays];
}
