/**
 * The schemas of replies: the OpenAPI documents are made of them, and tests hold every reply to them.
 *
 * Invariant: no route is without a schema. None is applied to replies while the product runs: a schema that is behind
 * the product must not cost anybody the reply.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The schema of a successful reply of the route; null if it has no body, or none that is JSON. */
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
