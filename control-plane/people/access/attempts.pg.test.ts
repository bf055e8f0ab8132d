import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Attempts, networkOf, openAttempts } from './attempts.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwat-'));
let redis: Redis;
let away: Redis;
let clock = new Date('2026-11-21T09:00:00.000Z');

const wait = (ms: number): void => {
  clock = new Date(clock.getTime() + ms);
};

beforeAll(async () => {
  redis = new Redis(await emptyValkey());
  away = new Redis(join(dir, 'nobody.sock'), { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
  away.on('error', () => {});
});
afterAll(async () => {
  redis.disconnect();
  away.disconnect();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => redis.flushall());

describe.each(['over all instances', 'in one instance while Redis is away'])('%s', (where) => {
  let attempts: Attempts;
  beforeEach(() => {
    attempts = openAttempts(where === 'over all instances' ? redis : away, () => clock);
  });
  /** Waits as long as it is told, and returns these waits in seconds. */
  const failures = async (count: number, subject: (i: number) => string, address: (i: number) => string) => {
    const waits: number[] = [];
    for (let i = 0; i < count; ) {
      const { waitMs } = await attempts.admit({ subject: subject(i), address: address(i) });
      if (waitMs > 0) wait(waitMs);
      else i += 1;
      if (waitMs > 0) waits.push(waitMs / 1000);
    }
    return waits;
  };

  test('guesses at one person from everywhere: five are free, then each waits twice as long, at most 30 s', async () => {
    const waits = await failures(
      14,
      () => 'operator ada',
      (i) => `192.0.2.${i}`,
    );
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  test('guesses at everybody from one address: ten are free, then each waits twice as long, at most 15 min', async () => {
    const waits = await failures(
      24,
      (i) => `operator ${i}`,
      () => '192.0.2.1',
    );
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test('after a success the person begins anew, and an hour of peace forgets the failures', async () => {
    const from = { subject: 'operator ada', address: '192.0.2.1' };
    await failures(
      5,
      () => from.subject,
      () => from.address,
    );
    expect((await attempts.admit(from)).waitMs).toBe(0);
    wait(1000);
    await attempts.succeeded(from);
    expect(
      await failures(
        5,
        () => from.subject,
        (i) => `192.0.2.${10 + i}`,
      ),
    ).toEqual([]);
  });

  test('an attempt that was not judged does not count, and the next one is heard when it was told to come', async () => {
    const from = { subject: 'operator ada', address: '192.0.2.1' };
    for (let i = 0; i < 40; i += 1) {
      expect((await attempts.admit(from)).waitMs).toBe(0);
      await attempts.takeBack(from, 1000);
    }
    await failures(
      8,
      () => from.subject,
      () => from.address,
    );
    wait(4000);
    expect((await attempts.admit(from)).waitMs).toBe(0);
    await attempts.takeBack(from, 1000);
    expect((await attempts.admit(from)).waitMs).toBe(1000);
  });

  test('many at the same time do not pass as one', async () => {
    const all = Array.from({ length: 20 }, (_, i) =>
      attempts.admit({ subject: 'operator ada', address: `192.0.2.${i}` }),
    );
    expect((await Promise.all(all)).filter(({ waitMs }) => waitMs === 0)).toHaveLength(6);
  });
});

test('strangers cannot slow down a person at an address from which the person has logged in before', async () => {
  const attempts = openAttempts(redis, () => clock);
  const home = { subject: 'operator ada', address: '192.0.2.1' };
  await attempts.admit(home);
  await attempts.succeeded(home);
  const strangers = Array.from({ length: 50 }, (_, i) => attempts.admit({ ...home, address: `198.51.100.${i}` }));
  await Promise.all(strangers);
  expect((await attempts.admit({ ...home, address: '203.0.113.9' })).waitMs).toBeGreaterThan(0);
  expect(await attempts.admit(home)).toEqual({ waitMs: 0, known: true });
});

test('nor can others behind the same address; guesses at the person there are slowed by at most 30 s', async () => {
  const attempts = openAttempts(redis, () => clock);
  const home = { subject: 'operator ada', address: '192.0.2.1' };
  await attempts.admit(home);
  await attempts.succeeded(home);
  for (let i = 0; i < 40; i += 1) await attempts.admit({ subject: `operator ${i}`, address: home.address });
  expect((await attempts.admit({ subject: 'operator new', address: home.address })).waitMs).toBeGreaterThan(0);
  for (let i = 0; i < 20; ) {
    const { known, waitMs } = await attempts.admit(home);
    expect([known, waitMs <= 30_000]).toEqual([true, true]);
    if (waitMs === 0) i += 1;
    wait(waitMs);
  }
  expect((await attempts.admit(home)).waitMs).toBe(30_000);
  wait(30_000);
  expect((await attempts.admit(home)).waitMs).toBe(0);
  await attempts.succeeded(home);
  for (let i = 0; i < 6; i += 1) expect((await attempts.admit(home)).waitMs).toBe(0);
});

test('whoever has a login of his own cannot wash off his guesses at others with it', async () => {
  const attempts = openAttempts(redis, () => clock);
  const address = '192.0.2.1';
  for (let i = 0; i < 10; i += 1) await attempts.admit({ subject: `operator ${i}`, address });
  const own = { subject: 'organisation_admin eve', address };
  expect((await attempts.admit(own)).waitMs).toBe(0);
  await attempts.succeeded(own);
  expect((await attempts.admit({ subject: 'operator x', address })).waitMs).toBe(1000);
});

test('instances count together, and Redis is told no e-mail and no address', async () => {
  const [one, two] = [openAttempts(redis, () => clock), openAttempts(redis, () => clock)];
  const from = { subject: 'operator ada@ops.example', address: '192.0.2.77' };
  for (let i = 0; i < 3; i += 1) for (const each of [one, two]) await each.admit(from);
  expect((await two.admit(from)).waitMs).toBe(1000);
  const keys = (await redis.keys('*')).join();
  expect(keys).not.toMatch(/ada|192/);
  for (const key of await redis.keys('*')) expect(await redis.pttl(key)).toBeGreaterThan(0);
});

test('a subscriber of IPv6 counts once with all of their own addresses', () => {
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64');
  expect(networkOf('2001:0db8:1::9')).toBe('2001:db8:1:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1');
});
