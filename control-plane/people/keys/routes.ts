/**
 * `/v1/keys*` for a customer's own programs. Envoy has let in only keys with the scope `admin:keys`.
 *
 * Invariant: the account is that of the calling key; the key of another account is as unknown as none.
 */
import { apiError, fieldError } from '@gw/contract/errors';
import {
  issuedKeySchema,
  keyCreateSchema,
  keyListQuerySchema,
  keyListSchema,
  keyRotateSchema,
  keySchema,
} from '@gw/contract/keys';
import { pageOf } from '@gw/contract/list';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { refuse } from '../../shared/replies.ts';
import { withStrictBodies } from '../../shared/strict-body.ts';
import type { Caller } from './caller.ts';
import type { Keys } from './keys.ts';
import { publicError } from './refusals.ts';
import type { KeyResult } from './result.ts';

const params = z.object({ id: z.string() });

export function keyRoutes(app: FastifyInstance, context: Context, keys: Keys): void {
  withStrictBodies(app, context, (scope) => registerRoutes(scope, context, keys));
}

function registerRoutes(app: FastifyInstance, { addresses, db }: Context, keys: Keys): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const answer = (reply: FastifyReply, result: KeyResult<object>) => {
    // A proxy or a browser must not keep the only reply that shows the key.
    void reply.header('cache-control', 'no-store');
    return result.ok ? reply.send(result.value) : refuse(reply, publicError(result.error), addresses);
  };
  const caller = async (request: FastifyRequest): Promise<Caller & { accountId: string }> => {
    const { accountId, keyId } = identityOf(request);
    const [key] = await db.$queryRaw<{ name: string }[]>`SELECT name FROM api_keys WHERE public_id = ${keyId}::text`;
    return { accountId, actor: { kind: 'api_key', id: keyId, name: key?.name ?? null }, requestId: request.id };
  };

  const listed = { config: { reply: keyListSchema }, schema: { querystring: keyListQuerySchema } };
  typed.get('/v1/keys', listed, async (request, reply) => {
    const page = await keys.list(identityOf(request).accountId, request.query);
    if (page === null) return refuse(reply, fieldError('after', 'after: is not a key of this account.'), addresses);
    return reply.send(pageOf(page.data, ({ id }) => id, page.hasMore));
  });

  const one = { config: { reply: keySchema }, schema: { params } };
  typed.get('/v1/keys/:id', one, async (request, reply) => {
    const key = await keys.read(identityOf(request).accountId, request.params.id);
    return key ?? refuse(reply, apiError('key_not_found', { param: 'key_id' }), addresses);
  });

  const issued = { reply: issuedKeySchema };
  typed.post('/v1/keys', { config: issued, schema: { body: keyCreateSchema } }, async (request, reply) => {
    const by = await caller(request);
    return answer(reply, await keys.create(by.accountId, request.body, by));
  });

  const rotation = { params, body: keyRotateSchema.nullish() };
  typed.post('/v1/keys/:id/rotate', { config: issued, schema: rotation }, async (request, reply) => {
    const by = await caller(request);
    return answer(reply, await keys.rotate(by.accountId, request.params.id, request.body ?? {}, by));
  });

  for (const action of ['revoke', 'restore'] as const) {
    typed.post(`/v1/keys/:id/${action}`, one, async (request, reply) => {
      const by = await caller(request);
      return answer(reply, await keys[action](by.accountId, request.params.id, by));
    });
  }
}
