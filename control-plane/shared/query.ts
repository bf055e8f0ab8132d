/**
 * Invariant: no query gets to its handler with a parameter that the endpoint does not take, or with text that is no
 * UTF-8. A filter that is misspelt would else be one that silently lets everything through.
 *
 * The schema of an endpoint says which parameters it takes and which values they may have; one without a schema takes
 * nothing.
 */
import type { Addresses } from '@gw/contract/errors';
import { queryRefusal } from '@gw/contract/internal/query-refusal';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { refuse } from './replies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes any query, since others write it: probes, and the identity provider that sends a browser back. */
    anyQuery?: true;
  }
}

/** Makes `app` refuse unknown parameters, and throw for a query whose schema is not an object. */
export function refuseUnknownQueries(app: FastifyInstance, addresses: Addresses): void {
  app.addHook('preValidation', async (request, reply) => {
    const { config, schema } = request.routeOptions;
    if (request.is404 || config.anyQuery) return;
    const query = schema?.querystring;
    // An endpoint whose schema is of another kind cannot say what it takes: a fault of ours.
    if (query !== undefined && !(query instanceof z.ZodObject))
      throw new Error('A query has a schema that names nothing.');
    const refusal = queryRefusal(request.url, Object.keys(query?.shape ?? {}));
    if (refusal !== null) return refuse(reply, refusal, addresses);
    const given = request.query as Record<string, unknown>;
    for (const [name, value] of Object.entries(given)) if (typeof value === 'string') given[name] = withOffset(value);
  });
}

/** In a query a plus sign is a blank; in a time the sign of an offset is all that can have been there. */
const withOffset = (value: string): string =>
  value.replace(/^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) (\d\d:\d\d)$/, '$1+$2');
