import { bodyLimits } from '@gw/contract/access';
import type { FoundKey } from '@gw/prisma/find-key';
import type { CarriedLimits } from '@gw/service/limits/drawn-limits';

/** What the calls of a key draw on, as text: `drawnLimits` reads it. */
export function limitsText({ account, limits, publicId }: FoundKey): string {
  const { burst, perDay, ratePerS } = account.limits;
  const { burstKib, kibPerS } = bodyLimits[account.tier];
  const isLimited = limits !== null && (limits.ratePerS !== null || limits.perDay !== null);
  const carried: CarriedLimits = {
    account: [ratePerS, burst, perDay],
    body: [kibPerS, burstKib],
    ...(account.shadow.length > 0 ? { shadow: account.shadow } : {}),
    ...(isLimited ? { key: [publicId, limits.ratePerS, limits.burst, limits.perDay] } : {}),
  };
  return JSON.stringify(carried);
}
