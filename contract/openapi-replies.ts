/** The parts of the OpenAPI document that every route shares: headers and error replies. */
import type { Route } from './access.ts';
import { type CatalogueCode, errorCatalogue } from './error-catalogue.ts';
import { apiError, errorBody, fieldError } from './errors.ts';
import { exampleAddresses } from './example-addresses.ts';

export type Json = Record<string, unknown>;

export const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });
export const jsonBody = (schema: Json): Json => ({ 'application/json': { schema } });

const limitHeaders = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-day',
  'x-ratelimit-remaining-day',
  'x-ratelimit-reset-day',
] as const;

const header = (type: 'string' | 'integer' | 'number', description: string): Json => ({
  description,
  schema: { type },
});

export const headers: Json = {
  'x-request-id': header('string', 'Names this call; quote it when you ask for help'),
  'x-gw-receipt-id': header('string', 'On every reply whose call reached a provider'),
  'x-ratelimit-limit-requests': header('integer', 'Size of the token bucket'),
  'x-ratelimit-remaining-requests': header('integer', 'Tokens left in the bucket'),
  'x-ratelimit-reset-requests': header('number', 'Seconds to the next token'),
  'x-ratelimit-limit-day': header('integer', 'Requests per UTC day'),
  'x-ratelimit-remaining-day': header('integer', 'Requests left today'),
  'x-ratelimit-reset-day': header('integer', 'Seconds to midnight UTC'),
  'Retry-After': header('integer', 'Whole seconds to wait, at least 1'),
  'WWW-Authenticate': header('string', '`Bearer`'),
};

const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, ref('headers', name)]));

export function successHeaders(route: Route): Json {
  // Reads of the ledger have no day budget, so they show none.
  const limits = limitHeaders.filter((name) => route.limit === 'calls' || name.endsWith('-requests'));
  return headerRefs([
    'x-request-id',
    ...(route.handler === 'sidecar' ? ['x-gw-receipt-id'] : []),
    ...(route.limit === null ? [] : limits),
  ]);
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
        doc_url: { type: 'string' },
      },
    },
  },
};

export function errorResponses(): Json {
  const statuses = [...new Set(Object.values(errorCatalogue).map((entry) => entry.status))];
  return Object.fromEntries(statuses.map((status) => [`Error${status}`, errorResponse(status)]));
}

function errorResponse(status: number): Json {
  const codes = Object.entries(errorCatalogue).filter(([, entry]) => entry.status === status);
  const names = codes.map(([code]) => code);
  if (status === 400) names.push('invalid_<field>');
  if (status === 404) names.push('invalid_model', 'invalid_region');
  const extra = status === 429 ? ['Retry-After'] : status === 401 ? ['WWW-Authenticate'] : [];
  return {
    description: `One of: ${names.join(', ')}`,
    headers: headerRefs(['x-request-id', ...extra]),
    content: { 'application/json': { schema: ref('schemas', 'Error'), example: errorExample(status) } },
  };
}

/** The first error of the status, as the gateway writes it. */
function errorExample(status: number): Json {
  const code = (Object.keys(errorCatalogue) as CatalogueCode[]).find((each) => errorCatalogue[each].status === status);
  const error = code === undefined ? fieldError('temperature', '`temperature` is not valid.') : apiError(code);
  return JSON.parse(errorBody(error, exampleAddresses));
}
