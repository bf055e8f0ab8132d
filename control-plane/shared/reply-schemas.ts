/**
 * What the replies of a route hold: the OpenAPI documents are made of it, and tests hold every reply to it.
 *
 * Invariant: no route is without a schema. None is applied to replies while the product runs: a schema that is behind
 * the product must not cost anybody the reply.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the reply of the route holds if it succeeds; null if it has no body, or none that is JSON. */
    reply?: z.ZodType | null;
  }
}

/** Throws for each route that does not state its reply. Call it before the routes are registered. */
export function demandReplySchemas(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.reply === undefined)
      throw new Error(`The route ${String(method)} ${url} does not state what it replies.`);
  });
}
