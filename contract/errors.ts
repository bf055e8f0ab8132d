/**
 * The body and headers of error replies, made from the catalogue.
 *
 * Invariant: all parts (Envoy's own replies, ext-authz, sidecar, control plane) take their errors from here, so that all
 * replies have one shape, and none lets a client library retry what cannot succeed.
 */
import { type CatalogueCode, errorCatalogue, fieldErrors } from './error-catalogue.ts';
import { type ErrorDefinition, type ErrorType, patienceS, retriedByStatus } from './error-definition.ts';
import { type OperatorCode, operatorErrorCatalogue } from './operator-errors.ts';

/** Codes of the family `invalid_<field>`, one for each request field: `invalid_temperature`, `invalid_messages`, … */
export type FieldCode = `invalid_${string}`;

export interface ApiError {
  readonly code: CatalogueCode | OperatorCode | FieldCode;
  readonly type: ErrorType;
  readonly status: number;
  readonly message: string;
  /** JSON path of the field at fault (`messages[0].role`), or null. */
  readonly param: string | null;
  /** Whole seconds, at least 1, after which the same request may succeed. */
  readonly retryAfterS?: number;
  /** True if a retry cannot succeed, although it often can after this code. */
  readonly isFutile?: boolean;
  /** True if the provider says that it is overloaded (529). */
  readonly isOverload?: boolean;
}

/** `status` is 404 for a lookup by path, where the same code in a body gives 400. */
export type ErrorDetail = Partial<Pick<ApiError, 'message' | 'param' | 'retryAfterS' | 'status'>>;

export function apiError(code: CatalogueCode | OperatorCode, detail: ErrorDetail = {}): ApiError {
  const { type, status, message } = definitionOf(code);
  return {
    code,
    type,
    status: detail.status ?? status,
    message: detail.message ?? message,
    param: detail.param ?? null,
    ...(detail.retryAfterS !== undefined && { retryAfterS: detail.retryAfterS }),
  };
}

/**
 * Returns the error for a field that has the wrong type or value. `param` is its JSON path; the code `invalid_<field>` is made
 * from the last name in that path.
 */
export function fieldError(param: string, message: string): ApiError {
  const name =
    param
      .replace(/\[\d+\]/g, '')
      .split('.')
      .pop() || 'request';
  return {
    code: `invalid_${name.replace(/[^A-Za-z0-9_]/g, '_')}`,
    type: 'validation_error',
    status: 400,
    message,
    param,
  };
}

/** The addresses that errors point people to. */
export interface Addresses {
  readonly baseUrl: string;
  /** The published page about errors (`docs/errors.md`), without a fragment. Absent: the gateway's own pages. */
  readonly docsUrl?: string;
  readonly statusUrl: string;
  readonly auditEmail: string;
  readonly securityEmail: string;
}

const publicErrors: ReadonlyMap<string, ErrorDefinition> = new Map(Object.entries(errorCatalogue));
const operatorErrors: ReadonlyMap<string, ErrorDefinition> = new Map(Object.entries(operatorErrorCatalogue));

/** Returns the catalogue's entry for a code. All codes `invalid_<field>` share one entry. */
export const definitionOf = (code: string): ErrorDefinition =>
  publicErrors.get(code) ?? operatorErrors.get(code) ?? fieldErrors.invalid_field;

/** The list of all codes on the public port, and the page of each. */
export const errorPagesPath = '/errors';
export const errorPagePath = `${errorPagesPath}/{code}`;

/** Returns the URL of the page that explains a code: its anchor on the published one, or the gateway's own. */
export function docUrl({ baseUrl, docsUrl }: Addresses, code: string): string {
  const known = publicErrors.has(code) || operatorErrors.has(code) ? code : 'invalid_field';
  return docsUrl === undefined ? baseUrl + errorPagePath.replace('{code}', known) : `${docsUrl}#${known}`;
}

/** Returns the sentence of a message that says whom to contact, for codes where the client cannot help itself. */
function whereToAsk(addresses: Addresses, code: string): string {
  if (code === 'revoked_api_key')
    return ` The audit log of the account shows by whom; questions go to ${addresses.securityEmail}.`;
  if (code === 'dual_use_screen_block') return ` Disputes go to ${addresses.auditEmail}.`;
  if (code === 'region_degraded') return ` See ${addresses.statusUrl}.`;
  return '';
}

/** Returns the body of an error reply, `{"error":{code,type,message,param,doc_url}}`, as JSON text. */
export function errorBody(error: ApiError, addresses: Addresses): string {
  const { code, type, param } = error;
  const message = error.message + whereToAsk(addresses, code);
  return JSON.stringify({ error: { code, type, message, param, doc_url: docUrl(addresses, code) } });
}

/** Whether the official SDKs send the request again by themselves. */
export const retriedBySdks = (error: ApiError): boolean => retriedByStatus(error.status) && !retryIsFutile(error);

/** True if a retry cannot succeed, or cannot succeed soon enough for a program to wait. */
const retryIsFutile = ({ code, isFutile = false, retryAfterS = 1 }: ApiError): boolean =>
  isFutile || definitionOf(code).retry === 'never' || retryAfterS > patienceS;

/** Returns the headers that an error adds to its reply, with names in lower case. A 429 always has a `Retry-After`. */
export function errorHeaders(error: ApiError): ReadonlyMap<string, string> {
  const headers = new Map([['content-type', 'application/json']]);
  if (error.status === 401) headers.set('www-authenticate', 'Bearer');
  const { retry } = definitionOf(error.code);
  const isTold = retry === 'after_retry_after' || (retry === 'with_backoff' && error.retryAfterS !== undefined);
  if (isTold) headers.set('retry-after', String(error.retryAfterS ?? 1));
  if (retriedByStatus(error.status) && retryIsFutile(error)) headers.set('x-should-retry', 'false');
  return headers;
}
