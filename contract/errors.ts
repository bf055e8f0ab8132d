/**
 * The errors that a client sees, made from the catalogue.
 *
 * Invariant: all parts (Envoy's own replies, ext-authz, sidecar, control plane) take their errors from here, so that no
 * reply has another shape.
 */
import { type CatalogueCode, type ErrorType, errorCatalogue } from './error-catalogue.ts';

/** Codes of the family `invalid_<field>`, one for each request field: `invalid_temperature`, `invalid_messages`, … */
export type FieldCode = `invalid_${string}`;

export interface ApiError {
  readonly code: CatalogueCode | FieldCode;
  readonly type: ErrorType;
  readonly status: number;
  readonly message: string;
  /** JSON path of the field at fault (`messages[0].role`), or null. */
  readonly param: string | null;
}

export interface ErrorDetail {
  readonly message?: string;
  readonly param?: string | null;
  /** A look-up by path answers 404 where the same code in a body answers 400. */
  readonly status?: number;
}

export function apiError(code: CatalogueCode, detail: ErrorDetail = {}): ApiError {
  const { type, status, message } = errorCatalogue[code];
  return {
    code,
    type,
    status: detail.status ?? status,
    message: detail.message ?? message,
    param: detail.param ?? null,
  };
}

/** A field that has the wrong type or value. The code is made from the last name in the path. */
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

/** Where errors point people to. */
export interface Addresses {
  readonly baseUrl: string;
  readonly statusUrl: string;
  readonly auditEmail: string;
  readonly securityEmail: string;
}

/** The page about a code: its entry in the catalogue that the OpenAPI document carries. */
export function docUrl(addresses: Addresses, code: string): string {
  const known = code in errorCatalogue ? code : 'invalid_field';
  return `${addresses.baseUrl}/openapi.json#/x-error-catalogue/${known}`;
}

/** The last sentence of a message: whom to ask. Only for the codes where the client can not help itself. */
function whereToAsk(addresses: Addresses, code: string): string {
  if (code === 'revoked_api_key')
    return ` The audit log of the account shows by whom; questions go to ${addresses.securityEmail}.`;
  if (code === 'region_degraded') return ` See ${addresses.statusUrl}.`;
  return '';
}

/** The body of an error reply: `{"error":{code,type,message,param,doc_url}}`, as JSON text. */
export function errorBody(error: ApiError, addresses: Addresses): string {
  const { code, type, param } = error;
  const message = error.message + whereToAsk(addresses, code);
  return JSON.stringify({ error: { code, type, message, param, doc_url: docUrl(addresses, code) } });
}
