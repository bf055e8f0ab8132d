/**
 * The limit headers and refusals that clients get.
 *
 * Invariant: a client that waits as long as a refusal says is admitted, unless others used the refilled tokens meanwhile.
 */
import { unsizedBodyKib } from '@gw/contract/access';
import { type ApiError, apiError } from '@gw/contract/errors';
import { defined, elementAt } from '@gw/contract/internal/defined';
import { lack } from './bucket.ts';
import type { Decision } from './decision.ts';
import type { DrawnLimits, Level } from './drawn-limits.ts';

export interface LimitHeader {
  readonly key: string;
  readonly value: string;
}

const header = (key: string, value: number | string): LimitHeader => ({ key, value: String(value) });
/** Converts ms to seconds, rounded up, so that waiting that long is enough. */
const seconds = (ms: number): number => Math.ceil(ms) / 1000;
export const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The ends of the names of the headers about a bucket and about a day. */
const ofRequests = { rate: 'requests', day: 'day' };
export const ofTokens = { rate: 'tokens', day: 'tokens-day' };

/** Returns the headers of the most restrictive limits: the least left, then the longest wait. */
export function limitHeaders(
  { levels }: DrawnLimits,
  { quotaStates, untilMidnightMs }: Decision,
  names = ofRequests,
): LimitHeader[] {
  let rate: readonly [burst: number, remaining: number, nextTokenMs: number] | null = null;
  let day: readonly [perDay: number, remaining: number] | null = null;
  for (const [index, { limit }] of levels.entries()) {
    const { nextTokenMs, remaining, remainingDay } = elementAt(quotaStates, index);
    if (limit.rate && (!rate || remaining < rate[1] || (remaining === rate[1] && nextTokenMs > rate[2])))
      rate = [limit.rate.burst, remaining, nextTokenMs];
    if (limit.perDay !== null && remainingDay !== null && (!day || remainingDay < day[1]))
      day = [limit.perDay, remainingDay];
  }
  const headers: LimitHeader[] = [];
  if (rate)
    headers.push(
      header(`x-ratelimit-limit-${names.rate}`, rate[0]),
      header(`x-ratelimit-remaining-${names.rate}`, rate[1]),
      header(`x-ratelimit-reset-${names.rate}`, seconds(rate[2])),
    );
  if (day)
    headers.push(
      header(`x-ratelimit-limit-${names.day}`, day[0]),
      header(`x-ratelimit-remaining-${names.day}`, day[1]),
      header(`x-ratelimit-reset-${names.day}`, wholeSeconds(untilMidnightMs)),
    );
  return headers;
}

/**
 * Returns the headers as metadata for a reply that Envoy aborts after its headers. The local reply in its place bypasses the filters
 * that add headers, so it takes them from the metadata (envoy/local-replies.ts).
 */
export const metadataOf = (headers: readonly LimitHeader[]): Record<string, string> =>
  Object.fromEntries(headers.map(({ key, value }) => [key, value]));

/** Returns the error of a refusal, for the limit with the longest wait. */
export function refusalOf(
  { body, levels, shadow }: DrawnLimits,
  { lacking, quotaStates, untilMidnightMs }: Decision,
): ApiError {
  const denies = (index: number, limit: 'rate' | 'day') =>
    !shadow.includes(limit) && ((lacking >> (2 * index)) & lack[limit]) !== 0;
  const waitMs = (index: number) => (denies(index, 'rate') ? elementAt(quotaStates, index).nextTokenMs : -1);
  const spent = levels.find((_, index) => denies(index, 'day'));
  const [slowest] = levels
    .map((level, index) => ({ level, waitMs: waitMs(index) }))
    .sort((a, b) => b.waitMs - a.waitMs);
  const { level, waitMs: longestMs } = defined(slowest, 'The limit of the account');
  const bodyWaitMs = body ? waitMs(levels.length) : -1;
  if (body && !spent && bodyWaitMs > longestMs)
    return apiError('bytes_per_second_exceeded', { message: bodyMessage(body), retryAfterS: wholeSeconds(bodyWaitMs) });
  const retryAfterS = wholeSeconds(spent ? untilMidnightMs : longestMs);
  const code = spent ? 'daily_budget_exceeded' : 'requests_per_second_exceeded';
  return apiError(code, { message: messageOf(spent ?? level, spent ? 'day' : 'rate'), retryAfterS });
}

function bodyMessage({ kib, limit }: NonNullable<DrawnLimits['body']>): string {
  const mib = (of: number) => Math.round(of / 102.4) / 10;
  const { burst, perS } = defined(limit.rate, 'The rate of bodies');
  return `This body counts ${mib(kib)} MiB, and the account may send ${mib(perS)} MiB per second, bursts of up to ${mib(burst)}. Wait for the seconds in Retry-After. A body without a Content-Length counts ${mib(unsizedBodyKib)} MiB.`;
}

function messageOf({ limit, of }: Level, exceeded: 'rate' | 'day'): string {
  const whose = of === 'account' ? 'this account' : 'this API key';
  return exceeded === 'day'
    ? `The daily request budget of ${whose} is used up (${limit.perDay} requests). It resets at midnight UTC.`
    : `The rate limit of ${whose} is exceeded (${limit.rate?.perS} requests per second, bursts of up to ${limit.rate?.burst}). Wait for the seconds in Retry-After.`;
}
