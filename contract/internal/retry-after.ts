/** Reads from the headers of a reply when its server wants to be asked again. */
import { defined } from './defined.ts';
import { dayMs, hourMs, minuteMs } from './durations.ts';

/**
 * The headers that say so. `retry-after-ms` and `x-ms-retry-after-ms` are Azure's. Limits whose `remaining` is 0 say when they have room again, with units as
 * OpenAI and Groq write them (`1m2.5s`); without a unit it could be seconds or a time.
 */
export const waitHeaders = [
  'retry-after',
  'retry-after-ms',
  'x-ms-retry-after-ms',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
] as const;
type HeaderOf = (name: (typeof waitHeaders)[number]) => string | undefined;

/** A date has 29 characters. */
const longestText = 64;

/** Reads `Retry-After` (seconds, also with their unit, or an HTTP date) as ms from `now`, a day at most; null if it is absent or malformed. */
export function retryAfter(text: string | null | undefined, now: number): number | null {
  if (!text || text.length > longestText) return null;
  const isSeconds = /^\s*\d+(?:\.\d+)?\s*s?\s*$/.test(text);
  // Other texts with digits, such as a negative number, would be a date.
  if (!isSeconds && !/[a-z]{3}.*:/i.test(text)) return null;
  return bounded(isSeconds ? Number.parseFloat(text) * 1000 : Date.parse(text) - now);
}

/** Returns the ms from `now` after which the server can be asked again, a day at most; null if the headers do not say. */
export function waitMs(header: HeaderOf, now: number): number | null {
  const inMs = header('retry-after-ms') ?? header('x-ms-retry-after-ms');
  const told = inMs !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(inMs) ? bounded(Number(inMs)) : null;
  return told ?? retryAfter(header('retry-after'), now) ?? untilReset(header);
}

/** Takes the longest, since all limits need room. */
function untilReset(header: HeaderOf): number | null {
  const waits = (['requests', 'tokens'] as const).flatMap((what) => {
    if (header(`x-ratelimit-remaining-${what}`)?.trim() !== '0') return [];
    const reset = header(`x-ratelimit-reset-${what}`);
    const ms = reset === undefined ? null : duration(reset);
    return ms === null ? [] : [ms];
  });
  return waits.length === 0 ? null : bounded(Math.max(...waits));
}

const unitMs: ReadonlyMap<string, number> = new Map([
  ['d', dayMs],
  ['h', hourMs],
  ['m', minuteMs],
  ['s', 1000],
  ['ms', 1],
]);

/** Reads a duration such as `6m0s`, `7.66s` or `20ms` as ms; null if it is none. */
function duration(text: string): number | null {
  if (text.length > longestText || !/^\s*(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms]))+\s*$/.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)(ms|[dhms])/g)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * defined(unitMs.get(String(unit)), 'A unit'), 0);
}

const bounded = (ms: number): number | null => (Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), dayMs));
