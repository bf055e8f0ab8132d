/** The slot of a stream, taken and released in a Valkey whose own processor time is not counted. */
import { randomUUID } from 'node:crypto';
import { redisLeases } from '@gw/receipt-sidecar/slots/leases';
import { StreamSlots } from '@gw/receipt-sidecar/slots/slots';
import type { Logger } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import type { Step } from './micro.ts';

/** Streams that begin at once. */
const atOnce = 16;

export async function startSlotSteps(redisUrl: string, log: Logger) {
  const redis = openRedis(redisUrl, log, { autoPipelining: true });
  await untilReady(redis, 5000);
  const slots = new StreamSlots({
    leases: redisLeases(redis),
    instances: 1,
    newId: randomUUID,
    now: () => performance.now(),
    metrics: { decided: () => undefined, ended: () => undefined },
    log,
  });
  const streams = { limit: 1000, shadow: false };
  const caller = { accountId: 'acct_bench', keyId: 'AbcdefGhijkl', models: null, streams, keyStreams: null };
  const one = async (): Promise<void> => {
    const taken = await slots.take(caller);
    // A step that is refused, or decided without Redis, would measure something else.
    if (!taken.ok || slots.local) throw new Error('The benchmark gets no slot of Redis.');
    taken.slot.release();
  };
  await one();
  const steps: readonly Step[] = [
    {
      name: 'take the slot of a stream, and release it',
      run: () => Promise.all(Array.from({ length: atOnce }, one)),
      limitUs: null,
      calls: atOnce,
    },
  ];
  return {
    steps,
    stop: () => {
      slots.stop();
      redis.disconnect();
    },
  };
}
