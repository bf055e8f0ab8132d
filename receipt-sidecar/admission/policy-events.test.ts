import type { PolicyEvent } from '@gw/contract/internal/policy-event';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Spool } from '../ledger/spool.ts';
import { openPolicyEvents } from './policy-events.ts';

const never = new Promise<never>(() => undefined);
/** Neither store ever says yes or no. */
const redis = {
  status: 'ready',
  on: () => redis,
  xadd: () => never,
  ping: () => never,
  eval: () => never,
} as unknown as Redis;
const spool = { append: () => never, replay: () => never } as unknown as Spool;
const event = (id: string) => ({ id }) as PolicyEvent;

test('an answer does not wait for stores that say nothing; what was found waits in memory', async () => {
  const events = openPolicyEvents({ redis, spool, log: pino({ level: 'silent' }) });
  await events.record(event('first'));
  await events.record(event('second'));
  expect(events.counts()).toEqual({ kept: 2, lost: 0 });
  await events.stop();
});
