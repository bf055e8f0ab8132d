/**
 * The limits that a call draws on. The key check determines them, and Envoy passes them on as text to the rate limit step, which may
 * run on another instance.
 *
 * Invariant: only ext-authz creates that text; clients cannot set it.
 */
import { managementLimits, type ShadowLimit, unsizedBodyKib } from '@gw/contract/access';
import type { Limit } from './bucket.ts';

/** The limit of the account, or of a key. */
export type Level = { readonly of: 'account' | 'key'; readonly id: string; readonly limit: Limit };

export interface DrawnLimits {
  /** The account's limit, then that of the key if it has one. */
  readonly levels: readonly Level[];
  /** How much the call takes from each of them. Default: 1. */
  readonly cost?: number;
  /** The bucket of bytes and the cost of the body; null: no cost. Shadow mode of the rate applies to this bucket too. */
  readonly body: { readonly limit: Limit; readonly kib: number } | null;
  readonly shadow: readonly ShadowLimit[];
}

type Numbers = readonly [perS: number | null, burst: number | null, perDay: number | null];
/** The text of the limits as JSON. */
export interface CarriedLimits {
  readonly account: Numbers;
  /** Rate and burst in KiB. */
  readonly body: readonly [perS: number, burst: number];
  readonly shadow?: readonly ShadowLimit[];
  readonly key?: readonly [id: string, ...Numbers];
}

/** Bodies above this, KiB, are refused for their size in any case. */
const mostKib = 16 * 1024;

/** Returns the cost of a body, KiB. `length` is the `Content-Length`, which Envoy enforces. */
export function bodyKib(length: string | undefined): number {
  if (length === undefined) return unsizedBodyKib;
  return Math.min(Math.ceil(Number(length) / 1024), mostKib);
}

/** Returns the limits of a call with a body of `kib`. */
export function withBody(drawn: DrawnLimits, kib: number): DrawnLimits {
  if (drawn.body === null || drawn.body.kib === kib) return drawn;
  return { ...drawn, body: kib > 0 ? { ...drawn.body, kib } : null };
}

/** Parses `limitsText`; throws for any other text. Limits of the kind `management` are fixed. `kib` is the cost of the body. */
export function drawnLimits(kind: string, accountId: string, text: string, kib: number): DrawnLimits {
  if (kind === 'management')
    return { levels: [level('account', accountId, managementNumbers)], body: null, shadow: [] };
  const { account, body: bucket, key, shadow = [] } = JSON.parse(text) as CarriedLimits;
  const body = kib > 0 ? { limit: { rate: { perS: bucket[0], burst: bucket[1] }, perDay: null }, kib } : null;
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
