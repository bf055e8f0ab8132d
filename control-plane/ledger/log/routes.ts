/** `GET /v1/gw/receipts/{receipt_id}/proof`: that a receipt is in the chain of batches, and in the log of its account. It reads alone. */
import { apiError } from '@gw/contract/errors';
import { proofQuerySchema, receiptProofSchema } from '@gw/contract/evidence';
import { receiptSchema } from '@gw/contract/receipt';
import type { Checkpoint } from '@gw/evidence/checkpoint';
import type { Database } from '@gw/prisma/client';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { refuse, sendJson } from '../../shared/replies.ts';
import { ArchiveBrokenError } from '../receipts/archive-files.ts';
import type { Entries } from '../receipts/entries.ts';
import { findReceipt } from '../receipts/find-receipt.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { entryHash } from './append.ts';
import { batchProof } from './heads.ts';
import { consistencyPath, hasCheckpoints, inclusionPaths, LogBrokenError, newestCheckpoint } from './tree.ts';

const namedSchema = z.object({ id: z.string(), version: z.int() });
const schema = { params: z.object({ id: z.string() }), querystring: proofQuerySchema };

export function proofRoutes(
  app: FastifyInstance,
  stores: Context & { readonly entries: Entries; readonly seals: Seals },
): void {
  const { addresses, db } = stores;
  const options = { config: { reply: z.union([receiptProofSchema, receiptSchema]) }, schema };
  app.withTypeProvider<ZodTypeProvider>().get('/v1/gw/receipts/:id/proof', options, async (request, reply) => {
    const { accountId } = identityOf(request);
    const { earlier_tree_size, version } = request.query;
    // Before the receipt, which may be settled meanwhile.
    const checkpoint = await newestCheckpoint(db, accountId);
    if (checkpoint === null && (await hasCheckpoints(db, accountId)))
      throw new LogBrokenError('The newest checkpoint of the log of receipts cannot be read.');
    const found = await findReceipt(stores, accountId, request.params.id, version);
    if (found === null) return refuse(reply, apiError('receipt_not_found', { param: 'receipt_id' }), addresses);
    if ('fault' in found) return refuse(reply, apiError('receipt_integrity_failed'), addresses);
    if (found.pending) return sendJson(reply, found.json, 202);
    const proof = await proofOf(stores, {
      accountId,
      json: found.json,
      checkpoint,
      from: earlier_tree_size ?? null,
    });
    return sendJson(reply, JSON.stringify(proof));
  });
}

/** Throws LogBrokenError if rows of the log are gone. */
async function proofOf(
  stores: Parameters<typeof batchProof>[0],
  {
    accountId,
    checkpoint,
    from,
    json,
  }: {
    readonly accountId: string;
    readonly json: string;
    readonly checkpoint: Checkpoint | null;
    readonly from: number | null;
  },
) {
  const { db } = stores;
  const { id, version } = namedSchema.parse(JSON.parse(json));
  const leaf = entryHash(json);
  const index = checkpoint === null ? null : await indexOf(db, { id, version, leaf }, checkpoint);
  const [path = null] =
    checkpoint === null || index === null
      ? []
      : await inclusionPaths(db, checkpoint.account, [index], checkpoint.tree_size);
  return {
    object: 'gw.receipt_proof',
    receipt_id: id,
    version,
    leaf_hash: leaf,
    index,
    path,
    checkpoint,
    consistency: checkpoint === null || from === null ? null : await goingOn(db, checkpoint, from),
    ...(await batchOf(stores, { accountId, id, version })),
  };
}

/** A batch that somebody has altered leaves the log of the account as it is, so it is told of, and the rest is served. */
async function batchOf(stores: Parameters<typeof batchProof>[0], place: Parameters<typeof batchProof>[1]) {
  try {
    return { batch: await batchProof(stores, place), batch_fault: null };
  } catch (error) {
    if (!(error instanceof LogBrokenError || error instanceof ArchiveBrokenError)) throw error;
    return { batch: null, batch_fault: error.message };
  }
}

async function indexOf(
  db: Database,
  { id, leaf, version }: { readonly id: string; readonly version: number; readonly leaf: string },
  { account, tree_size }: Checkpoint,
): Promise<number | null> {
  const [found] = await db.$queryRaw<{ index: number }[]>`
    SELECT index::float8 AS index FROM receipt_log
    WHERE receipt_id = ${id} AND version = ${version} AND account_id = ${account} AND index < ${tree_size}
      AND leaf_hash = decode(${leaf}, 'hex')
    ORDER BY index LIMIT 1`;
  return found?.index ?? null;
}

/** Proves that the log of a checkpoint continues its first `from` entries; null if it has fewer. */
export async function goingOn(
  db: Database,
  { account, tree_size }: Checkpoint,
  from: number,
): Promise<{ readonly from: number; readonly path: readonly string[] } | null> {
  return from > tree_size ? null : { from, path: await consistencyPath(db, account, from, tree_size) };
}
