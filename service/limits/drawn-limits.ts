/**
 * Which limits a call draws on. The check of the key knows them, and Envoy carries them as text to the rate-limit step,
 * which another instance may answer.
 *
 * Invariant: only ext-authz makes that text, and Envoy lets no client near it.
 */
import { freeBodyKib, managementLimits, type ShadowLimit, unsizedBodyKib } from '@gw/contract/access';
import type { Limit } from './bucket.ts';

/** The account's limit, and after it that of the key, where it has one. */
export type Level = { readonly of: 'account' | 'key'; readonly id: string; readonly limit: Limit };

export interface DrawnLimits {
  /** One or two; the first is the account's. */
  readonly levels: readonly Level[];
  /** The bucket of bytes and what the body takes of it; null: nothing. A shadow of the rate is one of this rate, too. */
  readonly body: { readonly limit: Limit; readonly kib: number } | null;
  readonly shadow: readonly ShadowLimit[];
}

type Numbers = readonly [perS: number | null, burst: number | null, perDay: number | null];
/** As JSON: what the text of the limits says. */
export interface CarriedLimits {
  readonly account: Numbers;
  /** KiB per second and at once; absent: of a release that knew no such limit. */
  readonly body?: readonly [perS: number, burst: number];
  readonly shadow?: readonly ShadowLimit[];
  readonly key?: readonly [id: string, ...Numbers];
}

/** KiB above which a body is refused for its size, whatever the bucket holds. */
const mostKib = 16 * 1024;

/** Returns what a body costs, KiB. `length` is what the client said, and Envoy enforces it; undefined if it did not say. */
export function bodyKib(length: string | undefined): number {
  if (length === undefined) return unsizedBodyKib;
  const kib = Math.ceil(Number(length) / 1024);
  return kib < freeBodyKib ? 0 : Math.min(kib, mostKib);
}

/**
 * Throws for a text that `limitsText` has not made. `kind`: reads have a rate of their own, and keys no part of it. `kib`: what
 * the body costs.
 */
export function drawnLimits(kind: string, accountId: string, text: string, kib = 0): DrawnLimits {
  if (kind === 'management')
    return { levels: [level('account', accountId, managementNumbers)], body: null, shadow: [] };
  const { account, body: bucket, key, shadow = [] } = JSON.parse(text) as CarriedLimits;
  const body = kib > 0 && bucket ? { limit: { rate: { perS: bucket[0], burst: bucket[1] }, perDay: null }, kib } : null;
  const ofAccount = level('account', accountId, account);
  if (ofAccount.limit.rate === null) throw new Error(`The limits "${text}" of the identity are malformed.`);
  if (key === undefined) return { levels: [ofAccount], body, shadow };
  const [id, ...numbers] = key;
  return { levels: [ofAccount, level('key', id, numbers)], body, shadow };
}

const managementNumbers: Numbers = [managementLimits.ratePerS, managementLimits.burst, null];

const level = (of: Level['of'], id: string, [perS, burst, perDay]: Numbers): Level => ({
  of,
  id,
  limit: { rate: perS === null || burst === null ? null : { perS, burst }, perDay },
});
