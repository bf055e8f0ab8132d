/**
 * `/operator/v1/receipts/set-aside`: what could not be ingested, and a way back once its cause is mended.
 *
 * Invariant: an entry is in one of the two streams at any time; whoever moves them all twice makes no second row. None
 * is moved without an entry in the audit log. No reply shows what stands in one but ids.
 */

import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { err, ok } from '@gw/contract/internal/result';
import { namesOf } from '@gw/contract/internal/sealed-entry';
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, type ChangeContext, changeOf } from '../../people/access/change.ts';
import { noBody } from '../../people/access/fields.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import type { ChangeResult } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';

const entrySchema = z.strictObject({
  id: z.string().describe('Of the entry in the stream'),
  set_aside_at: z.iso.datetime(),
  reason: z.string(),
  receipt_id: z.string().nullable().describe('As the entry says, which is not proven. Null: it does not tell'),
  account_id: z.string().nullable().describe('As the entry says'),
});
const retriedSchema = z.strictObject({
  object: z.literal('set_aside_entries'),
  retried: z.int(),
  left: z.int().describe('How many more were set aside: call again'),
});
const query = z.object({
  /** The `last_id` of the page before. */
  after: z
    .string()
    .regex(/^\d{1,15}-\d{1,15}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const path = '/operator/v1/receipts/set-aside';
const batch = 100;
/** How many entries one call hands over at most, so that it takes a bounded time. */
const atOnce = 1000;

export function setAsideRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { redis } = context;
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: pageSchema(entrySchema) } as const;
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: retriedSchema } as const;

  app.get(path, { config: viewer, schema: { querystring: query } }, async (request) => {
    const { after, limit } = request.query;
    const from = after === undefined ? '-' : `(${after}`;
    const found = await redis.xrangeBuffer(deadLedgerStream, from, '+', 'COUNT', limit + 1);
    return pageOf(found.slice(0, limit).map(viewOf), ({ id }) => id, found.length > limit);
  });

  app.post(`${path}/retry`, { config: admin, schema: { body: noBody } }, async (request, reply) =>
    answer(reply, await retry(context, changeOf(request, context)), context),
  );
}

/** Hands what is there to the ingester again, up to a bound. What still cannot be stored is set aside again. */
async function retry(
  { db, redis }: Context,
  change: ChangeContext,
): Promise<ChangeResult<z.infer<typeof retriedSchema>>> {
  const found = await redis.xlen(deadLedgerStream);
  const retried = Math.min(found, atOnce);
  const { actor, at, requestId } = change;
  const fact = { actor, action: 'receipts.retried', target: deadLedgerStream, requestId, after: { count: retried } };
  const refusal = await db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot === null) await appendAudit(tx, at, { ...fact, accountId: null });
    return mayNot;
  });
  if (refusal !== null) return err(refusal);
  // Only now (closed): nothing is moved whose entry is not committed. If Redis fails, the entry tells of more than moved.
  await moveBack(redis, retried);
  return ok({ object: 'set_aside_entries', retried, left: found - retried });
}

/** The number is bounded, so that entries which come back meanwhile are not moved again and again. */
async function moveBack(redis: Context['redis'], count: number): Promise<void> {
  for (let left = count; left > 0; left -= batch) {
    const some = await redis.xrangeBuffer(deadLedgerStream, '-', '+', 'COUNT', Math.min(batch, left));
    if (some.length === 0) break;
    const move = redis.multi();
    for (const [id, fields] of some) {
      move.xadd(ledgerStream, '*', 'entry', fieldOf(fields, 'entry'));
      move.xdel(deadLedgerStream, id);
    }
    await move.exec();
  }
}

function viewOf([streamId, fields]: [streamId: Buffer, fields: Buffer[]]): z.infer<typeof entrySchema> {
  const named = namesOf(fieldOf(fields, 'entry'));
  const id = streamId.toString();
  return {
    id,
    set_aside_at: new Date(Number(id.split('-')[0])).toISOString(),
    reason: fieldOf(fields, 'reason').toString(),
    receipt_id: named?.id ?? null,
    account_id: named?.account_id ?? null,
  };
}

/** Redis gives the fields of an entry as a flat list: name, value, name, value. */
const fieldOf = (fields: readonly Buffer[], name: string): Buffer =>
  fields[fields.findIndex((field) => field.toString() === name) + 1] ?? Buffer.alloc(0);
