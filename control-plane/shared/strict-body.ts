/** Bodies of the routes that are registered in `routes`: JSON that every parser reads alike, or none. */
import { apiError } from '@gw/contract/errors';
import { parseStrictJson, withoutMark } from '@gw/contract/internal/strict-json';
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
import { refuse } from './replies.ts';

/** Registers `routes` in a scope of their own, where a body that is not strict JSON, or is null, is `invalid_json`. */
export function withStrictBodies(
  app: FastifyInstance,
  context: Context,
  routes: (scope: FastifyInstance) => void,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
      if (body.length === 0) return undefined;
      const parsed = parseStrictJson(withoutMark(body));
      if (!parsed.ok) throw new BadBodyError(parsed.error.problem);
      // An absent body may stand for an empty one; this one was written.
      if (parsed.value === null) throw new BadBodyError('The body has to be a JSON object.');
      return parsed.value;
    });
    const outer = scope.errorHandler;
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof BadBodyError)
        return refuse(reply, apiError('invalid_json', { message: error.message }), context.addresses);
      return outer.call(scope, error as Parameters<typeof outer>[0], request, reply);
    });
    routes(scope);
  });
}

class BadBodyError extends Error {}
