/** The parts of the OpenAPI document that every route shares: headers and error replies. */
import { type CatalogueCode, errorCatalogue } from '../error-catalogue.ts';
import type { ErrorDefinition } from '../error-definition.ts';
import { apiError, errorBody, errorHeaders } from '../errors.ts';
import { exampleAddresses } from '../example-addresses.ts';
import { budgetHeaderName, budgetScopes, budgetUnits } from '../internal/budgets.ts';
import { reexecuted, reexecutedChange } from '../internal/idempotency-key.ts';
import { overheadHeader } from '../internal/overhead.ts';
import { isMessagesPath, messagesErrorBody, messagesErrorTypes } from '../messages-errors.ts';
import type { Route } from '../routes.ts';
import { header, limitHeaders, ofCalls, ofTokens, tokenHeaders } from './openapi-limits.ts';

export type Json = Record<string, unknown>;

export const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });
export const jsonBody = (schema: Json, mediaType = 'application/json'): Json => ({ [mediaType]: { schema } });
export const pageBody: Json = { 'text/html': { schema: { type: 'string' } } };

export const idempotencyParameter: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  description:
    'The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused`',
};

/** One item for each budget; `used` is a fraction, rounded down, and may exceed 1. */
const budgetItem = `(${budgetUnits.join('|')});scope=(${budgetScopes.join('|')});kind=(hard|soft);used=\\d{1,6}\\.\\d{3}`;
const budgetHeaderPattern = `^${budgetItem}(, ${budgetItem})*$`;

export const headers = {
  etag: header({ type: 'string' }, 'The hash, in quotes; `If-None-Match` with it is answered 304'),
  'cache-control': header({ type: 'string' }, 'The reply never changes'),
  'x-request-id': header({ type: 'string' }, 'Identifies this call; quote it when you ask for help'),
  'x-gw-receipt-id': header({ type: 'string' }, 'On every reply whose call reached a provider'),
  [budgetHeaderName]: header(
    { type: 'string', pattern: budgetHeaderPattern },
    'The budgets of this call of which 80 % or more are used or reserved, this call included: a list by RFC 9651, docs/budgets.md',
  ),
  [overheadHeader]: header(
    { type: 'number', minimum: 0 },
    'Time that the gateway spent on this call, ms, without the provider; for a stream, until the request was sent. Missing if a first attempt failed',
  ),
  'idempotent-replayed': header(
    { type: 'string', const: 'true' },
    'The reply is that of an earlier request with this key',
  ),
  'idempotent-reexecuted': header(
    { type: 'string', enum: [reexecuted, reexecutedChange] },
    'An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew',
  ),
  ...ofCalls,
  ...ofTokens,
  'retry-after': header({ type: 'integer', minimum: 1 }, 'Whole seconds to wait'),
  'www-authenticate': header({ type: 'string', const: 'Bearer' }, 'How to authenticate'),
  'x-should-retry': header(
    { type: 'string', const: 'false' },
    'The official SDKs do not send the request again although its status would make them',
  ),
} as const;
type HeaderName = keyof typeof headers;

function headersOf(always: readonly HeaderName[], sometimes: readonly HeaderName[] = []): Json {
  const certain = always.map((name) => [name, { ...headers[name], required: true }]);
  return Object.fromEntries([...certain, ...sometimes.map((name) => [name, ref('headers', name)])]);
}

/** Reads and counts are idempotent without a key. */
export const takesIdempotencyKey = ({ hasNoReceipt, method }: Pick<Route, 'hasNoReceipt' | 'method'>): boolean =>
  method !== 'GET' && !hasNoReceipt;

export function successHeaders(route: Route, isImmutable = false): Json {
  // Reads of the ledger have no day budget, so they show none.
  const limits = limitHeaders.filter((name) => route.limit === 'calls' || name.endsWith('-requests'));
  const isInference = route.handler === 'sidecar' && !route.hasNoReceipt;
  return headersOf(
    [
      'x-request-id',
      ...(isInference ? (['x-gw-receipt-id'] as const) : []),
      ...(isImmutable ? (['etag', 'cache-control'] as const) : []),
      ...(route.limit === null ? [] : limits),
    ],
    [
      ...(isInference ? ([budgetHeaderName, overheadHeader, ...tokenHeaders] as const) : []),
      ...(takesIdempotencyKey(route) ? (['idempotent-replayed', 'idempotent-reexecuted'] as const) : []),
    ],
  );
}

export const errorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'type', 'message', 'param', 'doc_url'],
      properties: {
        code: { type: 'string', description: 'Stable; see x-error-catalogue' },
        type: { type: 'string', enum: [...new Set(Object.values(errorCatalogue).map((entry) => entry.type))] },
        message: { type: 'string', description: 'For people; may change' },
        param: { type: ['string', 'null'], description: 'JSON path of the field at fault' },
        doc_url: { type: 'string', description: 'A page for people about the code' },
      },
    },
  },
};

/** The form of errors on the paths of Anthropic's API. */
export const messagesErrorSchema: Json = {
  type: 'object',
  required: ['type', 'error', 'request_id'],
  properties: {
    type: { const: 'error' },
    error: {
      type: 'object',
      required: ['code', 'type', 'message', 'param', 'doc_url'],
      properties: {
        code: { type: 'string', description: 'Stable; see x-error-catalogue' },
        type: { type: 'string', enum: [...new Set(Object.values(messagesErrorTypes))] },
        message: { type: 'string', description: 'For people; may change' },
        param: { type: ['string', 'null'], description: 'JSON path of the field at fault' },
        doc_url: { type: 'string', description: 'A page for people about the code' },
      },
    },
    request_id: { type: ['string', 'null'], description: 'As the headers `x-request-id` and `request-id`' },
  },
};

/** The name of the schema of errors, and the beginning of the names of their responses, by the path. */
export const errorName = (path: string): string => (isMessagesPath(path) ? 'MessagesError' : 'Error');

/** OpenAPI 3.1 cannot describe a sequence of events, so this is the schema of one event, in the form that OpenAPI 3.2 has. */
export const eventSchema = (chunk: Json, path: string): Json => ({
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      anyOf: [
        ...(isMessagesPath(path) ? [] : [{ const: '[DONE]' }]),
        {
          type: 'string',
          contentMediaType: 'application/json',
          contentSchema: { anyOf: [chunk, ref('schemas', errorName(path))] },
        },
      ],
    },
  },
});

type Entry = readonly [CatalogueCode, ErrorDefinition];
const entries = Object.entries(errorCatalogue) as unknown as readonly Entry[];
const statusesOf = ({ status, pathStatus }: ErrorDefinition): number[] =>
  pathStatus === undefined ? [status] : [status, pathStatus];

export function errorResponses(): Json {
  const statuses = [...new Set(entries.flatMap(([, entry]) => statusesOf(entry)))].sort();
  return Object.fromEntries(
    ['Error', 'MessagesError'].flatMap((name) =>
      statuses.map((status) => [`${name}${status}`, errorResponse(status, name)] as const),
    ),
  );
}

const early: readonly CatalogueCode[] = ['invalid_request', 'invalid_content_type'];

function errorResponse(status: number, form: string): Json {
  const codes = entries.filter(([, entry]) => statusesOf(entry).includes(status));
  const names = codes.map(([code]) => code);
  // There is one code for each field of a request.
  const family = status === 400 ? { pattern: '^invalid_[A-Za-z0-9_]+$' } : null;
  const listed = { enum: names };
  // Envoy refuses such requests before it knows their path.
  const isEarly = form !== 'Error' && early.some((code) => names.includes(code));
  const schema = {
    allOf: [
      isEarly ? { anyOf: [ref('schemas', form), ref('schemas', 'Error')] } : ref('schemas', form),
      {
        properties: {
          error: {
            properties: {
              code: family ? { anyOf: [listed, family] } : listed,
              ...(form === 'Error' && { type: { enum: [...new Set(codes.map(([, { type }]) => type))] } }),
            },
          },
        },
      },
    ],
  };
  return {
    description: `One of: ${[...names, ...(family ? ['invalid_<field>'] : [])].join(', ')}`,
    headers: errorHeadersOf(status, names),
    content: { 'application/json': { schema, example: errorExample(status, names, form) } },
  };
}

/** A header that all codes of the status have is required; one that only some have is optional. */
function errorHeadersOf(status: number, names: readonly CatalogueCode[]): Json {
  const brought = names.map((name) => errorHeaders(apiError(name, { status })));
  const possible = (Object.keys(headers) as HeaderName[]).filter((name) => brought.some((each) => each.has(name)));
  const certain = possible.filter((name) => brought.every((each) => each.has(name)));
  // Calls without a key, or with a method that no route has, are refused before any limit applies.
  const limited = status === 401 || status === 405 ? [] : [...limitHeaders, ...tokenHeaders];
  // A call that reached a provider has reserved from its budgets.
  const ofBudgets = names.some((name) => name.startsWith('upstream_')) ? ([budgetHeaderName] as const) : [];
  const futile = status === 429 ? (['x-should-retry'] as const) : [];
  return headersOf(
    ['x-request-id', ...certain],
    [...new Set([...possible.filter((name) => !certain.includes(name)), ...limited, ...ofBudgets, ...futile])],
  );
}

/** The first error of the status, as the gateway writes it. */
function errorExample(status: number, [first]: readonly CatalogueCode[], form: string): Json {
  if (first === undefined) throw new Error(`No code has the status ${status}.`);
  const error = apiError(first, { status });
  if (form === 'Error') return JSON.parse(errorBody(error, exampleAddresses));
  return JSON.parse(messagesErrorBody(error, exampleAddresses, '0192f0c1-2d7e-7b3a-9c44-5f0e6a1b2c3d'));
}
