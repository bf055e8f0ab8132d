/** No test with a gateway begins shortly before midnight UTC. */
import { setTimeout as delay } from 'node:timers/promises';
import { untilDayHoldsTest } from '@gw/testing/one-day';
import { beforeEach } from 'vitest';

beforeEach(async () => {
  const waitMs = untilDayHoldsTest(Date.now());
  if (waitMs > 0) await delay(waitMs);
}, 120_000);
