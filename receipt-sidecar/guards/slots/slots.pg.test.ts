/** Two sidecars' slots on a real Valkey that is asked by both at once, stands still, dies and comes back empty. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiError } from '@gw/contract/errors';
import { keySlotsKey, slotsKey } from '@gw/contract/internal/redis';
import type { Result } from '@gw/contract/internal/result';
import { openRedis, untilReady } from '@gw/service/redis';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import { callerWith } from '@gw/testing/receipt-sidecar/slots';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { redisLeases } from './leases.ts';
import { type Slot, StreamSlots } from './slots.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwslots-'));
const log = pino({ level: 'silent' });
let valkey: Service;
let connections: Redis[];
let sidecars: StreamSlots[];

const start = () => startValkey({ dir, log: () => {}, durable: false });

beforeEach(async () => {
  valkey = await start();
  connections = [1, 2].map(() => openRedis(valkey.url, log, { commandTimeoutMs: 1000, autoPipelining: true }));
  await Promise.all(connections.map((connection) => untilReady(connection, 5000)));
  let ids = 0;
  sidecars = connections.map(
    (redis) =>
      new StreamSlots({
        leases: redisLeases(redis),
        instances: 2,
        newId: () => {
          ids += 1;
          return `${ids}`;
        },
        now: () => performance.now(),
        metrics: { decided: () => undefined, ended: () => undefined },
        log,
      }),
  );
});
afterEach(async () => {
  for (const slots of sidecars) slots.stop();
  for (const connection of connections) connection.disconnect();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
});

const each = (at: number): StreamSlots => sidecars[at % 2] as StreamSlots;
const askAll = (count: number, limit: number): Promise<Result<Slot, ApiError>[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => each(at).take(callerWith(limit))));
const held = (decisions: readonly Result<Slot, ApiError>[]) =>
  decisions.flatMap((taken) => (taken.ok ? [taken.value] : []));
const inValkey = async () => [
  await connections[0]?.zcard(slotsKey('acct')),
  await connections[0]?.zcard(keySlotsKey('acct', 'key')),
];
const exact = () => sidecars.every((slots) => !slots.local);

test('of a hundred that ask two instances at once exactly as many get a slot as there are, and all come back', async () => {
  for (let round = 0; round < 5; round += 1) {
    const slots = held(await askAll(100, 25));
    expect(slots).toHaveLength(25);
    expect(await inValkey()).toEqual([25, 25]);
    for (const slot of slots) slot.release();
    await expect.poll(inValkey).toEqual([0, 0]);
  }
});

test('streams that outlive a Valkey that died and came back empty count again before anybody else is let in', async () => {
  const before = held(await askAll(10, 12));
  valkey.child.kill('SIGKILL');
  await expect.poll(() => sidecars.every((slots) => slots.local)).toBe(true);
  // Each has five, and six is its share.
  expect(held(await askAll(10, 12))).toHaveLength(2);
  await valkey.stop();
  valkey = await start();
  await expect.poll(exact).toBe(true);
  expect(await inValkey()).toEqual([12, 12]);
  expect(held(await askAll(4, 12))).toHaveLength(0);
  for (const slot of before) slot.release();
  await expect.poll(inValkey).toEqual([2, 2]);
});

test('a Valkey that stands still is given up, and what was released meanwhile is free when it goes on', async () => {
  const before = held(await askAll(4, 10));
  process.kill(valkey.pid, 'SIGSTOP');
  const meanwhile = held(await askAll(20, 10));
  expect(sidecars.every((slots) => slots.local)).toBe(true);
  expect(meanwhile.length).toBeGreaterThan(0);
  for (const slot of [...before, ...meanwhile]) slot.release();
  process.kill(valkey.pid, 'SIGCONT');
  await expect.poll(exact).toBe(true);
  await expect.poll(inValkey).toEqual([0, 0]);
});
