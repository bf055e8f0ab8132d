/** Budgets of a day begin anew at midnight UTC, and shortly before it clients wait for that: tests that spend one must not begin then. */

import { dayMs } from '@gw/contract/internal/durations';

/** Longer than tests that spend a budget take, and than an SDK waits. */
const tooNearMs = 90_000;

/** How long to wait before a test begins, ms, so that all of it lies in one day. */
export function untilDayHoldsTest(nowMs: number): number {
  const leftMs = dayMs - (nowMs % dayMs);
  return leftMs < tooNearMs ? leftMs + 1000 : 0;
}
