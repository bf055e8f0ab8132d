/**
 * What a provider's failure means to the client.
 *
 * Invariant: nothing raw of a provider's reply gets out but, for its 400s, the message and the field that it names: they
 * are about the client's own request. Its 401 and 403 are our fault and never shown as the client's.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { ParsedRequest } from '../request/parse.ts';
import { contextError } from './context-error.ts';
import { type ProviderWords, readWords } from './provider-words.ts';

const longestMessage = 500;

function rejection(words: ProviderWords | null): ApiError {
  const { message, param } = words ?? {};
  const text = message?.slice(0, longestMessage);
  if (typeof param === 'string' && /^[\w.[\]-]{1,100}$/.test(param))
    return fieldError(param, text ?? 'The model provider rejected this field.');
  return apiError('upstream_rejected_request', text ? { message: text } : {});
}

/** Statuses of which only the body says whether the request is at fault; llama.cpp's is 500 where a prompt is too long. */
const rejecting = new Set([400, 404, 413, 422]);

/** `status`: the provider's, anything but a 200 that could be read. */
export function providerError(status: number, body: string, request: ParsedRequest): ApiError {
  const words = rejecting.has(status) || status === 500 ? readWords(body) : null;
  const tooLong = words && contextError(words, request, status !== 500);
  if (tooLong) return tooLong;
  if (rejecting.has(status)) return rejection(words);
  switch (status) {
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
