/**
 * Who is calling, on the internal listener.
 *
 * Invariant: identity headers are believed only on a request that shows the internal token, which only Envoy has.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { accountTiers, scopes } from '@gw/contract/access';
import { apiError } from '@gw/contract/errors';
import type { InternalTokens } from '@gw/contract/internal/environment';
import { type Identity, identityHeaders, internalTokenHeader } from '@gw/contract/internal/identity';
import { tokenTest } from '@gw/service/internal-token';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from './context.ts';
import { refuse } from './replies.ts';

const identitySchema = z.object({
  accountId: z.string().min(1),
  keyId: z.string().min(1),
  tier: z.enum(accountTiers),
  scopes: z.string().transform((text) => scopes.filter((scope) => text.split(/[\s,]+/).includes(scope))),
  models: z
    .string()
    .optional()
    .transform((text) => (text === undefined ? null : z.array(z.string()).parse(JSON.parse(text)))),
});

/** Makes `app` refuse each request that does not show the internal token. */
export function demandToken(app: FastifyInstance, tokens: InternalTokens, context: Context): void {
  const isToken = tokenTest(tokens);
  app.addHook('onRequest', async (request, reply) => {
    const shown = request.headers[internalTokenHeader];
    if (typeof shown === 'string' && isToken(shown)) return;
    return refuse(reply, apiError('invalid_api_key'), context.addresses);
  });
}

/**
 * Returns who calls. Throws if the headers are missing or malformed: only an error of the gateway itself can cause
 * that.
 */
export function identityOf(request: FastifyRequest): Identity {
  return identitySchema.parse(namedHeaders(request.headers));
}

function namedHeaders(headers: IncomingHttpHeaders): Record<string, unknown> {
  return Object.fromEntries(Object.entries(identityHeaders).map(([field, name]) => [field, headers[name]]));
}
