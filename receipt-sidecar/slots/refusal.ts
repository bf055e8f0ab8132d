/** What a client reads that has too many streams open. */
import { type ApiError, apiError } from '@gw/contract/errors';

export interface Enforced {
  readonly full: 'account' | 'key';
  readonly open: number;
  /** What is enforced; less than `agreed` while instances cannot count together. */
  readonly limit: number;
  readonly agreed: number;
}

/**
 * Nobody knows when a stream will end. With many open one ends soon, and the official clients wait longer from one attempt
 * to the next only where they are not told how long.
 */
const retryAfterS = 1;

export function streamsExceeded({ full, open, limit, agreed }: Enforced): ApiError {
  const streams = open === 1 ? '1 stream' : `${open} streams`;
  const share =
    limit < agreed
      ? `its share here of the limit of ${agreed} is ${limit} while the instances of the gateway cannot count together`
      : `its limit is ${limit}`;
  const more = full === 'account' ? 'ask for a higher tier' : 'use another key';
  const message = `This ${full === 'account' ? 'account' : 'API key'} has ${streams} open, and ${share}. Close one, wait until one ends, or ${more}.`;
  return apiError('concurrent_streams_exceeded', { message, retryAfterS });
}
