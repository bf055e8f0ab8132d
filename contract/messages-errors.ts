/**
 * The body of error replies on the paths of Anthropic's API, `{"type":"error","error":{type,code,message,param,doc_url},"request_id"}`:
 * its SDKs choose their classes by the status, and programs read `error.type`.
 */
import { errorCatalogue } from './error-catalogue.ts';
import { type Addresses, type ApiError, errorBody } from './errors.ts';

/** Its name in the catalogue. */
export const messagesApi = 'messages';

/** Every path of that API begins with it, also one that the gateway does not have. */
export const messagesPath = '/v1/messages';

export const isMessagesPath = (path: string): boolean => path === messagesPath || path.startsWith(`${messagesPath}/`);

/** Where a key may come as `x-api-key`: clients of that API list models, too. */
export const takesApiKey = (path: string): boolean => isMessagesPath(path) || /^\/v1\/models(?:$|\/)/.test(path);

const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
};
const full: ReadonlySet<string> = new Set(['overloaded', 'region_saturated']);

/** Returns Anthropic's type of an error. */
export function messagesErrorType({
  code,
  isOverload,
  status,
}: Pick<ApiError, 'code' | 'isOverload' | 'status'>): string {
  if (isOverload || full.has(code)) return 'overloaded_error';
  return typeOfStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** The types by our codes, for the codes that have another than `invalid_request_error`. */
export const messagesErrorTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(errorCatalogue).map(([code, { status }]) => [
    code,
    messagesErrorType({ code: code as keyof typeof errorCatalogue, status }),
  ]),
);

/** `requestId`: null where it is not known. */
export const messagesErrorBody = (error: ApiError, addresses: Addresses, requestId: string | null): string =>
  messagesErrorOf(error, errorBody(error, addresses), requestId);

/** The same where there is the `body` that `errorBody` makes. */
export function messagesErrorOf(error: ApiError, body: string, requestId: string | null): string {
  const { error: own } = JSON.parse(body) as { readonly error: object };
  return JSON.stringify({
    type: 'error',
    error: { ...own, type: messagesErrorType(error) },
    request_id: requestId,
  });
}
