/**
 * Whose idempotency keys an API key uses: those of its account. And what it gets again.
 *
 * Invariant: a key gets the reply to an earlier request only if it could make the request at this moment: it is valid and
 * holds the scope of the route, its account may issue keys, and its own limits are no lower than those of the key that it would be shown.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { issuedKeySchema } from '@gw/contract/keys';
import { routes } from '@gw/contract/routes';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../shared/context.ts';
import type { Actors, MadeReply } from '../../shared/idempotent-changes.ts';
import { identityOf } from '../../shared/identity.ts';
import { refusalOfKey } from './caller.ts';
import { findKeyRow } from './key-row.ts';
import { ownLimitsRefusal } from './limits.ts';
import { publicError } from './refusals.ts';

const placeOf = (method: string, path: string): string => `${method} ${path.replace(/:\w+|\{\w+\}/g, '{}')}`;
const routeAt = new Map(routes.map((route) => [placeOf(route.method, route.path), route]));

export function keyActors(context: Pick<Context, 'db' | 'now'>): Actors {
  return {
    // Apart from its calls, so that their replies take no room from those that show a key.
    scopeOf: (request) => `changes:${identityOf(request).accountId}`,
    stampOf: () => '',
    // A change looks by itself, in its transaction.
    refusal: async (request, made) => (made === null ? null : replayRefusal(request, made, context)),
  };
}

async function replayRefusal(
  request: FastifyRequest,
  made: MadeReply,
  { db, now }: Pick<Context, 'db' | 'now'>,
): Promise<ApiError | null> {
  const { accountId, keyId } = identityOf(request);
  const { method, routeOptions } = request;
  const route = routeAt.get(placeOf(method, routeOptions.url ?? ''));
  const refusal = refusalOfKey(await findKeyRow(db, accountId, keyId), now(), route?.scope ?? undefined);
  if (refusal !== null) return refusal;
  if (route?.needsActive) {
    const account = await db.account.findUnique({ where: { id: accountId }, select: { state: true } });
    if (account?.state !== 'active') return apiError('customer_suspended');
  }
  const issued = issuedKeySchema.safeParse(JSON.parse(made.text));
  if (!issued.success) return null;
  const actor = { kind: 'api_key', id: keyId, name: null } as const;
  const aboveOwn = await ownLimitsRefusal(db, accountId, actor, issued.data.limits ?? null);
  return aboveOwn && publicError(aboveOwn);
}
