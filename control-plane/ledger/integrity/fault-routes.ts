/** `/operator/v1/integrity/faults`: what the checks have found, and the acknowledgement of it. */
import { fieldError } from '@gw/contract/errors';
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import {
  acknowledge,
  acknowledgementOf,
  type FaultId,
  type FaultRow,
  faultIdIn,
  faultKinds,
  idOf,
} from './acknowledge.ts';

const acknowledgedSchema = z.strictObject({
  at: z.string(),
  by: z.string().describe('Id of the operator'),
  name: z.string().nullable(),
  reason: z.string(),
});
const kindSchema = z.enum(faultKinds);
const faultSchema = z.strictObject({
  id: z.string(),
  kind: kindSchema,
  name: z
    .string()
    .describe(
      'A chain, the id of a receipt, the digest of a part of facts, the account of a log or of a minute, `batches`, `heads`, a process of ext-authz (`witness …`), or an archived month or one of its files',
    ),
  number: z
    .number()
    .describe(
      'The number of the entry in its chain or log, the version, the batch, the minute since 1970, or the statement',
    ),
  fault: z.string(),
  found_at: z.iso.datetime(),
  seen_at: z.iso.datetime(),
  mended_at: z.iso.datetime().nullable().describe('When a full check no longer found it'),
  acknowledged: acknowledgedSchema
    .nullable()
    .describe('Null: it counts in health and in the gauges until it is mended'),
});
const query = z.object({
  /** The `last_id` of the page before. */
  after: z.string().max(8000).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  state: z.enum(['open', 'all']).default('open').describe('`open`: those that are not mended'),
});
const body = z.strictObject({
  id: z.string().max(8000),
  fault: z.string().max(100).describe('The fault that you have seen: another one of the same row stays an alarm'),
  reason: z.string().trim().min(1).max(500),
});
const path = '/operator/v1/integrity/faults';

interface ListedFault extends FaultRow {
  readonly found_at: Date;
  readonly seen_at: Date;
  readonly mended_at: Date | null;
}

export function faultRoutes(base: FastifyInstance, context: Context, seals: Seals): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { addresses } = context;
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: pageSchema(faultSchema) } as const;
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: acknowledgedSchema } as const;

  app.get(path, { config: viewer, schema: { querystring: query } }, async (request, reply) => {
    const { after, limit, state } = request.query;
    const place = after === undefined ? { kind: '', name: '', number: '0' } : faultIdIn(after);
    if (place === null) return refuse(reply, fieldError('after', 'after: is not the id of a fault.'), addresses);
    const rows = await listed(context, place, { limit: limit + 1, isOpen: state === 'open' });
    const data = rows.slice(0, limit).map((row) => viewOf(row, seals));
    return pageOf(data, ({ id }) => id, rows.length > limit);
  });

  app.post(`${path}/acknowledge`, { config: admin, schema: { body } }, async (request, reply) => {
    const { fault, id: text, reason } = request.body;
    const id = faultIdIn(text);
    if (id === null) return refuse(reply, fieldError('id', 'id: is not the id of a fault.'), addresses);
    const outcome = await acknowledge(context, seals, { id, fault, reason }, changeOf(request, context));
    return answer(reply, outcome, context);
  });
}

const listed = (
  { db }: Pick<Context, 'db'>,
  { kind, name, number }: FaultId,
  { isOpen, limit }: { readonly isOpen: boolean; readonly limit: number },
): Promise<ListedFault[]> => db.$queryRaw<ListedFault[]>`
  SELECT kind, name, number::text AS number, fault, found_at, seen_at, mended_at, acknowledgement FROM integrity_faults
  WHERE (kind, name, number) > (${kind}, ${name}, ${number}::bigint) AND (NOT ${isOpen} OR mended_at IS NULL)
  ORDER BY kind, name, number LIMIT ${limit}`;

function viewOf(row: ListedFault, seals: Seals): z.infer<typeof faultSchema> {
  const { fault, found_at, kind, mended_at, name, number, seen_at } = row;
  return {
    id: idOf(row),
    kind: kindSchema.parse(kind),
    name,
    number: Number(number),
    fault,
    found_at: found_at.toISOString(),
    seen_at: seen_at.toISOString(),
    mended_at: mended_at?.toISOString() ?? null,
    acknowledged: acknowledgementOf(row, seals),
  };
}
