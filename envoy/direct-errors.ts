/** Errors that Envoy answers with by itself, and what routes have for the form of errors of their API. */
import type { Addresses, ApiError } from '@gw/contract/errors';
import { takesApiKey } from '@gw/contract/messages-errors';
import { shownRequestId, withMessages } from './messages-lua.ts';
import { perRoute } from './route-parts.ts';
import { refusal } from './sink.ts';
import { typed } from './typed.ts';

const withoutKey = perRoute(
  'envoy.filters.http.ext_authz',
  'envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute',
  { disabled: true },
);
export const withoutSidecar = perRoute(
  'envoy.filters.http.ext_proc',
  'envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute',
  { disabled: true },
);
export const withoutLua = perRoute('envoy.filters.http.lua', 'envoy.extensions.filters.http.lua.v3.LuaPerRoute', {
  disabled: true,
});
const notBuffered = typed('envoy.extensions.filters.http.buffer.v3.BufferPerRoute', { disabled: true });
const withoutBody = { 'envoy.filters.http.buffer': notBuffered, reply_buffer: notBuffered };
/** For Envoy's own answers: otherwise a 404 without a key would be a 401. */
export const byItself = { ...withoutKey, ...withoutSidecar, ...withoutLua, ...withoutBody };

/** The parts of a route by the API of its path. */
export const formOf = (path: string): { typed_per_filter_config?: object; response_headers_to_add?: object[] } =>
  takesApiKey(path) ? { typed_per_filter_config: withMessages, response_headers_to_add: [shownRequestId] } : {};

interface DirectError {
  readonly name: string;
  readonly match: object;
  readonly error: ApiError;
  readonly addresses: Addresses;
  /** The methods of the path. */
  readonly allow?: string;
  /** The path whose API has a form of its own for errors. */
  readonly path?: string;
}

export function directError({ addresses, allow, error, match, name, path = '/' }: DirectError): object {
  const { response_headers_to_add: headers, ...direct } = refusal(error, addresses, allow);
  const form = formOf(path);
  return {
    name,
    match,
    ...direct,
    response_headers_to_add: [...headers, ...(form.response_headers_to_add ?? [])],
    typed_per_filter_config: { ...byItself, ...form.typed_per_filter_config },
  };
}
