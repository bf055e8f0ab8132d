/** Tells the client, by what a provider's failure says, whether and when to ask again. */
import type { ApiError } from '@gw/contract/errors';
import type { JudgedReply } from '../attempts/attempt-outcome.ts';

/**
 * Adds the provider's own wait to an error about the provider, in whole seconds, a day at most. Where the only deployment that was tried
 * needs its operator, asking again is futile; after several attempts one of the others may be well again.
 */
export function advised(error: ApiError, { fault, waitMs }: JudgedReply, attempts: number): ApiError {
  if (error.type !== 'inference_error') return error;
  return {
    ...error,
    ...(waitMs !== null && { retryAfterS: retryAfterS(waitMs) }),
    ...(fault !== null && attempts <= 1 && { isFutile: true }),
  };
}

export const retryAfterS = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000));
