/** `/v1/gw/receipts*` and `/organisation/v1/receipts*`: reads of the ledger, each account its own. */

import { receiptListSchema } from '@gw/contract/catalogue';
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { lineageSchema } from '@gw/contract/lineage';
import { type LedgerQuery, ledgerQuerySchema, receiptQuerySchema } from '@gw/contract/management';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { receiptRoutingSchema } from '@gw/contract/routing-trace';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { refuse, sendJson } from '../../shared/replies.ts';
import { CrowdedPlaceError } from './archived-lists.ts';
import type { Entries } from './entries.ts';
import { findReceipt } from './find-receipt.ts';
import { isCursor, type LedgerPage, ledgerPage } from './ledger.ts';
import type { LedgerPlace } from './ledger-place.ts';
import { LineageMismatchError, receiptLineage } from './lineage.ts';
import type { Seals } from './sealed-rows.ts';

export function receiptRoutes(
  app: FastifyInstance,
  stores: Context & { readonly entries: Entries; readonly seals: Seals },
  place: LedgerPlace,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { addresses } = stores;
  const { accountOf, config, paths } = place;
  const find = (reply: FastifyReply, ...asked: AskedReceipt) => findTold(stores, reply, asked);

  const listed = { config: { ...config, reply: receiptListSchema }, schema: { querystring: ledgerQuerySchema } };
  typed.get(paths.receipts, listed, async (request, reply) => {
    const page = await pageOf(stores, accountOf(request), request.query);
    if ('code' in page) return refuse(reply, page, addresses);
    const { altered, firstId, hasMore, lastId, rows } = page;
    const ends = { has_more: hasMore, first_id: firstId, last_id: lastId, ...(altered.length > 0 && { altered }) };
    // Assembled as text: the receipts go out as they were stored, without being parsed and printed again.
    const data = rows.map((row) => row.json).join(',');
    return sendJson(reply, `{"object":"list","data":[${data}],${JSON.stringify(ends).slice(1)}`);
  });

  const byId = { params: z.object({ id: z.string() }), querystring: receiptQuerySchema };
  const one = { config: { ...config, reply: receiptSchema }, schema: byId };
  typed.get(`${paths.receipts}/:id`, one, async (request, reply) => {
    const receipt = await find(reply, accountOf(request), request.params.id, request.query.version);
    if (receipt === null) return refuse(reply, apiError('receipt_not_found', { param: 'receipt_id' }), addresses);
    if ('fault' in receipt) return refuse(reply, apiError('receipt_integrity_failed'), addresses);
    return sendJson(reply, receipt.json, receipt.pending ? 202 : 200);
  });

  const routed = { config: { ...config, reply: z.union([receiptRoutingSchema, receiptSchema]) }, schema: byId };
  typed.get(paths.routing, routed, async (request, reply) => {
    const found = await find(reply, accountOf(request), request.params.id, request.query.version);
    if (found === null) return refuse(reply, apiError('receipt_not_found', { param: 'receipt_id' }), addresses);
    if ('fault' in found) return refuse(reply, apiError('receipt_integrity_failed'), addresses);
    if (found.pending) return sendJson(reply, found.json, 202);
    const { id, pinned_region, version } = JSON.parse(found.json) as Receipt;
    const about = { object: 'gw.receipt_routing', receipt_id: id, version, pinned_region };
    return sendJson(reply, JSON.stringify({ ...about, routing_trace: found.routingTrace }));
  });

  // While the call is under way there is its receipt alone.
  const lineageReply = z.union([lineageSchema, receiptSchema]);
  const explained = { config: { ...config, reply: lineageReply }, schema: byId, onRequest: place.demand('gw:lineage') };
  typed.get(paths.lineage, explained, async (request, reply) => {
    const found = await find(reply, accountOf(request), request.params.id, request.query.version);
    if (found === null) return refuse(reply, apiError('receipt_not_found', { param: 'receipt_id' }), addresses);
    if ('fault' in found) return refuse(reply, apiError('receipt_integrity_failed'), addresses);
    if (found.pending) return sendJson(reply, found.json, 202);
    const whole = await found.readFacts();
    if ('fault' in whole) return refuse(reply, apiError('receipt_integrity_failed'), addresses);
    try {
      return sendJson(reply, JSON.stringify(receiptLineage({ json: found.json, facts: whole.facts })));
    } catch (error) {
      if (!(error instanceof LineageMismatchError)) throw error;
      request.log.error({ err: error }, 'a receipt cannot be explained');
      return refuse(
        reply,
        apiError('receipt_generation_failed', { message: 'The lineage could not be made.' }),
        addresses,
      );
    }
  });
}

async function pageOf(
  stores: Parameters<typeof ledgerPage>[0],
  account: string,
  query: LedgerQuery,
): Promise<ApiError | LedgerPage> {
  if (!isCursor(query)) {
    const form = query.order === 'arrival' ? 'the `last_id` of a page in this order, or a receipt id' : 'a receipt id';
    return fieldError('after', `after: is not ${form}.`);
  }
  try {
    return await ledgerPage(stores, account, query);
  } catch (error) {
    if (error instanceof CrowdedPlaceError) return fieldError('order', `order: ${error.message}`);
    throw error;
  }
}

type AskedReceipt = [account: string, id: string, version: number | undefined];

/** Says in a header that newer versions of the receipt are not shown, since the receipt itself is as it was stored. */
async function findTold(stores: Parameters<typeof findReceipt>[0], reply: FastifyReply, asked: AskedReceipt) {
  const found = await findReceipt(stores, ...asked);
  if (found !== null && 'altered' in found && found.altered.length > 0)
    reply.header('x-gw-receipt-altered', found.altered.join(','));
  return found;
}
