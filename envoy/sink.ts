/**
 * What Envoy answers by itself, and the listener behind the cluster `sink`, which answers where a direct response of the
 * public listener would pass over a filter that has to see the request first.
 *
 * Invariant: the sink forwards nothing. A path of a client matches only the last route here and the document, since the
 * public listener rewrites to the other paths itself and has no route for them.
 */
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { keySetPath, publicJwkOf } from '@gw/contract/internal/evidence-keys';
import { openApiDocument } from '@gw/contract/openapi';

export const sinkPaths = {
  refusedContentType: '/refused-content-type',
  refusedMethod: '/refused-method',
  refusedSize: '/refused-size',
} as const;

export const setHeader = (key: string, value: string) => ({
  header: { key, value },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
});

/** A direct response; `allow` names the methods of the path. */
export const refusal = (error: ApiError, addresses: Addresses, allow?: string) => ({
  direct_response: { status: error.status, body: { inline_string: errorBody(error, addresses) } },
  response_headers_to_add: [
    ...[...errorHeaders(error)].map(([name, value]) => setHeader(name, value)),
    ...(allow ? [setHeader('allow', allow)] : []),
  ],
});

export const directJson = (body: string, headers: Readonly<Record<string, string>> = {}) => ({
  direct_response: { status: 200, body: { inline_string: body } },
  response_headers_to_add: [
    setHeader('content-type', 'application/json'),
    ...Object.entries(headers).map(([name, value]) => setHeader(name, value)),
  ],
});

const notForwarded = apiError('internal_error', {
  message: 'The gateway could not process the request; nothing was sent to a provider.',
});

const document = ({ baseUrl }: Addresses): string => JSON.stringify(openApiDocument(baseUrl));
/** For what changes with a release or a restart alone. */
const cached = { 'cache-control': 'public, max-age=300' };

/** `evidenceKeys`: the public keys that evidence is signed with, the current one first. */
export const sinkRoutes = (addresses: Addresses, evidenceKeys: readonly string[]): object[] => [
  { match: { path: '/openapi.json' }, ...directJson(document(addresses), cached) },
  { match: { path: keySetPath }, ...directJson(JSON.stringify({ keys: evidenceKeys.map(publicJwkOf) }), cached) },
  {
    match: { prefix: sinkPaths.refusedContentType },
    ...refusal(apiError('invalid_content_type', { param: 'Content-Type' }), addresses),
  },
  { match: { prefix: sinkPaths.refusedMethod }, ...refusal(apiError('method_not_allowed'), addresses) },
  { match: { prefix: sinkPaths.refusedSize }, ...refusal(apiError('request_too_large'), addresses) },
  { match: { prefix: '/' }, ...refusal(notForwarded, addresses) },
];
