/**
 * What a client is told of its limits.
 *
 * Invariant: a client that waits as long as a refusal says is let in, unless others used what was refilled meanwhile.
 */
import { freeBodyKib, unsizedBodyKib } from '@gw/contract/access';
import { type ApiError, apiError } from '@gw/contract/errors';
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
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Of the limits of a call those that bind most: with the fewest requests left, and of these the one that waits longest. */
export function limitHeaders({ levels }: DrawnLimits, { quotaStates, untilMidnightMs }: Decision): LimitHeader[] {
  let rate: readonly [burst: number, remaining: number, nextTokenMs: number] | null = null;
  let day: readonly [perDay: number, remaining: number] | null = null;
  for (const [index, { limit }] of levels.entries()) {
    const { nextTokenMs = 0, remaining = 0, remainingDay = 0 } = quotaStates[index] ?? {};
    if (limit.rate && (!rate || remaining < rate[1] || (remaining === rate[1] && nextTokenMs > rate[2])))
      rate = [limit.rate.burst, remaining, nextTokenMs];
    if (limit.perDay !== null && remainingDay !== null && (!day || remainingDay < day[1]))
      day = [limit.perDay, remainingDay];
  }
  const headers: LimitHeader[] = [];
  if (rate)
    headers.push(
      header('x-ratelimit-limit-requests', rate[0]),
      header('x-ratelimit-remaining-requests', rate[1]),
      header('x-ratelimit-reset-requests', seconds(rate[2])),
    );
  if (day)
    headers.push(
      header('x-ratelimit-limit-day', day[0]),
      header('x-ratelimit-remaining-day', day[1]),
      header('x-ratelimit-reset-day', wholeSeconds(untilMidnightMs)),
    );
  return headers;
}

/**
 * The headers as fields of metadata, for a reply that Envoy gives up after its headers have come: what replaces it passes over
 * the filters that add headers, so it takes them from there (local-replies.ts of Envoy).
 */
export const metadataOf = (headers: readonly LimitHeader[]): Record<string, string> =>
  Object.fromEntries(headers.map(({ key, value }) => [key, value]));

/** Returns the error of a decision that is not `admitted`, for the limit that takes longest to let the client in. */
export function refusalOf(
  { body, levels, shadow }: DrawnLimits,
  { lacking, quotaStates, untilMidnightMs }: Decision,
): ApiError {
  const denies = (index: number, limit: 'rate' | 'day') =>
    !shadow.includes(limit) && ((lacking >> (2 * index)) & lack[limit]) !== 0;
  const spent = levels.find((_, index) => denies(index, 'day'));
  const [slowest] = levels
    .map((level, index) => ({ level, waitMs: denies(index, 'rate') ? (quotaStates[index]?.nextTokenMs ?? 0) : -1 }))
    .sort((a, b) => b.waitMs - a.waitMs);
  const bodyWaitMs = body && denies(levels.length, 'rate') ? (quotaStates[levels.length]?.nextTokenMs ?? 0) : -1;
  if (body && !spent && bodyWaitMs > (slowest?.waitMs ?? -1))
    return apiError('bytes_per_second_exceeded', { message: bodyMessage(body), retryAfterS: wholeSeconds(bodyWaitMs) });
  const retryAfterS = wholeSeconds(spent ? untilMidnightMs : (slowest?.waitMs ?? 0));
  const code = spent ? 'daily_budget_exceeded' : 'requests_per_second_exceeded';
  return apiError(code, { ...messageOf(spent ?? slowest?.level, spent ? 'day' : 'rate'), retryAfterS });
}

function bodyMessage({ kib, limit: { rate } }: NonNullable<DrawnLimits['body']>): string {
  const mib = (of: number) => Math.round(of / 102.4) / 10;
  return `This body counts ${mib(kib)} MiB, and the account may send ${mib(rate?.perS ?? 0)} MiB per second, bursts of up to ${mib(rate?.burst ?? 0)}. Wait for the seconds in Retry-After. A body without a Content-Length counts ${mib(unsizedBodyKib)} MiB, one below ${freeBodyKib} KiB nothing.`;
}

function messageOf(level: Level | undefined, limit: 'rate' | 'day'): { message?: string } {
  if (level === undefined) return {};
  const whose = level.of === 'account' ? 'this account' : 'this API key';
  const { perDay, rate } = level.limit;
  const message =
    limit === 'day'
      ? `The daily request budget of ${whose} is used up (${perDay} requests). It resets at midnight UTC.`
      : `The rate limit of ${whose} is exceeded (${rate?.perS} requests per second, bursts of up to ${rate?.burst}). Wait for the seconds in Retry-After.`;
  return { message };
}
