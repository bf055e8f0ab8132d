import {
  admitted,
  advance,
  callerWith,
  type SlotsForTests,
  slotsForTests,
  take,
  taken,
} from '@gw/testing/receipt-sidecar/slots';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaseMs } from './leases.ts';

let testing: SlotsForTests;
beforeEach(() => {
  testing = slotsForTests();
});
afterEach(() => testing.stop());

describe('while Redis answers', () => {
  test('as many streams are open as the limit says, over all instances, and a released one makes room', async () => {
    const [a, b] = [testing.sidecar(2), testing.sidecar(2)];
    const first = await taken(a.slots, callerWith(3));
    await taken(b.slots, callerWith(3));
    await taken(a.slots, callerWith(3));
    const refusal = await b.slots.take(callerWith(3));
    expect(refusal).toMatchObject({
      ok: false,
      error: {
        code: 'concurrent_streams_exceeded',
        status: 429,
        retryAfterS: 1,
        message:
          'This account has 3 streams open, and its limit is 3. Close one, wait until one ends, or ask for a higher tier.',
      },
    });
    first.release();
    first.release();
    expect(testing.redis.open('acct')).toBe(2);
    expect(await admitted(b.slots, callerWith(3), 3)).toBe(1);
    expect(a.slots.open + b.slots.open).toBe(3);
  });

  test('a key has no more than its part, and the refusal says that it is the key', async () => {
    const { slots } = testing.sidecar();
    const key = callerWith(10, { keyStreams: 1 });
    await taken(slots, key);
    expect(await take(slots, key)).toBe(
      'This API key has 1 stream open, and its limit is 1. Close one, wait until one ends, or use another key.',
    );
    expect(await admitted(slots, callerWith(10, { keyId: 'another' }), 20)).toBe(9);
  });

  test('a limit in shadow mode counts, reports once a minute for an account, and refuses nothing', async () => {
    const { slots } = testing.sidecar();
    await advance(59_000);
    const watched = callerWith(1, { streams: { limit: 1, shadow: true } });
    expect(await admitted(slots, watched, 4)).toBe(4);
    expect(testing.redis.open('acct')).toBe(4);
    expect(testing.decided).toEqual(['taken exact', 'shadowed exact', 'shadowed exact', 'shadowed exact']);
    expect(testing.logged).toEqual(['a limit of open streams in shadow mode was exceeded']);
    await advance(59_999);
    await taken(slots, watched);
    expect(testing.logged).toHaveLength(1);
    await advance(1);
    await taken(slots, watched);
    expect(testing.logged).toHaveLength(2);
    // Once it is in force, what is open is known.
    expect(await admitted(slots, callerWith(6), 1)).toBe(0);
  });

  test('a long stream keeps its slot, and that of a dead holder is free after its lease', async () => {
    const { slots } = testing.sidecar();
    await taken(slots, callerWith(1));
    await advance(10 * leaseMs);
    expect(await admitted(slots, callerWith(1), 1)).toBe(0);
    slots.stop();
    await advance(leaseMs - 1);
    expect(await admitted(testing.sidecar().slots, callerWith(1), 1)).toBe(0);
    await advance(1);
    expect(await admitted(testing.sidecar().slots, callerWith(1), 1)).toBe(1);
    expect(testing.ended()).toBe(1);
  });

  test('slots that Redis has lost without a word are there again within ten seconds', async () => {
    const { slots } = testing.sidecar();
    await admitted(slots, callerWith(5), 3);
    testing.redis.empty();
    await advance(10_000);
    expect(testing.redis.open('acct')).toBe(3);
  });

  test('an instance that stops leaves what goes on without it to its lease', async () => {
    const { slots } = testing.sidecar();
    const slot = await taken(slots, callerWith(1));
    slots.abandon();
    slot.release();
    expect(testing.redis.open('acct')).toBe(1);
    await advance(leaseMs);
    expect(testing.redis.open('acct')).toBe(0);
  });
});
