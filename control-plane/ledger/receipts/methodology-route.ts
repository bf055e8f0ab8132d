/**
 * `GET /v1/gw/methodology/{hash}`, and the same under `/organisation/v1`: the text that the `methodology_hash` of a receipt is over, to the byte, so that a client
 * can hash it again and read by which constants and formulas the receipt was made.
 *
 * Invariant: under one hash there is one text, for ever. It is part of the program, so it is answered while all stores are
 * away. Every key and person that may read receipts may read it; nothing of an account is in it.
 */
import { apiError } from '@gw/contract/errors';
import { methodologySchema } from '@gw/contract/methodology';
import { methodologyOfHash } from '@gw/methodology/methodologies';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../shared/context.ts';
import { refuse, sendJson } from '../../shared/replies.ts';
import type { LedgerPlace } from './ledger-place.ts';

/** Not for shared caches: they would answer without a key, and with the limits of another account in the headers. */
const forEver = 'private, max-age=31536000, immutable';

export function methodologyRoute(
  app: FastifyInstance,
  { addresses }: Pick<Context, 'addresses'>,
  { config, paths }: LedgerPlace,
): void {
  const options = { config: { ...config, reply: methodologySchema } };
  app.get<{ Params: { hash: string } }>(paths.methodology, options, (request, reply) => {
    const { hash } = request.params;
    const method = methodologyOfHash(hash.startsWith('sha256:') ? hash : `sha256:${hash}`);
    if (method === null)
      return refuse(reply, apiError('methodology_not_found', { param: 'methodology_hash' }), addresses);
    const etag = `"${method.hash}"`;
    reply.headers({ etag, 'cache-control': forEver });
    const held = request.headers['if-none-match'] ?? '';
    // A list of such tags, or any.
    return held.trim() === '*' || held.includes(etag) ? reply.code(304).send() : sendJson(reply, method.document);
  });
}
