/**
 * `GET` and `DELETE /v1/gw/evidence-pack/{id}`, and the same under `/organisation/v1`: the state of a pack that a job builds, and the pack.
 *
 * Invariant: few packs are read at a time, and fewer by one account, because each reader holds a chunk in memory (closed: a further reader is told to
 * ask again). A slow reader holds no connection to Postgres. No byte is sent that was not compared with its digest (closed): a pack that is altered or
 * not whole is an error before its first byte, or breaks off, and is noted as a fault.
 */
import { Readable } from 'node:stream';
import { apiError } from '@gw/contract/errors';
import { packJobSchema } from '@gw/contract/evidence';
import { defined } from '@gw/contract/internal/defined';
import { evidencePackSchema } from '@gw/contract/pack/schema';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Context, inRole } from '../../shared/context.ts';
import { refuse, sendJson } from '../../shared/replies.ts';
import { noteFaults } from '../integrity/faults.ts';
import type { LedgerPlace } from '../receipts/ledger-place.ts';
import { chunksOf, PackBrokenError } from './chunks.ts';
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

function packSender(context: Context, readers: Places) {
  const { addresses } = context;
  return async (request: FastifyRequest, reply: FastifyReply, row: PackRow): Promise<FastifyReply> => {
    const bytes = defined(row.bytes, 'The length of a pack that is ready');
    const etag = `"${row.id}-${row.try}"`;
    const range = rangeOf(request.headers, { bytes, etag });
    if (range === 'unsatisfiable')
      return refuse(reply.header('content-range', `bytes */${bytes}`), apiError('range_not_satisfiable'), addresses);
    const { end, start }: ByteRange = range ?? { start: 0, end: bytes };
    const place = readers.take(row.account_id);
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    const chunks = checkedChunks(context, row, { start, end });
    let first: IteratorResult<Buffer> | null = null;
    try {
      // Until then it can still be refused.
      if (request.method !== 'HEAD') first = await chunks.next();
    } catch (error) {
      place.leave();
      if (!(error instanceof PackBrokenError)) throw error;
      const now = await findPack(context.db, row.account_id, row.id);
      return now === null || now.state === 'ready' ? refuse(reply, broken, addresses) : sendState(reply, now);
    }
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
    if (first === null) {
      place.leave();
      return reply.send(Readable.from([]));
    }
    const body = Readable.from(startingWith(first, chunks), { highWaterMark: 1 });
    body.once('close', place.leave);
    return reply.send(body);
  };
}

const broken = apiError('internal_error', {
  message:
    'What is stored of this evidence pack was altered or is gone, so it is not sent. Delete it, and order another one.',
});

/** The chunks of a pack. That one of a pack which is still kept is altered or gone is noted as a fault. */
async function* checkedChunks(context: Context, row: PackRow, { end, start }: ByteRange): AsyncGenerator<Buffer> {
  try {
    yield* chunksOf(context.objects, row, start, end);
  } catch (error) {
    if (error instanceof PackBrokenError) await noteBroken(inRole(context, 'ledger'), row, error);
    throw error;
  }
}

async function noteBroken(context: Context, row: PackRow, error: PackBrokenError): Promise<void> {
  // A reader may find the objects of a pack gone that has ended meanwhile.
  if ((await findPack(context.db, row.account_id, row.id))?.state !== 'ready') return;
  context.log.error({ pack: row.id, err: error }, 'an evidence pack cannot be read');
  await noteFaults(context, 'pack', [{ name: row.id, number: row.try, fault: error.fault }]);
}

async function* startingWith<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (!first.done) yield first.value;
  yield* rest;
}
