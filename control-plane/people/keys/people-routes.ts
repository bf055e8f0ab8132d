/**
 * Keys by people: operators for any account (support may revoke, everything else is an admin's), and the admins of an
 * organisation for their own, so that also a tier that can hold no `admin:keys` can rotate and revoke.
 */
import { apiError, fieldError } from '@gw/contract/errors';
import {
  issuedKeySchema,
  keyChangeSchema,
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
import { actorOf, type OperatorRole, organisationAdminOf } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { withStrictBodies } from '../../shared/strict-body.ts';
import { grantOf } from '../access/change.ts';
import type { Access } from '../access/guard.ts';
import { notFound } from '../access/refusals.ts';
import type { Caller } from './caller.ts';
import type { Keys } from './keys.ts';
import { peopleError } from './refusals.ts';
import type { KeyResult } from './result.ts';

interface KeyHolders {
  readonly prefix: string;
  readonly access: (role: OperatorRole) => Access;
  readonly accountOf: (request: FastifyRequest) => string;
}

const operators: KeyHolders = {
  prefix: '/operator/v1/accounts/:accountId/keys',
  access: (role) => ({ kind: 'operator', role }),
  accountOf: (request) => z.object({ accountId: z.string() }).parse(request.params).accountId,
};

const organisation: KeyHolders = {
  prefix: '/organisation/v1/keys',
  access: () => ({ kind: 'organisation_admin' }),
  accountOf: (request) => organisationAdminOf(request).accountId,
};

export function keyPeopleRoutes(app: FastifyInstance, context: Context, keys: Keys): void {
  withStrictBodies(app, context, (scope) => {
    registerRoutes(scope, context, keys, operators);
    registerRoutes(scope, context, keys, organisation);
  });
}

// Loose: the operators' paths have the account in front.
const params = z.looseObject({ id: z.string() });

function registerRoutes(app: FastifyInstance, context: Context, keys: Keys, place: KeyHolders): void {
  const { addresses, db } = context;
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { access, accountOf, prefix } = place;
  const config = (role: OperatorRole, reply: z.ZodType) => ({ access: access(role), reply });
  const answer = (reply: FastifyReply, result: KeyResult<object>) => {
    void reply.header('cache-control', 'no-store');
    return result.ok ? reply.send(result.value) : refuse(reply, peopleError(result.error), addresses);
  };
  const caller = (request: FastifyRequest): Caller => {
    const grant = grantOf(request, context);
    return { actor: actorOf(grant.principal), requestId: request.id, grant };
  };

  /** Else an account that does not exist would seem to have no keys. */
  const isThere = async (id: string) => (await db.account.count({ where: { id } })) > 0;

  typed.get(
    prefix,
    { config: config('viewer', keyListSchema), schema: { querystring: keyListQuerySchema } },
    async (request, reply) => {
      const accountId = accountOf(request);
      if (!(await isThere(accountId))) return refuse(reply, notFound('account'), addresses);
      const page = await keys.list(accountId, request.query);
      if (page === null) return refuse(reply, fieldError('after', 'after: is not a key of this account.'), addresses);
      return reply.send(pageOf(page.data, ({ id }) => id, page.hasMore));
    },
  );

  typed.get(`${prefix}/:id`, { config: config('viewer', keySchema), schema: { params } }, async (request, reply) => {
    const key = await keys.read(accountOf(request), request.params.id);
    return key ?? refuse(reply, apiError('key_not_found', { param: 'key_id' }), addresses);
  });

  typed.post(
    prefix,
    { config: config('admin', issuedKeySchema), schema: { body: keyCreateSchema } },
    async (request, reply) => answer(reply, await keys.create(accountOf(request), request.body, caller(request))),
  );

  const rotation = { params, body: keyRotateSchema.nullish() };
  typed.post(
    `${prefix}/:id/rotate`,
    { config: config('admin', issuedKeySchema), schema: rotation },
    async (request, reply) =>
      answer(reply, await keys.rotate(accountOf(request), request.params.id, request.body ?? {}, caller(request))),
  );

  const change = { config: config('admin', keySchema), schema: { params, body: keyChangeSchema } };
  typed.patch(`${prefix}/:id`, change, async (request, reply) => {
    const { body, params: at } = request;
    return answer(reply, await keys.change(accountOf(request), at.id, body, caller(request)));
  });

  const changes = [
    ['revoke', 'support'],
    ['restore', 'admin'],
  ] as const;
  for (const [action, role] of changes) {
    typed.post(
      `${prefix}/:id/${action}`,
      { config: config(role, keySchema), schema: { params } },
      async (request, reply) =>
        answer(reply, await keys[action](accountOf(request), request.params.id, caller(request))),
    );
  }
}
