/** What the headers of a request must be, and which of them go on to a provider. */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { Headers } from '../messages.ts';

const maxBytes = 10 * 1024 * 1024;

/**
 * `x-request-id` and `x-forwarded-proto` stay for Envoy itself (without the latter no route matches after this phase);
 * the listener of the deployment takes them off. `x-sim-*` is for the simulator.
 */
const forwarded = new Set([
  'content-type',
  'content-length',
  'accept',
  'user-agent',
  'traceparent',
  'x-request-id',
  'x-forwarded-proto',
]);

export function refusedHeaders(headers: Headers): ApiError | null {
  const type = (headers.get('content-type') ?? '').split(';');
  if (type[0]?.trim().toLowerCase() !== 'application/json')
    return apiError('invalid_content_type', { param: 'Content-Type' });
  const charset = /charset\s*=\s*"?([^";]+)/i.exec(type.slice(1).join(';'))?.[1];
  if (charset && !/^utf-?8$/i.test(charset.trim())) return apiError('invalid_content_type', { param: 'Content-Type' });
  const encoding = headers.get('content-encoding');
  if (encoding && encoding.trim().toLowerCase() !== 'identity')
    return apiError('invalid_content_type', { param: 'Content-Encoding' });
  return null;
}

export const tooLarge = (body: Uint8Array): boolean => body.length > maxBytes;

/** Names to take off: all that the allow-list of the contract does not name. */
export function headersToRemove(headers: Headers): string[] {
  return [...headers.keys()].filter(
    (name) => !name.startsWith(':') && name !== 'host' && !forwarded.has(name) && !name.startsWith('x-sim-'),
  );
}
