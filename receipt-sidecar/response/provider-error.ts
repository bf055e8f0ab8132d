/**
 * What a provider's failure means to the client.
 *
 * Invariant: nothing raw of a provider's reply gets out but, for its 400s, the message and the field that it names: they
 * are about the client's own request. Its 401 and 403 are our fault and never shown as the client's.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { parseObject } from './json-body.ts';

const longestMessage = 500;

function rejection(body: string): ApiError {
  const error = parseObject(body)?.error;
  const { message, param, code } = (error !== null && typeof error === 'object' ? error : {}) as {
    message?: unknown;
    param?: unknown;
    code?: unknown;
  };
  const text = typeof message === 'string' && message.trim() !== '' ? message.slice(0, longestMessage) : undefined;
  if (code === 'context_length_exceeded')
    return apiError('prompt_too_long', { param: 'messages', ...(text ? { message: text } : {}) });
  if (typeof param === 'string' && /^[\w.[\]-]{1,100}$/.test(param))
    return fieldError(param, text ?? 'The model provider rejected this field.');
  return apiError('upstream_rejected_request', text ? { message: text } : {});
}

/** `status`: the provider's, anything but a 200 that could be read. */
export function providerError(status: number, body: string): ApiError {
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return rejection(body);
    case 401:
    case 403:
      return apiError('upstream_auth_failed');
    case 429:
      return apiError('upstream_rate_limited');
    case 408:
    case 504:
      return apiError('upstream_timeout');
    default:
      return apiError(status >= 500 ? 'upstream_error' : 'upstream_invalid_response');
  }
}
