/**
 * Invariant: no query gets to its handler with a parameter that the endpoint does not take, or with text that is no
 * UTF-8. A filter that is misspelt would else be one that silently lets everything through.
 *
 * The schema of an endpoint says which parameters it takes and which values they may have; one without a schema takes
 * nothing.
 */
import { type Addresses, type ApiError, apiError, fieldError } from '@gw/contract/errors';
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

/** How many characters of an unknown name are repeated in the error. */
const longestShown = 64;

/**
 * Returns what is wrong with a query; null if it is fine. `url` is as it came, since a decoder could hide bad bytes.
 */
export function queryRefusal(url: string, taken: readonly string[]): ApiError | null {
  for (const pair of textOf(url).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    if (name === null) return apiError('invalid_request', { message: 'The query is not percent-encoded UTF-8.' });
    if (!taken.includes(name)) return unknownParameter(name, taken);
    if (equals >= 0 && decoded(pair.slice(equals + 1)) === null)
      return fieldError(name, `${name}: is not percent-encoded UTF-8.`);
  }
  return null;
}

/** The query without its question mark; a router takes a hash for its beginning as well. */
const textOf = (url: string): string => {
  const at = url.search(/[?#]/);
  return at < 0 ? '' : url.slice(at + 1);
};

/** Null: bytes that are no UTF-8, halves of surrogate pairs among them, or a percent sign that begins nothing. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function unknownParameter(name: string, taken: readonly string[]): ApiError {
  const message = `unknown parameter. This endpoint takes ${taken.length === 0 ? 'none' : taken.join(', ')}.`;
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestShown) return fieldError(name, `${name}: ${message}`);
  // The code is stable, so it holds no words of the client beyond what a name of ours could be.
  const shown = name.slice(0, longestShown).toWellFormed();
  return apiError('invalid_request', { message: `${JSON.stringify(shown)}: ${message}`, param: shown || null });
}
