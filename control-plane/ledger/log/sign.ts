/**
 * Signs how far the log of an account is.
 *
 * Invariant: nothing is signed that does not go on from what was signed before, and what that was the database alone cannot say: its
 * signature and the entries of the audit chain that are genuine do. Closed: what cannot be read, or does not fit, gets no checkpoint until somebody has mended it.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { type Checkpoint, checkCheckpoint, checkpointIn, signedCheckpoint } from '@gw/evidence/checkpoint';
import type { Trust } from '@gw/evidence/verify';
import type { Queryable } from '@gw/prisma/client';
import { z } from 'zod';
import { appendAudit } from '../../people/audit/append.ts';
import { lastGenuine } from '../../people/audit/read.ts';
import type { Context } from '../../shared/context.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { enterHours } from './hours.ts';
import { cleanTail, reportPlanted } from './tail.ts';
import { LogBrokenError, lockLog, rootOf } from './tree.ts';

export const trustIn = ({ former = [], publicJwk }: SigningKey): Trust => ({ keys: [publicJwk, ...former] });

/** A backlog has many entries. */
const patient = { timeout: 60_000, maxWait: 10_000 };

interface SignOptions extends Pick<Context, 'addresses' | 'db' | 'now'> {
  readonly key: SigningKey;
  readonly seals: Seals;
}

/** How far a round of the log has come with an account. */
export interface Followed {
  /** Hours before it are over. */
  readonly until: Date;
  /** The marks whose receipts are in the log now, but for those that are not genuine. */
  readonly marks: readonly bigint[];
}

/** Signs a checkpoint if the log has grown since the last one. Throws LogBrokenError if it does not go on from that. */
export async function signCheckpoint(
  { addresses, db, key, now, seals }: SignOptions,
  accountId: string,
  followed: Followed,
): Promise<void> {
  const planted = await db.$transaction(async (tx) => {
    await lockLog(tx, accountId);
    const before = await lastCheckpoint(tx, accountId, trustIn(key));
    const { planted, size } = await cleanTail(tx, seals, accountId, before?.tree_size ?? 0);
    if (before !== null) await expectToGoOn(tx, before);
    if (size === (before?.tree_size ?? 0)) return planted;
    const root = await rootOf(tx, accountId, size);
    const hoursRoot = await enterHours(tx, accountId, { before, size });
    const completeUntil = await coverage(tx, accountId, { ...followed, before });
    const { baseUrl } = addresses;
    const head = { account: accountId, baseUrl, size, root, hoursRoot, completeUntil, issued: now() };
    const checkpoint = await signedCheckpoint(head, key);
    await tx.$executeRaw`
      INSERT INTO receipt_log_checkpoints (account_id, tree_size, checkpoint)
      VALUES (${accountId}, ${size}, ${JSON.stringify(checkpoint)}::json)`;
    await appendAudit(tx, now(), {
      accountId,
      actor: { kind: 'system', id: 'receipt_log', name: null },
      action: signedAction,
      target: `receipt_log:${accountId}`,
      requestId: null,
      after: { tree_size: size, root_hash: root },
    });
    return planted;
  }, patient);
  await reportPlanted(seals, accountId, planted);
}

export const signedAction = 'receipt_log.signed';

/**
 * Before which time the log has all that was stored: where the first mark is that nobody has followed. It never goes back, since what comes
 * to an hour that was complete has come late.
 */
async function coverage(
  tx: Queryable,
  accountId: string,
  { before, marks, until }: Followed & { readonly before: Checkpoint | null },
): Promise<Date> {
  const [first] = await tx.$queryRaw<{ hour: Date | null }[]>`
    SELECT min(hour) AS hour FROM receipt_log_changes
    WHERE account_id = ${accountId} AND hour < ${until} AND seq <> ALL (${marks}::bigint[])`;
  const reached = first?.hour ?? until;
  const earlier = new Date(before?.complete_until ?? 0);
  return reached > earlier ? reached : earlier;
}

const statedSchema = z.object({ tree_size: z.int(), root_hash: z.string() });

/** The newest checkpoint, if it is ours and the last that the audit chain tells of; null: nothing was ever signed. */
async function lastCheckpoint(tx: Queryable, accountId: string, trust: Trust): Promise<Checkpoint | null> {
  const [stored] = await tx.$queryRaw<{ tree_size: number; checkpoint: unknown }[]>`
    SELECT tree_size::float8 AS tree_size, checkpoint FROM receipt_log_checkpoints
    WHERE account_id = ${accountId} ORDER BY receipt_log_checkpoints.tree_size DESC LIMIT 1`;
  const entry = await lastGenuine(tx, accountId, signedAction);
  const told = entry === null ? undefined : statedSchema.parse(entry.after);
  if (stored === undefined) {
    if (told === undefined) return null;
    throw new LogBrokenError(`The checkpoints of the log are gone; the audit log tells of ${told.tree_size} entries.`);
  }
  const checkpoint = checkpointIn(stored.checkpoint);
  const isOurs =
    checkpoint !== null &&
    checkpoint.account === accountId &&
    checkpoint.tree_size === stored.tree_size &&
    (await checkCheckpoint(checkpoint, trust)) === 'trusted';
  if (!isOurs)
    throw new LogBrokenError('The last checkpoint of the log is not what was signed, or by a key that is not listed.');
  if (told?.tree_size !== checkpoint.tree_size || told.root_hash !== checkpoint.root_hash)
    throw new LogBrokenError('The last checkpoint of the log is not the last that the audit log tells of.');
  return checkpoint;
}

async function expectToGoOn(tx: Queryable, { account, root_hash, tree_size }: Checkpoint): Promise<void> {
  if ((await rootOf(tx, account, tree_size)) !== root_hash)
    throw new LogBrokenError('The log of receipts does not go on from its last checkpoint.');
}
