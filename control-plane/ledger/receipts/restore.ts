/**
 * `/operator/v1/receipts/restore`: puts the genuine row of a receipt back where somebody has replaced it.
 *
 * Invariant: a row that is not genuine gives way to one that is, or a genuine one to a genuine one that came later and was taken back, and
 * never the other way round. The row that gives way stays in `receipt_replacements`.
 */
import { err, ok } from '@gw/contract/internal/result';
import { Prisma } from '@gw/prisma/client';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, type ChangeContext, changeOf } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { type ReplacedRow, readRows, replacedRows, storedColumns } from './read-rows.ts';
import type { LedgerRow } from './seal.ts';
import type { Seals } from './sealed-rows.ts';

const body = z.strictObject({ receipt_id: z.string().min(1).max(200), version: z.int32().positive().default(1) });
const restoredSchema = z.strictObject({
  object: z.literal('restored_receipt'),
  receipt_id: z.string(),
  version: z.int(),
  account_id: z.string(),
  content_sha256: z.string().describe('Digest of the row that is there again'),
  replaced_sha256: z.string().describe('Digest of the row that gave way, which is in `receipt_replacements`'),
});
type Restored = z.infer<typeof restoredSchema>;

export function restoreRoutes(base: FastifyInstance, context: Context, seals: Seals): void {
  const config = { access: { kind: 'operator', role: 'admin' }, reply: restoredSchema } as const;
  base
    .withTypeProvider<ZodTypeProvider>()
    .post('/operator/v1/receipts/restore', { config, schema: { body } }, async (request, reply) =>
      answer(reply, await restore(context, seals, request.body, changeOf(request, context)), context),
    );
}

function restore(
  { db }: Pick<Context, 'db'>,
  seals: Seals,
  { receipt_id: id, version }: z.infer<typeof body>,
  change: ChangeContext,
): Promise<ChangeResult<Restored>> {
  const { actor, at, requestId } = change;
  return db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot !== null) return err(mayNot);
    const [present] = await readRows(
      tx,
      Prisma.sql`SELECT ${storedColumns} FROM receipts r WHERE r.id = ${id} AND r.version = ${version} LIMIT 1`,
    );
    if (present === undefined) return err(notFound('receipt', 'No row of this version is stored.'));
    const replaced = (await replacedRows(tx, [id])).filter((row) => row.version === version);
    const isGenuine = (await seals.check([present]))[0] === null;
    const earlier = isGenuine
      ? newerThanPresent(seals, present, replaced)
      : replaced.findLast((row) => row.account_id === present.account_id && seals.faultOf(row) === null);
    if (isGenuine && earlier === undefined)
      return err(invalidTransition('This version of the receipt is genuine: there is nothing to restore.'));
    const digest = present.content_sha256;
    if (earlier === undefined || digest === null)
      return err(invalidTransition('No genuine row of this version was replaced: restore it from a backup.'));
    const [done] = await tx.$queryRaw<{ restored: boolean }[]>`
      SELECT restore_receipt(${earlier.seq}::bigint, ${digest}) AS restored`;
    if (done?.restored !== true) return err(invalidTransition('The row has changed meanwhile: try again.'));
    const after = { content_sha256: earlier.content_sha256, version };
    const target = `receipt:${id}`;
    await appendAudit(tx, at, {
      accountId: present.account_id,
      actor,
      action: 'receipt.restored',
      target,
      requestId,
      before: { content_sha256: digest, version },
      after,
    });
    return ok({
      object: 'restored_receipt',
      receipt_id: id,
      version,
      account_id: present.account_id,
      content_sha256: String(earlier.content_sha256),
      replaced_sha256: digest,
    });
  });
}

/**
 * Returns the genuine row of a version that came last, among those that were replaced; undefined if that is the one which is there, or there is
 * none. A row that was put back keeps the place of its first time.
 */
export function newerThanPresent(
  seals: Seals,
  { account_id, content_sha256, id, version }: LedgerRow,
  replaced: readonly ReplacedRow[],
): ReplacedRow | undefined {
  const own = replaced.filter((row) => row.id === id && row.version === version && row.account_id === account_id);
  const firsts = own.filter((row, at) => own.findIndex((each) => each.content_sha256 === row.content_sha256) === at);
  const place = firsts.findIndex((row) => row.content_sha256 === content_sha256);
  // A row that was never replaced is the newest.
  const later = place === -1 ? [] : firsts.slice(place + 1);
  return later.findLast((row) => seals.faultOf(row) === null);
}
