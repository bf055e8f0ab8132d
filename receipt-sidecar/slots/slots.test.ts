import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../messages.ts';
import { leaseMs } from './leases.ts';
import { type ConnectionForTests, connectionForTests, RedisForTests } from './leases-for-tests.ts';
import { type Slot, StreamSlots } from './slots.ts';

let redis: RedisForTests;
let logged: string[];
let decided: string[];
let ended: number;
const opened: StreamSlots[] = [];

beforeEach(() => {
  // Turns of the event loop stay real.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  redis = new RedisForTests();
  logged = [];
  decided = [];
  ended = 0;
});
afterEach(() => {
  for (const slots of opened.splice(0)) slots.stop();
  vi.useRealTimers();
});

async function advance(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

/** One sidecar. */
function instance(instances = 1): { slots: StreamSlots; connection: ConnectionForTests } {
  const connection = connectionForTests(redis);
  const mine = opened.length;
  let ids = 0;
  const slots = new StreamSlots({
    leases: connection.leases,
    instances,
    newId: () => {
      ids += 1;
      return `${mine}.${ids}`;
    },
    now: () => performance.now(),
    counts: {
      decided: (outcome, local) => void decided.push(`${outcome} ${local ? 'local' : 'exact'}`),
      ended: (leases) => {
        ended += leases;
      },
    },
    log: pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line).msg) }),
  });
  opened.push(slots);
  return { slots, connection };
}

const caller = (limit: number, more: Partial<Caller> = {}): Caller => ({
  accountId: 'acct',
  keyId: 'key',
  models: null,
  streams: { limit, shadow: false },
  keyStreams: null,
  ...more,
});

async function take(slots: StreamSlots, by: Caller): Promise<Slot | string> {
  const taken = await slots.take(by);
  return taken.ok ? taken.slot : taken.error.message;
}
async function taken(slots: StreamSlots, by: Caller): Promise<Slot> {
  const slot = await take(slots, by);
  if (typeof slot === 'string') throw new Error(slot);
  return slot;
}
/** How many of `count` get a slot. */
async function admitted(slots: StreamSlots, by: Caller, count: number): Promise<number> {
  let got = 0;
  for (let asked = 0; asked < count; asked += 1) got += typeof (await take(slots, by)) === 'string' ? 0 : 1;
  return got;
}

describe('while Redis answers', () => {
  test('as many streams are open as the limit says, over all instances, and a released one makes room', async () => {
    const [a, b] = [instance(2), instance(2)];
    const first = await taken(a.slots, caller(3));
    await taken(b.slots, caller(3));
    await taken(a.slots, caller(3));
    const refusal = await b.slots.take(caller(3));
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
    expect(redis.open('acct')).toBe(2);
    expect(await admitted(b.slots, caller(3), 3)).toBe(1);
    expect(a.slots.open + b.slots.open).toBe(3);
  });

  test('a key has no more than its part, and the refusal says that it is the key', async () => {
    const { slots } = instance();
    const key = caller(10, { keyStreams: 1 });
    await taken(slots, key);
    expect(await take(slots, key)).toBe(
      'This API key has 1 stream open, and its limit is 1. Close one, wait until one ends, or use another key.',
    );
    expect(await admitted(slots, caller(10, { keyId: 'another' }), 20)).toBe(9);
  });

  test('a limit in shadow mode counts, reports once a minute for an account, and refuses nothing', async () => {
    const { slots } = instance();
    await advance(59_000);
    const watched = caller(1, { streams: { limit: 1, shadow: true } });
    expect(await admitted(slots, watched, 4)).toBe(4);
    expect(redis.open('acct')).toBe(4);
    expect(decided).toEqual(['taken exact', 'shadowed exact', 'shadowed exact', 'shadowed exact']);
    expect(logged).toEqual(['a limit of open streams in shadow mode was exceeded']);
    await advance(59_999);
    await taken(slots, watched);
    expect(logged).toHaveLength(1);
    await advance(1);
    await taken(slots, watched);
    expect(logged).toHaveLength(2);
    // Once it is in force, what is open is known.
    expect(await admitted(slots, caller(6), 1)).toBe(0);
  });

  test('a long stream keeps its slot, and that of a dead holder is free after its lease', async () => {
    const { slots } = instance();
    await taken(slots, caller(1));
    await advance(10 * leaseMs);
    expect(await admitted(slots, caller(1), 1)).toBe(0);
    slots.stop();
    await advance(leaseMs - 1);
    expect(await admitted(instance().slots, caller(1), 1)).toBe(0);
    await advance(1);
    expect(await admitted(instance().slots, caller(1), 1)).toBe(1);
    expect(ended).toBe(1);
  });

  test('slots that Redis has lost without a word are there again within ten seconds', async () => {
    const { slots } = instance();
    await admitted(slots, caller(5), 3);
    redis.empty();
    await advance(10_000);
    expect(redis.open('acct')).toBe(3);
  });

  test('an instance that stops leaves what goes on without it to its lease', async () => {
    const { slots } = instance();
    const slot = await taken(slots, caller(1));
    slots.abandon();
    slot.release();
    expect(redis.open('acct')).toBe(1);
    await advance(leaseMs);
    expect(redis.open('acct')).toBe(0);
  });
});

describe('while Redis is away', () => {
  test('each instance allows its share, at least one, and says so', async () => {
    const { slots, connection } = instance(2);
    connection.lose();
    expect(slots.local).toBe(true);
    expect(await admitted(slots, caller(5), 5)).toBe(2);
    expect(await take(slots, caller(5))).toBe(
      'This account has 2 streams open, and its share here of the limit of 5 is 2 while the instances of the gateway can not count together. Close one, wait until one ends, or ask for a higher tier.',
    );
    expect(await admitted(slots, caller(1, { accountId: 'small' }), 3)).toBe(1);
    expect(await admitted(slots, caller(0, { accountId: 'none' }), 3)).toBe(0);
    expect(await admitted(slots, caller(9, { accountId: 'keys', keyStreams: 2 }), 3)).toBe(1);
    expect(decided.every((each) => each.endsWith('local'))).toBe(true);
    expect(connection.sent).toEqual([]);
  });

  test('a Redis that hangs is waited for once, for 250 ms, and by no stream after that', async () => {
    const { slots, connection } = instance();
    redis.hang();
    const said: string[] = [];
    const ask = () => slots.take(caller(9)).then(({ ok }) => said.push(ok ? 'taken' : 'denied'));
    void ask();
    await advance(249);
    expect(said).toEqual([]);
    await advance(1);
    expect(said).toEqual(['taken']);
    await ask();
    expect(said).toEqual(['taken', 'taken']);
    expect(connection.sent.filter((name) => name === 'take')).toHaveLength(1);
    expect(logged).toHaveLength(1);
  });

  test('what was taken meanwhile is counted as soon as Redis answers again', async () => {
    const { slots, connection } = instance();
    await admitted(slots, caller(5), 2);
    connection.lose();
    redis.empty();
    await admitted(slots, caller(5), 2);
    connection.comeBack();
    await advance(0);
    expect(slots.local).toBe(false);
    expect(redis.open('acct')).toBe(4);
    expect(await admitted(slots, caller(5), 3)).toBe(1);
  });

  test('what was released meanwhile is free as soon as it answers again, if it still knows of it', async () => {
    const { slots, connection } = instance();
    const first = await taken(slots, caller(2));
    await taken(slots, caller(2));
    connection.lose();
    first.release();
    expect(redis.open('acct')).toBe(2);
    connection.comeBack();
    await advance(0);
    expect(redis.open('acct')).toBe(1);
    expect(connection.sent.filter((name) => name === 'release')).toHaveLength(1);
  });

  test('a take whose answer was late leaves nothing behind, whether it was decided for or against', async () => {
    const { slots } = instance(2);
    const open = await taken(slots, caller(3));
    redis.hang();
    // Redis has room for both, the share of this instance for the second alone.
    const [denied, given] = [slots.take(caller(3)), slots.take(caller(3, { accountId: 'other' }))];
    await advance(250);
    expect((await denied).ok).toBe(false);
    const decision = await given;
    if (decision.ok) decision.slot.release();
    expect(decision.ok).toBe(true);
    open.release();
    redis.goOn();
    await advance(0);
    expect(redis.open('acct')).toBe(0);
    expect(redis.open('other')).toBe(0);
  });

  test('with others it counts alone until they had time to register theirs too', async () => {
    const [a, b] = [instance(2), instance(2)];
    await admitted(a.slots, caller(4), 2);
    await admitted(b.slots, caller(4), 2);
    for (const { connection } of [a, b]) connection.lose();
    redis.empty();
    a.connection.comeBack();
    await advance(1000);
    // Redis knows of two; the other two are open all the same.
    expect(await admitted(a.slots, caller(4), 1)).toBe(0);
    b.connection.comeBack();
    await advance(500);
    await taken(b.slots, caller(6));
    await advance(2000);
    expect([a.slots.local, b.slots.local]).toEqual([false, false]);
    expect(redis.open('acct')).toBe(5);
    expect(await admitted(a.slots, caller(5), 1)).toBe(0);
  });

  test('a connection whose other end has vanished is made anew', async () => {
    const { slots, connection } = instance();
    redis.hang();
    await advance(9000);
    expect(connection.reconnects()).toBe(0);
    void slots.take(caller(1));
    await advance(25_000);
    expect(connection.reconnects()).toBe(1);
  });
});
