/**
 * Checks the logs of receipts: entries against receipts, nodes and hours against entries, checkpoints against all of them and against the audit chain.
 *
 * Invariant: what of a log is altered or gone is found by the account and the index of the entry (or the size of the checkpoint). A
 * receipt that is altered is not blamed on the log: the check of the receipts finds it.
 */
import { checkCheckpoint, checkpointIn } from '@gw/evidence/checkpoint';
import { childrenOf, completedNodes, joined } from '@gw/evidence/merkle';
import type { Trust } from '@gw/evidence/verify';
import { type Database, Prisma } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { auditFault, readAudit } from '../../people/audit/read.ts';
import { entryHash } from '../log/append.ts';
import { signedAction } from '../log/sign.ts';
import { entrySeal, LogBrokenError, nodeName, readNodes, rootOf } from '../log/tree.ts';
import type { StoredTexts } from '../receipts/compressed-rows.ts';
import { readRows, replacedBodies, storedColumns, textColumns } from '../receipts/read-rows.ts';
import type { Seals, TextSeal } from '../receipts/sealed-rows.ts';
import { archivedFaults } from './check-archived-leaves.ts';
import { hourFaults } from './check-hours.ts';
import { type Fault, noteFaults } from './faults.ts';
import { goRound, type RoundPace, type RoundPlace } from './rounds.ts';

export interface LogStores {
  readonly db: Database;
  readonly seals: Seals;
  /** Says whose checkpoints are ours. */
  readonly trust: Trust;
}

/** Where a page begins: an entry of the log of an account. */
interface LogPlace {
  readonly accountId: string;
  readonly index: number;
}

/** Complete nodes of two levels are within one page. */
const pageSize = 256;

export interface LogCheckOptions extends LogStores, RoundPace {
  readonly log: Logger;
}

/** The round through the logs of all accounts. The next one begins `fullS` after its end. */
export const checkLogs = (options: LogCheckOptions): Promise<boolean> =>
  goRound({ ...options, kind: 'log' }, async ({ id, version }: RoundPlace) => {
    const { checked, faults, next } = await checkLogPage(options, { accountId: id, index: version });
    await noteFaults(options, 'log', faults);
    return { checked, next: next === null ? null : { id: next.accountId, version: next.index } };
  });

interface LogPage {
  readonly checked: number;
  readonly faults: readonly Fault[];
  /** Null after the last one. */
  readonly next: LogPlace | null;
}

async function checkLogPage(stores: LogStores, { accountId, index }: LogPlace): Promise<LogPage> {
  const { db } = stores;
  const entries = await entriesFrom(db, accountId, index);
  const [first] = entries;
  // Whoever puts an entry far away does not have each of those in between looked for.
  if (first !== undefined && first.index >= index + pageSize)
    return {
      checked: 0,
      faults: [{ name: accountId, number: index, fault: 'missing' }],
      next: { accountId, index: first.index - (first.index % pageSize) },
    };
  const isLast = entries.every((entry) => entry.index < index + pageSize);
  const page = entries.filter((entry) => entry.index < index + pageSize);
  const end = isLast ? Math.max(index, ...page.map((entry) => entry.index + 1)) : index + pageSize;
  const there = new Set(page.map((entry) => entry.index));
  const missing = Array.from({ length: end - index }, (_, at) => index + at).filter((each) => !there.has(each));
  const found = [
    ...missing.map((number) => ({ number, fault: 'missing' })),
    ...(await entryFaults(stores, accountId, page)),
    ...(missing.length > 0 ? [] : await nodeFaults(db, accountId, { from: index, to: end })),
    ...(await checkpointFaults(stores, accountId, { from: index, to: isLast ? null : end })),
    ...(isLast ? [...(await auditFaults(db, accountId)), ...(await hourFaults(db, accountId))] : []),
  ];
  const faults = found.map(({ fault, number }) => ({ name: accountId, number, fault }));
  const checked = page.length;
  if (!isLast) return { checked, faults, next: { accountId, index: end } };
  const following = await nextAccount(db, accountId);
  return { checked, faults, next: following === null ? null : { accountId: following, index: 0 } };
}

type Numbered = Pick<Fault, 'fault' | 'number'>;

interface EntryRow extends Omit<StoredTexts, 'body'>, TextSeal {
  readonly index: number;
  readonly receipt_id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly leaf: string;
  readonly content: string;
  /** The leaf hash of the receipt as it is stored; null if it is gone, which the check of the receipts reports. */
  readonly body: string | null;
  readonly stored: string | null;
  /** The content of the entry of an archived month. */
  readonly archived: string | null;
}

/** A page, and one more if there is more, however far away. */
const entriesFrom = (db: Database, accountId: string, index: number): Promise<EntryRow[]> =>
  readRows<EntryRow>(
    db,
    Prisma.sql`
  SELECT l.index::float8 AS index, l.receipt_id, l.version, l.created_at, encode(l.leaf_hash, 'hex') AS leaf,
    l.content_sha256 AS content, l.archived, encode(l.seal, 'hex') AS seal, l.seal_key::int AS id,
    ${textColumns}, r.content_sha256 AS stored
  FROM receipt_log l
  LEFT JOIN receipts r ON r.id = l.receipt_id AND r.created_at = l.created_at AND r.version = l.version
    AND r.account_id = l.account_id
  WHERE l.account_id = ${accountId} AND l.index >= ${index} AND l.index <= ${Number.MAX_SAFE_INTEGER} ORDER BY l.index LIMIT ${pageSize + 1}`,
  );

async function entryFaults(
  { db, seals }: LogStores,
  accountId: string,
  entries: readonly EntryRow[],
): Promise<Numbered[]> {
  const there = entries.filter(({ body }) => body !== null);
  const altered = there.filter(({ body, content, leaf, stored }) => content === stored && !isEntry(body, leaf));
  const others = there.filter(({ content, stored }) => content !== stored);
  const known = await replacedBodies(
    db,
    others.map(({ receipt_id }) => receipt_id),
  );
  const replaced = others.filter(
    ({ content, leaf, receipt_id }) => !isEntry(known.get(`${receipt_id}:${content}`), leaf),
  );
  const genuine = await genuineAmong({ db, seals }, [...altered, ...replaced]);
  const named = new Set([...altered, ...replaced].map(({ index }) => index).filter((index) => genuine.has(index)));
  const forged = entries.filter((entry) => {
    const { content, created_at, leaf, receipt_id, version } = entry;
    const sealed = { receiptId: receipt_id, version, createdAt: created_at, hash: leaf, contentSha256: content };
    const text = entrySeal(accountId, entry.index, sealed);
    return !named.has(entry.index) && seals.textFault('gw.log_entry', text, entry) !== null;
  });
  return [
    ...forged.map(({ index }) => ({ number: index, fault: 'forged' })),
    ...(await archivedFaults({ db, seals }, accountId, entries)),
    ...altered.filter(({ index }) => genuine.has(index)).map(({ index }) => ({ number: index, fault: 'altered' })),
    ...replaced.filter(({ index }) => genuine.has(index)).map(({ index }) => ({ number: index, fault: 'replaced' })),
  ];
}

function isEntry(body: string | null | undefined, leaf: string): boolean {
  try {
    return typeof body === 'string' && entryHash(body) === leaf;
  } catch {
    return false;
  }
}

/** The indexes of those whose receipts are what was stored. */
async function genuineAmong(
  { db, seals }: Pick<LogStores, 'db' | 'seals'>,
  entries: readonly EntryRow[],
): Promise<ReadonlySet<number>> {
  if (entries.length === 0) return new Set();
  const ids = entries.map(({ receipt_id }) => receipt_id);
  const rows = await readRows(db, Prisma.sql`SELECT ${storedColumns} FROM receipts r WHERE r.id = ANY (${ids})`);
  const faults = await seals.check(rows);
  const sound = new Set(rows.flatMap(({ id, version }, at) => (faults[at] === null ? `${id}:${version}` : [])));
  return new Set(
    entries.filter(({ receipt_id, version }) => sound.has(`${receipt_id}:${version}`)).map(({ index }) => index),
  );
}

/** The nodes that end in the page. */
async function nodeFaults(
  db: Database,
  accountId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Numbered[]> {
  const places = completedNodes(from, to).flat();
  const stored = await readNodes(db, accountId, [...places, ...places.flatMap(childrenOf)]);
  return places.flatMap((place) => {
    const number = place.index * 2 ** place.level;
    const hash = stored.get(nodeName(place));
    if (hash === undefined) return [{ number, fault: 'node missing' }];
    const children = childrenOf(place).map((child) => stored.get(nodeName(child)));
    // A node below that is gone is told by itself.
    if (!children.every((child) => child !== undefined)) return [];
    return joined(children) === hash ? [] : [{ number, fault: 'node altered' }];
  });
}

/** Checks the checkpoints that end in the page. If `to` is null, it also checks those beyond the last entry. */
async function checkpointFaults(
  { db, trust }: LogStores,
  accountId: string,
  { from, to }: { readonly from: number; readonly to: number | null },
): Promise<Numbered[]> {
  const rows = await db.$queryRaw<{ size: number; checkpoint: unknown }[]>`
    SELECT tree_size::float8 AS size, checkpoint FROM receipt_log_checkpoints
    WHERE account_id = ${accountId} AND tree_size > ${from} AND (${to}::bigint IS NULL OR tree_size <= ${to})
    ORDER BY tree_size`;
  const faults: Numbered[] = [];
  for (const { checkpoint: stored, size } of rows) {
    const checkpoint = checkpointIn(stored);
    const isOurs = checkpoint?.account === accountId && checkpoint.tree_size === size;
    if (!isOurs || (await checkCheckpoint(checkpoint, trust)) !== 'trusted')
      faults.push({ number: size, fault: 'checkpoint altered' });
    else if (!(await hasRoot(db, accountId, checkpoint)))
      faults.push({ number: size, fault: 'checkpoint of another log' });
  }
  return faults;
}

async function hasRoot(
  db: Database,
  accountId: string,
  { root_hash, tree_size }: { readonly tree_size: number; readonly root_hash: string },
): Promise<boolean> {
  try {
    return (await rootOf(db, accountId, tree_size)) === root_hash;
  } catch (error) {
    if (error instanceof LogBrokenError) return false;
    throw error;
  }
}

/** Checkpoints that the audit log tells of otherwise, or that one of the two does not have. */
async function auditFaults(db: Database, accountId: string): Promise<Numbered[]> {
  const faults: Numbered[] = [];
  for (const { fault, is_told, number, seq } of await auditDifferences(db, accountId))
    if (seq === null || (await isGenuine(db, accountId, seq))) faults.push({ number, fault });
    else if (is_told === false) faults.push({ number, fault: notTold });
  return faults;
}

/** The check of the audit log names the entries that are not. */
async function isGenuine(db: Database, accountId: string, seq: number): Promise<boolean> {
  const [entry] = await readAudit(db, accountId, { order: 'asc', limit: 1, afterSeq: seq - 1 });
  return entry !== undefined && auditFault(entry) === null;
}

const notTold = 'checkpoint not in the audit log';

interface AuditDifference extends Numbered {
  /** The entry of the audit log that tells of it. */
  readonly seq: number | null;
  /** Whether another entry tells of it as it is; null: there is no checkpoint. */
  readonly is_told: boolean | null;
}

const auditDifferences = (db: Database, accountId: string) => db.$queryRaw<AuditDifference[]>`
  SELECT number, seq, fault, is_told FROM (SELECT coalesce(told.size, stored.size)::float8 AS number, told.seq::float8 AS seq,
    CASE WHEN stored.size IS NULL THEN 'checkpoint missing' ELSE ${notTold} END AS fault,
    told.root IS NOT DISTINCT FROM stored.root AS is_same,
    CASE WHEN stored.size IS NULL THEN NULL
      ELSE bool_or(told.root IS NOT DISTINCT FROM stored.root) OVER (PARTITION BY stored.size) END AS is_told
  FROM (
    SELECT CASE WHEN after ->> 'tree_size' ~ '^[0-9]{1,15}$' THEN (after ->> 'tree_size')::bigint ELSE 0 END AS size,
      after ->> 'root_hash' AS root, seq
    FROM audit WHERE chain = ${accountId} AND action = ${signedAction}) told
  FULL JOIN (
    SELECT tree_size AS size, checkpoint ->> 'root_hash' AS root FROM receipt_log_checkpoints
    WHERE account_id = ${accountId}) stored ON told.size = stored.size) each
  WHERE NOT is_same ORDER BY number`;

/** Returns the accounts that have a log, or should have one. */
async function nextAccount(db: Database, after: string): Promise<string | null> {
  const [found] = await db.$queryRaw<{ id: string | null }[]>`
    SELECT least(
      (SELECT min(account_id) FROM receipt_log WHERE account_id > ${after}),
      (SELECT min(account_id) FROM receipt_log_checkpoints WHERE account_id > ${after}),
      (SELECT min(id) FROM accounts WHERE id > ${after})) AS id`;
  return found?.id ?? null;
}
