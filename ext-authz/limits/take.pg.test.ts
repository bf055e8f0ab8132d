/**
 * Holds the script in Valkey and the arithmetic in memory together: the same requests get the same decisions.
 *
 * Valkey decides by its own clock, so the arithmetic is asked with the time that Valkey's reply names.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '@gw/cli/services/service';
import { startValkey } from '@gw/cli/services/valkey';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Bucket, type BucketState, dayMs, fullBucket, take } from './bucket.ts';
import { takeScript } from './take.lua.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwtake-'));
const key = 'bucket';
let valkey: Service;
let redis: Redis;

beforeAll(async () => {
  valkey = await startValkey({ dir, log: () => {}, durable: false });
  redis = new Redis(valkey.url);
}, 60_000);
afterAll(async () => {
  redis?.disconnect();
  await valkey?.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => redis.flushall());

const outcomes = ['admitted', 'rate', 'day'] as const;

interface Taken {
  readonly outcome: (typeof outcomes)[number] | undefined;
  readonly tokens: number;
  readonly used: number;
  readonly atMs: number;
}

async function takeInValkey({ ratePerS, burst, perDay }: Bucket): Promise<Taken> {
  const reply = (await redis.eval(takeScript, 1, key, ratePerS, burst, perDay ?? -1)) as [
    number,
    number,
    number,
    number,
  ];
  const [outcome, milliTokens, used, atMs] = reply;
  return { outcome: outcomes[outcome], tokens: milliTokens / 1000, used, atMs };
}

/** What the script keeps, as it keeps it: tokens with six decimals. */
async function store({ tokens, atMs, day, used }: BucketState): Promise<void> {
  await redis.hset(key, { t: tokens.toFixed(6), m: atMs, d: day, n: used });
}

async function valkeyTimeMs(): Promise<number> {
  const [seconds, micros] = (await redis.time()) as unknown as [string, string];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** The script counts in thousandths when it replies, and keeps millionths. */
const close = (a: number, b: number): boolean => Math.abs(a - b) <= 0.0011;

const buckets: fc.Arbitrary<Bucket> = fc.record({
  ratePerS: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0.01, max: 50, noNaN: true })),
  burst: fc.integer({ min: 1, max: 40 }),
  perDay: fc.option(fc.integer({ min: 0, max: 60 }), { nil: null }),
});

describe('the script and the arithmetic', () => {
  test('decide the same for any sequence of requests', async () => {
    await fc.assert(
      fc.asyncProperty(buckets, fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }), async (bucket, waits) => {
        await redis.flushall();
        let state: BucketState | null = null;
        for (const waitMs of waits) {
          if (waitMs > 0) await delay(waitMs);
          const taken = await takeInValkey(bucket);
          state ??= fullBucket(bucket, taken.atMs);
          const before = state.tokens + ((taken.atMs - state.atMs) * bucket.ratePerS) / 1000;
          const decision = take(state, bucket, taken.atMs);
          // Exactly at one token the last decimal decides, which the two keep differently.
          if (close(before, 1)) return;
          expect(taken.outcome).toBe(decision.outcome);
          expect(close(taken.tokens, state.tokens)).toBe(true);
          if (bucket.perDay !== null) expect(taken.used).toBe(state.used);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('decide the same from any state, also after long waits, over midnight, and when the clock stepped back', async () => {
    const states = fc.record({
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      agoMs: fc.integer({ min: -5000, max: 3 * dayMs }),
      used: fc.integer({ min: 0, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(buckets, states, async (bucket, { share, agoMs, used }) => {
        const atMs = (await valkeyTimeMs()) - agoMs;
        const tokens = Number((share * bucket.burst).toFixed(6));
        const state: BucketState = { tokens, atMs, day: Math.floor(atMs / dayMs), used };
        await store(state);
        const taken = await takeInValkey(bucket);
        const filled = Math.min(bucket.burst, tokens + (Math.max(0, taken.atMs - atMs) * bucket.ratePerS) / 1000);
        if (close(filled, 1)) return;
        const decision = take(state, bucket, taken.atMs);
        expect(taken.outcome).toBe(decision.outcome);
        expect(close(taken.tokens, state.tokens)).toBe(true);
        expect(taken.used).toBe(state.used);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the script', () => {
  test('admits the burst at once, then at the rate', async () => {
    const bucket: Bucket = { ratePerS: 20, burst: 10, perDay: null };
    const taken: Taken[] = [];
    for (let asked = 0; asked < 400 && (taken.at(-1)?.atMs ?? 0) - (taken[0]?.atMs ?? 0) < 500; asked += 1) {
      taken.push(await takeInValkey(bucket));
      await delay(2);
    }
    const spanMs = (taken.at(-1)?.atMs ?? 0) - (taken[0]?.atMs ?? 0);
    const admitted = taken.filter(({ outcome }) => outcome === 'admitted').length;
    expect(taken.slice(0, 10).every(({ outcome }) => outcome === 'admitted')).toBe(true);
    expect(admitted).toBe(10 + Math.floor((spanMs * 20) / 1000 + 1e-6));
  });

  test('admits a day budget and no more, however many ask at once', async () => {
    const bucket: Bucket = { ratePerS: 1000, burst: 1000, perDay: 25 };
    const taken = await Promise.all(Array.from({ length: 100 }, () => takeInValkey(bucket)));
    expect(taken.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(25);
    expect(taken.filter(({ outcome }) => outcome === 'day')).toHaveLength(75);
  });

  test('lets a refused request take nothing, neither from the rate nor from the day', async () => {
    const slow: Bucket = { ratePerS: 0.001, burst: 3, perDay: 100 };
    for (let asked = 0; asked < 20; asked += 1) await takeInValkey(slow);
    expect(await takeInValkey(slow)).toMatchObject({ outcome: 'rate', used: 3 });

    const spent: Bucket = { ratePerS: 1000, burst: 1000, perDay: 3 };
    const { tokens } = await takeInValkey(spent);
    for (let asked = 0; asked < 20; asked += 1) await takeInValkey(spent);
    const after = await takeInValkey(spent);
    expect(after).toMatchObject({ outcome: 'day', used: 3 });
    expect(after.tokens).toBeGreaterThanOrEqual(tokens);
  });

  test('keeps a spent day through the day, forgets it two days later, and begins the next one anew', async () => {
    const bucket: Bucket = { ratePerS: 10, burst: 10, perDay: 1 };
    await takeInValkey(bucket);
    expect(await takeInValkey(bucket)).toMatchObject({ outcome: 'day' });
    const ttl = await redis.ttl(key);
    expect(ttl).toBeGreaterThan(dayMs / 1000);
    expect(ttl).toBeLessThanOrEqual((2 * dayMs) / 1000);
    await redis.hincrby(key, 'd', -1);
    expect(await takeInValkey(bucket)).toMatchObject({ outcome: 'admitted', used: 1 });
  });
});
