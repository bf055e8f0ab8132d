/**
 * Which limits a call draws on. The check of the key knows them, and Envoy carries them as text to the rate-limit step,
 * which another instance may answer.
 *
 * Invariant: only ext-authz makes that text, and Envoy lets no client near it.
 */
import { managementLimits, type ShadowLimit } from '@gw/contract/access';
import type { FoundKey } from '@gw/prisma/find-key';
import type { Limit } from './bucket.ts';

/** The account's limit, and after it that of the key, where it has one. */
export type Level = { readonly of: 'account' | 'key'; readonly id: string; readonly limit: Limit };

export interface DrawnLimits {
  /** One or two; the first is the account's. */
  readonly levels: readonly Level[];
  readonly shadow: readonly ShadowLimit[];
}

type Numbers = readonly [perS: number | null, burst: number | null, perDay: number | null];
interface Carried {
  readonly account: Numbers;
  readonly shadow?: readonly ShadowLimit[];
  readonly key?: readonly [id: string, ...Numbers];
}

export function limitsText({ account, limits, publicId }: FoundKey): string {
  const { burst, perDay, ratePerS } = account.limits;
  const isLimited = limits !== null && (limits.ratePerS !== null || limits.perDay !== null);
  const carried: Carried = {
    account: [ratePerS, burst, perDay],
    ...(account.shadow.length > 0 ? { shadow: account.shadow } : {}),
    ...(isLimited ? { key: [publicId, limits.ratePerS, limits.burst, limits.perDay] } : {}),
  };
  return JSON.stringify(carried);
}

/** Throws for a text that `limitsText` has not made. `kind`: reads have a rate of their own, and keys no part of it. */
export function drawnLimits(kind: string, accountId: string, text: string): DrawnLimits {
  if (kind === 'management') return { levels: [level('account', accountId, managementNumbers)], shadow: [] };
  const { account, key, shadow = [] } = JSON.parse(text) as Carried;
  const ofAccount = level('account', accountId, account);
  if (ofAccount.limit.rate === null) throw new Error(`The limits "${text}" of the identity are malformed.`);
  if (key === undefined) return { levels: [ofAccount], shadow };
  const [id, ...numbers] = key;
  return { levels: [ofAccount, level('key', id, numbers)], shadow };
}

const managementNumbers: Numbers = [managementLimits.ratePerS, managementLimits.burst, null];

const level = (of: Level['of'], id: string, [perS, burst, perDay]: Numbers): Level => ({
  of,
  id,
  limit: { rate: perS === null || burst === null ? null : { perS, burst }, perDay },
});
