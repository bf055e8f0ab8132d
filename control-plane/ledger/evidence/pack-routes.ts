/**
 * `GET` and `DELETE /v1/gw/evidence-pack/{id}`, and the same under `/organisation/v1`: the state of a pack that a job builds, and the pack.
 *
 * Invariant: few packs are read at a time, and fewer by one account, because each reader holds a chunk in memory (closed: a further reader is told to
 * ask again). A slow reader holds no connection to Postgres.
 */
import { Readable } from 'node:stream';
import { apiError } from '@gw/contract/errors';
import { evidencePackSchema, packJobSchema } from '@gw/contract/evidence';
import { defined } from '@gw/contract/internal/defined';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { refuse, sendJson } from '../../shared/replies.ts';
import type { LedgerPlace } from '../receipts/ledger-place.ts';
import { chunksOf } from './chunks.ts';
import { mediaTypes } from './media-types.ts';
import { cancelPack, findPack, jobOf, type PackRow } from './packs.ts';
import type { Places } from './places.ts';
import { type ByteRange, rangeOf } from './range.ts';

const schema = { params: z.object({ id: z.string() }) };
const pollAfterS = 2;

export function packRoutes(app: FastifyInstance, context: Context, readers: Places, at: LedgerPlace): void {
  const { addresses, db } = context;
  const routes = app.withTypeProvider<ZodTypeProvider>();
  const notFound = apiError('evidence_pack_not_found', { param: 'pack_id' });
  const send = packSender(context, readers);
  const url = `${at.paths.pack}/:id`;
  const options = (reply: z.ZodType) => ({
    config: { ...at.config, reply },
    schema,
    onRequest: at.demand('gw:export'),
    onSend: at.onSend,
  });
  routes.get(url, options(z.union([evidencePackSchema, packJobSchema])), async (request, reply) => {
    const row = await findPack(db, at.accountOf(request), request.params.id);
    if (row === null) return refuse(reply, notFound, addresses);
    void reply.header('cache-control', 'no-store');
    if (row.state !== 'ready' || wantsState(request)) return sendState(reply, row);
    return send(request, reply, row);
  });
  routes.delete(url, options(packJobSchema), async (request, reply) => {
    const row = await cancelPack(db, at.accountOf(request), request.params.id);
    return row === null ? refuse(reply, notFound, addresses) : sendJson(reply, JSON.stringify(jobOf(row)));
  });
}

/** A client that accepts only JSON asks for the state, even if the pack is ready. */
const wantsState = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.split(/[,;]/, 1)[0]?.trim().toLowerCase() === 'application/json';

export function sendState(reply: FastifyReply, row: PackRow): FastifyReply {
  const isUnderWay = row.state === 'queued' || row.state === 'building';
  if (isUnderWay) void reply.header('retry-after', pollAfterS);
  return sendJson(reply, JSON.stringify(jobOf(row)), isUnderWay ? 202 : 200);
}

function packSender({ addresses, db }: Context, readers: Places) {
  return (request: FastifyRequest, reply: FastifyReply, row: PackRow): FastifyReply => {
    const bytes = defined(row.bytes, 'The length of a pack that is ready');
    const etag = `"${row.id}-${row.try}"`;
    const range = rangeOf(request.headers, { bytes, etag });
    if (range === 'unsatisfiable')
      return refuse(reply.header('content-range', `bytes */${bytes}`), apiError('range_not_satisfiable'), addresses);
    const { end, start }: ByteRange = range ?? { start: 0, end: bytes };
    const place = readers.take(row.account_id);
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    void reply.headers({
      etag,
      'accept-ranges': 'bytes',
      'content-length': end - start,
      'content-type': mediaTypes[row.format],
    });
    const digest =
      row.statement === null ? null : z.object({ sha256: z.hex() }).parse(JSON.parse(row.statement)).sha256;
    if (digest !== null) void reply.header('repr-digest', `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`);
    if (range !== null) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${bytes}`);
    // Fastify would state the length of any other body.
    if (request.method === 'HEAD') {
      place.leave();
      return reply.send(Readable.from([]));
    }
    const body = Readable.from(chunksOf(db, row, start, end), { highWaterMark: 1 });
    body.once('close', place.leave);
    return reply.send(body);
  };
}
