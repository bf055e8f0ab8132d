/**
 * Streams that end in every way there is, while every part of the gateway is killed: their slots are free again within the
 * lease, and there are never more streams than were agreed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '@gw/stack/stack-plans';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startStreams, ways } from '../slots/load.ts';
import { openStreamAccount, type StreamAccount, watchProvider } from '../slots/many-streams.ts';

const limit = 40;
const leaseMs = 30_000;

const gateway = forFile(startOwnGateway);
let account: StreamAccount;

beforeAll(async () => {
  // A silent stream is broken off soon.
  const config = join(gateway.dir, 'envoy.json');
  await gateway.stack.part('envoy').stop();
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('300s', '3s'));
  await gateway.start('envoy');
  account = await openStreamAccount(gateway, limit);
});
afterAll(async () => {
  account?.close();
});

const allFree = (withinMs: number) =>
  eventually('all slots to be free', async () => (await account.held()) === 0, withinMs);
const allIn = (count: number): number[] => Array.from({ length: count }, () => 200);
const parts: readonly PartName[] = ['ext-authz', 'receipt-sidecar', 'valkey', 'envoy'];

test('a thousand streams, ended in every way while every part is killed, are never more than agreed, and leave nothing', async () => {
  const watching = watchProvider(gateway.stack, 'load');
  const load = startStreams(gateway.stack, account.key, 'load', limit + 20);
  // Each part twice.
  for (let at = 1; at <= 2 * parts.length; at += 1) {
    await eventually('more streams', () => load.total() >= at * 100, 120_000);
    gateway.kill(parts[at % parts.length] as PartName);
  }
  await eventually('a thousand streams', () => load.total() >= 1000, 120_000);
  await load.stop();
  const endedAt = performance.now();
  await allFree(leaseMs);
  await watching.stop();

  const { ended, refused } = load.counts;
  const most = watching.mostFor(500);
  const freeAfterMs = Math.round(performance.now() - endedAt);
  console.log(JSON.stringify({ total: load.total(), refused, most, freeAfterMs, ended: Object.fromEntries(ended) }));
  for (const way of Object.keys(ways)) expect([...ended.keys()], way).toContain(way);
  expect(refused).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(limit);
  expect(most).toBeGreaterThan(limit / 2);
}, 600_000);

describe.each(parts)('after kill -9 of %s with all streams open', (part) => {
  test('nobody is let in who would be one too many, all slots are free within 30 s, and every one is given again', async () => {
    await gateway.whole();
    const marker = `killed-${part}`;
    const { statuses, leave } = await account.open(limit, marker);
    expect(statuses).toEqual(allIn(limit));
    const watching = watchProvider(gateway.stack, marker);
    gateway.kill(part);
    const killedAt = performance.now();
    await gateway.whole();
    const more = await account.open(limit, marker);
    leave();
    more.leave();
    await allFree(leaseMs + 1000);
    console.log(`${part}: all slots were free ${Math.round(performance.now() - killedAt)} ms after the kill`);
    await watching.stop();
    expect(watching.mostFor(500)).toBeLessThanOrEqual(limit);
    const again = await account.open(limit, marker);
    expect(again.statuses).toEqual(allIn(limit));
    again.leave();
    await allFree(5000);
  }, 180_000);
});

describe.each(['killed', 'stopped in order'] as const)('after the sidecar was %s under long streams', (how) => {
  test('those that go on without it count for as long as they last', async () => {
    await gateway.whole();
    const marker = `outlived-${how.slice(0, 4)}`;
    const { statuses, leave } = await account.open(limit, marker);
    expect(statuses).toEqual(allIn(limit));
    const watching = watchProvider(gateway.stack, marker);
    if (how === 'killed') gateway.kill('receipt-sidecar');
    else {
      await gateway.stack.part('receipt-sidecar').stop();
      await gateway.start('receipt-sidecar');
    }
    await gateway.whole();
    // Longer than a lease, so that none that the first sidecar had renewed runs any more.
    await delay(leaseMs + 5000);
    const more = await account.open(limit, marker);
    await delay(1000);
    await watching.stop();
    expect(more.statuses).not.toContain(200);
    expect(await account.held()).toBe(limit);
    expect(watching.mostFor(500)).toBe(limit);
    leave();
    more.leave();
    await allFree(leaseMs + 1000);
  }, 180_000);
});
