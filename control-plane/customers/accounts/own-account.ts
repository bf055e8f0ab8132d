/**
 * `GET /organisation/v1/account`: an account as its people see it.
 *
 * Invariant: of what operators have judged (screening, onboarding) it shows nothing but the state that follows from it.
 */
import { scopes } from '@gw/contract/access';
import { mayGrant } from '@gw/contract/keys';
import { takenToday } from '@gw/service/day-unit';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { notFound } from '../../people/access/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { organisationAdminOf } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { accountSchema, accountView } from './account-view.ts';

const { shape } = accountSchema;
const ownAccountSchema = z.strictObject({
  id: shape.id,
  object: z.literal('gw.account'),
  name: shape.name,
  tier: shape.tier,
  state: shape.state,
  scopes: z.array(z.enum(scopes)).describe('What its keys can be granted with its tier'),
  limits: shape.limits,
  tokens: shape.tokens,
  shadow: shape.shadow,
  used_today: z
    .int()
    .nonnegative()
    .nullable()
    .describe('Calls of this UTC day, as `limits.per_day` counts them; null: nobody can say now'),
  created_at: shape.created_at,
  base_url: z.url().describe('Where its clients reach the gateway, without `/v1`'),
});

export function ownAccountRoute(app: FastifyInstance, { addresses, db, log, redis }: Context): void {
  const config = { access: { kind: 'organisation_admin' }, reply: ownAccountSchema } as const;
  app.get('/organisation/v1/account', { config }, async (request, reply) => {
    const { accountId } = organisationAdminOf(request);
    const row = await db.account.findUnique({ where: { id: accountId } });
    if (row === null) return refuse(reply, notFound('account'), addresses);
    const { created_at, id, limits, name, shadow, state, tier, tokens } = accountView(row);
    const used = await takenToday(redis, accountId).catch((error: unknown) => {
      // Open: the rest of the account is known.
      log.warn({ err: error }, 'Redis could not be asked what an account has used of its day');
      return null;
    });
    const granted = scopes.filter((scope) => mayGrant(scope, tier, false));
    return {
      id,
      object: 'gw.account',
      name,
      tier,
      state,
      scopes: granted,
      limits,
      tokens,
      shadow,
      used_today: used,
      created_at,
      base_url: addresses.baseUrl,
    };
  });
}
