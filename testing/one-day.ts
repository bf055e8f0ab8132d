/** Budgets of a day begin anew at midnight UTC, and shortly before it clients wait for that: what spends one must not begin then. */
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs } from '@gw/contract/internal/durations';

/** Longer than tests that spend a budget take, and than an SDK waits. */
const usualMs = 90_000;

/** How long to wait, ms, so that all of what takes `neededMs` lies in one day. */
export function untilDayHolds(neededMs: number, nowMs: number): number {
  const leftMs = dayMs - (nowMs % dayMs);
  return leftMs < neededMs ? leftMs + 1000 : 0;
}

/** Waits for midnight if it is too near for a test. */
export async function awayFromMidnight(): Promise<void> {
  const waitMs = untilDayHolds(usualMs, Date.now());
  if (waitMs > 0) await delay(waitMs);
}
