/**
 * Streams that end in every way there is, while every part of the gateway is killed: their slots are free again within the
 * lease, and there are never more streams than were agreed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '@gw/cli/stack-plans';
import { slotsKey } from '@gw/contract/internal/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { startStreams, ways } from '../slots/load.ts';

const limit = 40;
const leaseMs = 30_000;
const idleS = 3;

let gateway: OwnGateway;
let redis: Redis;
let accountId: string;
let key: string;

beforeAll(async () => {
  gateway = await startOwnGateway();
  const { stack, dir, db } = gateway;
  key = stack.keys.enterprise;
  const found = await db.apiKey.findUniqueOrThrow({ where: { publicId: key.split('_')[1] ?? '' } });
  accountId = found.accountId;
  await db.account.update({ where: { id: accountId }, data: { limitStreams: limit } });
  // A silent stream is broken off soon.
  const config = join(dir, 'envoy.yaml');
  await stack.part('envoy').stop();
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('300s', `${idleS}s`));
  await gateway.start('envoy');
  redis = new Redis(stack.redisUrl, { maxRetriesPerRequest: 0, enableOfflineQueue: false, retryStrategy: () => 100 });
  redis.on('error', () => undefined);
}, 180_000);
afterAll(async () => {
  redis?.disconnect();
  await gateway?.stop();
});

/** Slots whose lease runs. */
const held = (): Promise<number> => redis.zcount(slotsKey(accountId), Date.now() + 1, '+inf');

async function openAtProvider(marker: string): Promise<number> {
  const reply = await fetch(`${gateway.stack.simulatorUrl}/sim/count?marker=${marker}`);
  return z.object({ open: z.number() }).parse(await reply.json()).open;
}

/** Looks all the time how many streams are open at the provider, past the gateway. */
function watch(marker: string) {
  const samples: { atMs: number; open: number }[] = [];
  let watching = true;
  const watched = (async () => {
    for (; watching; await delay(50)) samples.push({ atMs: performance.now(), open: await openAtProvider(marker) });
  })();
  return {
    /** The most that were open for as long as `ms`: the provider hears of an end a moment after the sidecar. */
    mostFor(ms: number): number {
      let most = 0;
      for (const { atMs } of samples) {
        const during = samples.filter((each) => each.atMs >= atMs && each.atMs <= atMs + ms);
        if ((during.at(-1)?.atMs ?? 0) - atMs > ms * 0.8)
          most = Math.max(most, Math.min(...during.map(({ open }) => open)));
      }
      return most;
    },
    stop: async () => {
      watching = false;
      await watched;
    },
  };
}

/** Opens streams that go on until they are left. */
async function openMany(count: number, marker: string) {
  const leaving = new AbortController();
  const ask = async () => {
    const response = await fetch(`${gateway.stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-sim-marker': marker,
        'x-sim-tokens': '1000',
        'x-sim-tokens-per-second': '2',
      },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
      signal: leaving.signal,
    });
    response.arrayBuffer().catch(() => undefined);
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: count }, ask));
  return { statuses, leave: () => leaving.abort() };
}

const allIn = (count: number): number[] => Array.from({ length: count }, () => 200);
const parts: readonly PartName[] = ['ext-authz', 'receipt-sidecar', 'valkey', 'envoy'];

test('a thousand streams, ended in every way while every part is killed, never more than agreed', async () => {
  await eventually('the limit to hold', async () => {
    const { statuses, leave } = await openMany(limit + 1, 'limit');
    leave();
    return statuses.includes(429);
  });
  await eventually('the slots to be free', async () => (await held()) === 0);

  const watching = watch('load');
  const load = startStreams(gateway.stack, key, 'load', limit + 20);
  // Each part twice.
  for (let at = 1; at <= 2 * parts.length; at += 1) {
    await eventually('more streams', () => load.total() >= at * 100, 120_000);
    gateway.kill(parts[at % parts.length] as PartName);
  }
  await eventually('a thousand streams', () => load.total() >= 1000, 120_000);
  await load.stop();
  const endedAt = performance.now();
  await eventually('all slots to be free', async () => (await held()) === 0, leaseMs);
  console.log(`all slots were free ${Math.round(performance.now() - endedAt)} ms after the last stream`);
  await watching.stop();

  const { ended, refused } = load.counts;
  console.log(
    JSON.stringify({ total: load.total(), refused, ended: Object.fromEntries(ended), most: watching.mostFor(500) }),
  );
  for (const way of Object.keys(ways)) expect([...ended.keys()], way).toContain(way);
  expect(refused).toBeGreaterThan(0);
  expect(watching.mostFor(500)).toBeLessThanOrEqual(limit);
  expect(watching.mostFor(500)).toBeGreaterThan(limit / 2);
}, 600_000);

describe.each(parts)('after kill -9 of %s with all streams open', (part) => {
  test('all slots are free within 30 s of the end of the streams, and every one is given again', async () => {
    await gateway.whole();
    const marker = `killed-${part}`;
    const { statuses, leave } = await openMany(limit, marker);
    expect(statuses).toEqual(allIn(limit));
    const watching = watch(marker);
    gateway.kill(part);
    const killedAt = performance.now();
    await gateway.whole();
    // What still runs counts: nobody gets in who would be one too many.
    const more = await openMany(limit, marker);
    leave();
    more.leave();
    await eventually('all slots to be free', async () => (await held()) === 0, leaseMs + 1000);
    console.log(`${part}: all slots were free ${Math.round(performance.now() - killedAt)} ms after the kill`);
    await watching.stop();
    expect(watching.mostFor(500)).toBeLessThanOrEqual(limit);
    const again = await openMany(limit, marker);
    expect(again.statuses).toEqual(allIn(limit));
    again.leave();
    await eventually('all slots to be free', async () => (await held()) === 0, 5000);
  }, 180_000);
});
