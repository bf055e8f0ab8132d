/**
 * Envoy's own answers, and the listener behind the cluster `sink`, which answers where a direct response of the public listener would
 * bypass a filter that has to see the request.
 *
 * Invariant: the sink forwards nothing. A client's path matches only the OpenAPI document, the key set, the vocabulary, the error pages and the last route
 * here, since the public listener has no route for the other paths and only rewrites to them.
 */
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders, errorPagesPath } from '@gw/contract/errors';
import { errorPagePolicy, errorPages } from '@gw/contract/errors-html';
import { defined } from '@gw/contract/internal/defined';
import { keySetPath } from '@gw/contract/internal/evidence-keys';
import { pageWalls } from '@gw/contract/internal/html-text';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import { openApiDocument } from '@gw/contract/openapi';
import { vocabularyPath } from '@gw/contract/pack/context';
import { vocabulary } from '@gw/contract/pack/vocabulary';
import { overwriting } from './attempt-filters.ts';

export const sinkPaths = {
  refusedContentType: '/refused-content-type',
  refusedMethod: '/refused-method',
  refusedSize: '/refused-size',
} as const;

/** A direct response; `allow` has the methods of the path. */
export const refusal = (error: ApiError, addresses: Addresses, allow?: string) => ({
  direct_response: { status: error.status, body: { inline_string: errorBody(error, addresses) } },
  response_headers_to_add: [
    ...[...errorHeaders(error)].map(([name, value]) => overwriting(name, value)),
    ...(allow ? [overwriting('allow', allow)] : []),
  ],
});

const direct = (status: number, body: string, headers: Readonly<Record<string, string>>) => ({
  direct_response: { status, body: { inline_string: body } },
  response_headers_to_add: Object.entries(headers).map(([name, value]) => overwriting(name, value)),
});

export const directJson = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  direct(200, body, { 'content-type': 'application/json', ...headers });

/** The sidecar is away, or did not answer in time. */
const notForwarded = apiError('overloaded');

const document = ({ baseUrl }: Addresses): string => JSON.stringify(openApiDocument(baseUrl));
/** For content that changes only with a release or a restart. */
const cached = { 'cache-control': 'public, max-age=300' };

const directPage = (body: string, status = 200) =>
  direct(status, body, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': errorPagePolicy,
    ...pageWalls,
    ...cached,
  });

/** The pages behind `doc_url`. All codes `invalid_<field>` share one page. */
function errorPageRoutes(addresses: Addresses): object[] {
  const { list, ofCode, unknown } = errorPages(addresses);
  const family = defined(ofCode.get('invalid_field'), 'The page of invalid_field');
  return [
    { match: { path: errorPagesPath }, ...directPage(list) },
    ...[...ofCode].map(([code, page]) => ({ match: { path: `${errorPagesPath}/${code}` }, ...directPage(page) })),
    { match: { safe_regex: { regex: `${errorPagesPath}/invalid_[A-Za-z0-9_]+` } }, ...directPage(family) },
    { match: { prefix: `${errorPagesPath}/` }, ...directPage(unknown, 404) },
  ];
}

/** `evidenceKeys`: public keys of signed evidence, the current one first. */
export const sinkRoutes = (addresses: Addresses, evidenceKeys: readonly string[]): object[] => [
  { match: { path: '/openapi.json' }, ...directJson(document(addresses), cached) },
  { match: { path: keySetPath }, ...directJson(JSON.stringify({ keys: evidenceKeys.map(publicJwkOf) }), cached) },
  {
    match: { path: vocabularyPath },
    ...direct(200, JSON.stringify(vocabulary), { 'content-type': 'application/ld+json', ...cached }),
  },
  ...errorPageRoutes(addresses),
  {
    match: { prefix: sinkPaths.refusedContentType },
    ...refusal(apiError('invalid_content_type', { param: 'Content-Type' }), addresses),
  },
  { match: { prefix: sinkPaths.refusedMethod }, ...refusal(apiError('method_not_allowed'), addresses) },
  { match: { prefix: sinkPaths.refusedSize }, ...refusal(apiError('request_too_large'), addresses) },
  { match: { prefix: '/' }, ...refusal(notForwarded, addresses) },
];
