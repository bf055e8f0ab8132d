/**
 * What Envoy answers by itself, and the listener behind the cluster `sink`, which answers where a direct response of the
 * public listener would pass over a filter that has to see the request first.
 *
 * Invariant: the sink forwards nothing. A path of a client matches only the last route here, the document, the key set and
 * the pages about errors, since the public listener rewrites to the other paths itself and has no route for them.
 */
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders, errorPagesPath } from '@gw/contract/errors';
import { errorPagePolicy, errorPages } from '@gw/contract/errors-html';
import { keySetPath } from '@gw/contract/internal/evidence-keys';
import { pageWalls } from '@gw/contract/internal/html-text';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
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

const direct = (status: number, body: string, headers: Readonly<Record<string, string>>) => ({
  direct_response: { status, body: { inline_string: body } },
  response_headers_to_add: Object.entries(headers).map(([name, value]) => setHeader(name, value)),
});

export const directJson = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  direct(200, body, { 'content-type': 'application/json', ...headers });

const notForwarded = apiError('internal_error', {
  message: 'The gateway could not process the request; nothing was sent to a provider.',
});

const document = ({ baseUrl }: Addresses): string => JSON.stringify(openApiDocument(baseUrl));
/** For what changes with a release or a restart alone. */
const cached = { 'cache-control': 'public, max-age=300' };

const directPage = (body: string, status = 200) =>
  direct(status, body, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': errorPagePolicy,
    ...pageWalls,
    ...cached,
  });

/** The pages that `doc_url` leads to. A code of the family `invalid_<field>` has that of the family. */
function errorPageRoutes(addresses: Addresses): object[] {
  const { list, ofCode, unknown } = errorPages(addresses);
  const family = ofCode.get('invalid_field') ?? unknown;
  return [
    { match: { path: errorPagesPath }, ...directPage(list) },
    ...[...ofCode].map(([code, page]) => ({ match: { path: `${errorPagesPath}/${code}` }, ...directPage(page) })),
    { match: { safe_regex: { regex: `${errorPagesPath}/invalid_[A-Za-z0-9_]+` } }, ...directPage(family) },
    { match: { prefix: `${errorPagesPath}/` }, ...directPage(unknown, 404) },
  ];
}

/** `evidenceKeys`: the public keys that evidence is signed with, the current one first. */
export const sinkRoutes = (addresses: Addresses, evidenceKeys: readonly string[]): object[] => [
  { match: { path: '/openapi.json' }, ...directJson(document(addresses), cached) },
  { match: { path: keySetPath }, ...directJson(JSON.stringify({ keys: evidenceKeys.map(publicJwkOf) }), cached) },
  ...errorPageRoutes(addresses),
  {
    match: { prefix: sinkPaths.refusedContentType },
    ...refusal(apiError('invalid_content_type', { param: 'Content-Type' }), addresses),
  },
  { match: { prefix: sinkPaths.refusedMethod }, ...refusal(apiError('method_not_allowed'), addresses) },
  { match: { prefix: sinkPaths.refusedSize }, ...refusal(apiError('request_too_large'), addresses) },
  { match: { prefix: '/' }, ...refusal(notForwarded, addresses) },
];
