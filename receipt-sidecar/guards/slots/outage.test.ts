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

let testing: SlotsForTests;
beforeEach(() => {
  testing = slotsForTests();
});
afterEach(() => testing.stop());

describe('while Redis is away', () => {
  test('each instance allows its share, at least one, and says so', async () => {
    const { slots, connection } = testing.sidecar(2);
    connection.lose();
    expect(slots.local).toBe(true);
    expect(await admitted(slots, callerWith(5), 5)).toBe(2);
    expect(await take(slots, callerWith(5))).toBe(
      'This account has 2 streams open, and its share here of the limit of 5 is 2 while the instances of the gateway cannot count together. Close one, wait until one ends, or ask for a higher tier.',
    );
    expect(await admitted(slots, callerWith(1, { accountId: 'small' }), 3)).toBe(1);
    expect(await admitted(slots, callerWith(0, { accountId: 'none' }), 3)).toBe(0);
    expect(await admitted(slots, callerWith(9, { accountId: 'keys', keyStreams: 2 }), 3)).toBe(1);
    expect(testing.decided.every((each) => each.endsWith('local'))).toBe(true);
    expect(connection.sent).toEqual([]);
  });

  test('a Redis that hangs is waited for once, for 250 ms, and by no stream after that', async () => {
    const { slots, connection } = testing.sidecar();
    testing.redis.hang();
    const said: string[] = [];
    const ask = () => slots.take(callerWith(9)).then(({ ok }) => said.push(ok ? 'taken' : 'denied'));
    void ask();
    await advance(249);
    expect(said).toEqual([]);
    await advance(1);
    expect(said).toEqual(['taken']);
    await ask();
    expect(said).toEqual(['taken', 'taken']);
    expect(connection.sent.filter((name) => name === 'take')).toHaveLength(1);
    expect(testing.logged).toHaveLength(1);
  });

  test('what was taken meanwhile is counted as soon as Redis answers again', async () => {
    const { slots, connection } = testing.sidecar();
    await admitted(slots, callerWith(5), 2);
    connection.lose();
    testing.redis.empty();
    await admitted(slots, callerWith(5), 2);
    connection.comeBack();
    await advance(0);
    expect(slots.local).toBe(false);
    expect(testing.redis.open('acct')).toBe(4);
    expect(await admitted(slots, callerWith(5), 3)).toBe(1);
  });

  test('what was released meanwhile is free as soon as it answers again, if it still knows of it', async () => {
    const { slots, connection } = testing.sidecar();
    const first = await taken(slots, callerWith(2));
    await taken(slots, callerWith(2));
    connection.lose();
    first.release();
    expect(testing.redis.open('acct')).toBe(2);
    connection.comeBack();
    await advance(0);
    expect(testing.redis.open('acct')).toBe(1);
    expect(connection.sent.filter((name) => name === 'release')).toHaveLength(1);
  });

  test('a take whose answer was late leaves nothing behind, whether it was decided for or against', async () => {
    const { slots } = testing.sidecar(2);
    const open = await taken(slots, callerWith(3));
    testing.redis.hang();
    // Redis has room for both, the share of this instance for the second alone.
    const [denied, given] = [slots.take(callerWith(3)), slots.take(callerWith(3, { accountId: 'other' }))];
    await advance(250);
    expect((await denied).ok).toBe(false);
    const decision = await given;
    if (decision.ok) decision.value.release();
    expect(decision.ok).toBe(true);
    open.release();
    testing.redis.goOn();
    await advance(0);
    expect(testing.redis.open('acct')).toBe(0);
    expect(testing.redis.open('other')).toBe(0);
  });

  test('with others it counts alone until they had time to register theirs too', async () => {
    const [a, b] = [testing.sidecar(2), testing.sidecar(2)];
    await admitted(a.slots, callerWith(4), 2);
    await admitted(b.slots, callerWith(4), 2);
    for (const { connection } of [a, b]) connection.lose();
    testing.redis.empty();
    a.connection.comeBack();
    await advance(1000);
    // Redis knows of two; the other two are open all the same.
    expect(await admitted(a.slots, callerWith(4), 1)).toBe(0);
    b.connection.comeBack();
    await advance(500);
    await taken(b.slots, callerWith(6));
    await advance(2000);
    expect([a.slots.local, b.slots.local]).toEqual([false, false]);
    expect(testing.redis.open('acct')).toBe(5);
    expect(await admitted(a.slots, callerWith(5), 1)).toBe(0);
  });

  test('a connection whose other end has vanished is made anew', async () => {
    const { slots, connection } = testing.sidecar();
    testing.redis.hang();
    await advance(9000);
    expect(connection.reconnects()).toBe(0);
    void slots.take(callerWith(1));
    await advance(25_000);
    expect(connection.reconnects()).toBe(1);
  });
});
