import {
  admitted,
  advance,
  callerWith,
  type SlotsForTests,
  slotsForTests,
  taken,
} from '@gw/testing/receipt-sidecar/slots';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseMs } from './leases.ts';

const everyMs = 10_000;

let testing: SlotsForTests;
beforeEach(() => {
  testing = slotsForTests();
});
afterEach(() => testing.stop());

const leaseOf = (id: string) => ({ id, accountId: 'acct', keyId: 'key' });

test.each(['dies', 'is stopped in order'])(
  'streams whose sidecar %s count for as long as Envoy says that they run',
  async (how) => {
    const first = testing.sidecar();
    const slots = [await taken(first.slots, callerWith(2)), await taken(first.slots, callerWith(2))];
    first.slots.abandon();
    if (how !== 'dies') for (const slot of slots) slot.release();
    first.slots.stop();
    const second = testing.sidecar();
    for (let told = 0; told < 10; told += 1) {
      await advance(everyMs);
      for (const { id } of slots) second.slots.runs(leaseOf(id));
      await advance(0);
      expect(await admitted(second.slots, callerWith(2), 1)).toBe(0);
    }
    await advance(leaseMs - 1);
    expect(await admitted(second.slots, callerWith(2), 1)).toBe(0);
    await advance(1);
    expect(await admitted(second.slots, callerWith(2), 3)).toBe(2);
  },
);

test('streams that outlived their leases, since there was no sidecar, count again once there is one', async () => {
  const { slots } = testing.sidecar();
  slots.runs(leaseOf('long'));
  await advance(0);
  expect(testing.redis.open('acct')).toBe(1);
});

test('what is told at once is renewed together', async () => {
  const { slots, connection } = testing.sidecar();
  for (let at = 0; at < 100; at += 1) slots.runs(leaseOf(`${at}`));
  await advance(0);
  expect(connection.sent).toEqual(['renew']);
  expect(testing.redis.open('acct')).toBe(100);
});

test('nothing is sent for a slot that is held here: it is renewed anyway', async () => {
  const { slots, connection } = testing.sidecar();
  const slot = await taken(slots, callerWith(1));
  slots.runs(leaseOf(slot.id));
  await advance(0);
  expect(connection.sent).toEqual(['take']);
});

test('a word that Envoy said before it heard of the end takes no slot again', async () => {
  const { slots } = testing.sidecar();
  const slot = await taken(slots, callerWith(1));
  slot.release();
  for (const ms of [0, 9_000]) {
    await advance(ms);
    slots.runs(leaseOf(slot.id));
    await advance(0);
    expect(testing.redis.open('acct')).toBe(0);
  }
});

test('a stream that goes on though its slot was released counts again', async () => {
  const { slots } = testing.sidecar();
  const slot = await taken(slots, callerWith(1));
  slot.release();
  await advance(2 * everyMs);
  slots.runs(leaseOf(slot.id));
  await advance(0);
  expect(testing.redis.open('acct')).toBe(1);
});

test('a word that comes while Redis is away is let go, and the next one counts', async () => {
  const { slots, connection } = testing.sidecar();
  connection.lose();
  slots.runs(leaseOf('long'));
  await advance(0);
  connection.comeBack();
  await advance(1000);
  expect(testing.redis.open('acct')).toBe(0);
  slots.runs(leaseOf('long'));
  await advance(0);
  expect(testing.redis.open('acct')).toBe(1);
});
