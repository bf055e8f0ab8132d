/** The scripts in a real Valkey, on a clock that the test sets, against what they are to do written down plainly. */
import {
  idempotencyBytesKey,
  idempotencyClaimKey,
  idempotencyRepliesKey,
  idempotencySumKeys,
} from '@gw/contract/internal/redis';
import { cases } from '@gw/testing/cases';
import { onTestClock, setTestClock } from '@gw/testing/service/clock';
import { emptyValkey, readyWriter } from '@gw/testing/valkey';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RedisWriter } from '../redis-writer.ts';
import { type ClaimId, type Claims, defaultRoomBytes, redisClaims } from './claims.ts';
import { claimBytes, claimScripts, lastWordMs, leaseMs, lifeMs, mostStoredBytes } from './scripts.lua.ts';

let redis: Redis;
let writer: RedisWriter;
let claims: Claims;

const start = 1_700_000_000_000;

beforeAll(async () => {
  const url = await emptyValkey();
  redis = new Redis(url);
  writer = await readyWriter(url);
  claims = claimsWith(defaultRoomBytes);
}, 60_000);

function claimsWith(roomBytes: number): Claims {
  const scripts = Object.entries(claimScripts).map(([name, script]) => [name, onTestClock(script)]);
  return redisClaims(writer, roomBytes, Object.fromEntries(scripts));
}

afterAll(() => {
  redis?.disconnect();
  writer?.stop();
});
beforeEach(async () => {
  await redis.flushall();
  await setTestClock(redis, start);
});

const digest = 'digest';
const idOf = (owner: string, fingerprint = 'body 0'): ClaimId => ({ accountId: 'account', digest, owner, fingerprint });

type Step =
  | { readonly do: 'take'; readonly body: number; readonly byFormerKey: boolean }
  | { readonly do: 'renew' | 'finish'; readonly who: number }
  | { readonly do: 'free'; readonly who: number; readonly mayHaveRun: boolean }
  | { readonly do: 'lose' }
  | { readonly do: 'wait'; readonly ms: number };

const who = fc.nat();
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      body: fc.nat(4).map((n) => (n === 0 ? 1 : 0)),
      byFormerKey: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('renew' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('finish' as const), who }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('free' as const), who, mayHaveRun: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(leaseMs * 1.5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(lifeMs + leaseMs) }) },
);

interface Owner {
  readonly id: ClaimId;
  readonly body: number;
  /** When the lease of this claim ends, as the claim stated it. */
  readonly endsAt: number;
}

/** Does what the scripts are to do, and knows who may have run. */
class Model {
  nowMs = start;
  /** Until when the key is remembered; null: nothing is known of it. */
  endsAt: number | null = null;
  /** All who had the key, may have run, and left no reply. */
  readonly ran = new Set<Owner>();
  /** Who had the key last, and until when it is nobody else's. */
  owner: Owner | null = null;
  leaseEndsAt = 0;
  done: { readonly body: number; readonly reference: string } | null = null;
  /** Who still believes to have the key. */
  readonly believers: Owner[] = [];

  get runs(): boolean {
    return this.owner !== null && this.done === null && this.leaseEndsAt > this.nowMs;
  }

  forgetInTime(): void {
    if (this.endsAt !== null && this.endsAt <= this.nowMs && !this.runs) this.forget();
  }

  forget(): void {
    this.endsAt = null;
    this.owner = null;
    this.done = null;
    this.ran.clear();
  }

  hear(): void {
    this.endsAt = Math.max(this.endsAt ?? this.nowMs + lifeMs, this.nowMs + lastWordMs);
  }
}

let taken = 0;
async function take(model: Model, body: number, byFormerKey: boolean): Promise<void> {
  model.forgetInTime();
  const id = idOf(`owner ${++taken}`, byFormerKey ? `newer ${body}` : `body ${body}`);
  const formerly = byFormerKey ? `body ${body}` : `newer ${body}`;
  const found = await claims.take(id, formerly);
  const known = model.done ?? (model.runs ? model.owner : null);
  if (known && known.body !== body) return expect(found).toEqual({ is: 'reused' });
  if (model.done) {
    const { reference } = model.done;
    return expect(found).toEqual({ is: 'done', reference, reply: Buffer.from(reference) });
  }
  if (model.runs) return expect(found).toEqual({ is: 'running' });
  // The promise: whoever runs after somebody who may have run is told so.
  model.hear();
  const endsAt = model.endsAt ?? 0;
  expect(found).toEqual({ is: 'claimed', mayHaveRun: model.ran.size > 0, lifeMs: endsAt - model.nowMs });
  model.owner = { id, body, endsAt };
  model.leaseEndsAt = model.nowMs + leaseMs;
  model.ran.add(model.owner);
  model.believers.push(model.owner);
}

/** Whether it is the owner's word that counts. Whatever Redis knows nothing of, it takes from whoever says it first. */
function owns(model: Model, owner: Owner): boolean {
  if (model.owner === owner && model.done === null) return true;
  if (model.endsAt !== null) return false;
  model.endsAt = Math.max(owner.endsAt, model.nowMs);
  model.owner = owner;
  model.ran.add(owner);
  return true;
}

async function act(model: Model, step: Exclude<Step, { do: 'take' | 'lose' | 'wait' }>): Promise<void> {
  const at = step.who % Math.max(1, model.believers.length);
  const owner = model.believers[at];
  if (!owner) return;
  const left = Math.max(0, owner.endsAt - model.nowMs);
  if (step.do !== 'renew') model.believers.splice(at, 1);
  if (step.do === 'free') {
    await claims.free(owner.id, step.mayHaveRun);
    if (model.owner !== owner || model.done) return;
    if (!step.mayHaveRun) model.ran.delete(owner);
    model.owner = null;
    if (model.ran.size > 0) model.hear();
    else model.forget();
    return;
  }
  const isOurs = owns(model, owner);
  if (isOurs) model.hear();
  if (step.do === 'renew') {
    expect(await claims.renew(owner.id, left)).toBe(isOurs);
    if (isOurs) model.leaseEndsAt = model.nowMs + leaseMs;
    return;
  }
  const reference = `of ${owner.id.owner}`;
  expect(await claims.finish(owner.id, left, reference, Buffer.from(reference))).toBe(isOurs ? 'kept' : 'lost');
  if (isOurs) model.done = { body: owner.body, reference };
}

test('of all calls with one key one runs at a time, and whoever runs after one that may have run is told so', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 40 }), async (schedule) => {
      await redis.flushall();
      const model = new Model();
      await setTestClock(redis, model.nowMs);
      for (const step of schedule) {
        if (step.do === 'take') await take(model, step.body, step.byFormerKey);
        else if (step.do === 'wait') {
          model.nowMs += step.ms;
          await setTestClock(redis, model.nowMs);
        } else if (step.do === 'lose') {
          await redis.flushall();
          await setTestClock(redis, model.nowMs);
          model.forget();
        } else await act(model, step);
      }
    }),
    { numRuns: cases(10_000, 300) },
  );
}, 600_000);

test('a key can be used for something new 24 hours after its first request, and takes no memory from then on', async () => {
  await claims.take(idOf('first'), '');
  await setTestClock(redis, start + 3_600_000);
  await claims.finish(idOf('first'), lifeMs - 3_600_000, 'reference', Buffer.from('reply'));
  const [key] = await redis.keys(`*${digest}`);
  expect(Math.abs((await redis.pttl(key ?? '')) - (lifeMs - 3_600_000))).toBeLessThan(5000);
  await setTestClock(redis, start + lifeMs - 1);
  expect(await claims.take(idOf('second'), '')).toMatchObject({ is: 'done' });
  await setTestClock(redis, start + lifeMs);
  expect(await claims.take(idOf('third', 'another body'), '')).toMatchObject({ is: 'claimed', mayHaveRun: false });
});

/** Runs a call of an account under a key of its own. */
async function stored(by: Claims, accountId: string, name: string, reply: Buffer): Promise<string> {
  const id = { ...idOf(name), accountId, digest: name };
  const taken = await by.take(id, '');
  return by.finish(id, taken.is === 'claimed' ? taken.lifeMs : 0, `of ${name}`, reply);
}
/** The replies that are there; the claims of all others have to be. */
async function kept(accountId: string, names: readonly string[]): Promise<string[]> {
  const looks = names.map(async (name) => {
    const found = await claims.take({ ...idOf('another'), accountId, digest: name }, '');
    expect(found).toMatchObject({ is: 'done', reference: `of ${name}` });
    return found.is === 'done' && found.reply ? [name] : [];
  });
  return (await Promise.all(looks)).flat();
}

test('what an account stores is bounded: its oldest replies go, and none of their calls runs again', async () => {
  const names = ['a', 'b', 'c', 'd'];
  for (const [at, name] of names.entries()) {
    await setTestClock(redis, start + at);
    expect(await stored(claims, 'account', name, Buffer.from(name))).toBe('kept');
  }
  // As if the first two were as large as an account may have them together.
  const replies = idempotencyRepliesKey('account');
  for (const name of ['a', 'b']) {
    await redis.zrem(replies, `${name} ${1 + claimBytes}`);
    await redis.zadd(replies, start + lifeMs, `${name} ${mostStoredBytes / 2 - 1 - claimBytes}`);
  }
  await redis.set(idempotencyBytesKey('account'), mostStoredBytes);
  expect(await stored(claims, 'account', 'e', Buffer.from('e'))).toBe('kept');
  expect(await kept('account', [...names, 'e'])).toEqual(['b', 'c', 'd', 'e']);
  expect(await stored(claims, 'account', 'f', Buffer.alloc(2_000_000))).toBe('kept');
  expect(await kept('account', [...names, 'e', 'f'])).toEqual(['b', 'c', 'd', 'e', 'f']);
  const left = mostStoredBytes / 2 - 1 - claimBytes + 3 * (1 + claimBytes) + 2_000_000 + claimBytes;
  expect(Number(await redis.get(idempotencyBytesKey('account')))).toBe(left);
});

test('what all accounts store is bounded: who stores the most loses the oldest, and nobody else', async () => {
  const few = claimsWith(100_000);
  const reply = Buffer.alloc(10_000 - claimBytes);
  expect(await stored(few, 'modest', 'm1', reply)).toBe('kept');
  const names = Array.from({ length: 30 }, (_, at) => `n${at}`);
  for (const [at, name] of names.entries()) {
    await setTestClock(redis, start + 1 + at);
    expect(await stored(few, 'greedy', name, reply)).toBe('kept');
  }
  expect(await stored(few, 'modest', 'm2', reply)).toBe('kept');
  await expect.poll(() => kept('greedy', names)).toEqual(names.slice(-8));
  const sum = async () => Number(await redis.get(idempotencySumKeys[2] ?? ''));
  await expect.poll(sum).toBe(100_000);
  expect(await kept('modest', ['m1', 'm2'])).toEqual(['m1', 'm2']);
  // A day later nothing of it counts any more.
  await setTestClock(redis, start + lifeMs + 1000);
  expect(await stored(few, 'another', 'a1', reply)).toBe('kept');
  await expect.poll(sum).toBe(10_000);
  expect(await redis.zrange(idempotencySumKeys[0] ?? '', '0', '-1')).toEqual(['another']);
});

test('a reply of a key that is used anew is not taken for the one before', async () => {
  const reply = Buffer.alloc(1000);
  await stored(claims, 'account', digest, reply);
  await setTestClock(redis, start + lifeMs + 1);
  // As if Valkey had forgotten it by its own clock, which the test does not set.
  await redis.del(idempotencyClaimKey('account', digest));
  await stored(claims, 'account', digest, Buffer.alloc(2000));
  expect(await redis.zrange(idempotencyRepliesKey('account'), '0', '-1')).toEqual([`${digest} ${2000 + claimBytes}`]);
  expect(await kept('account', [digest])).toEqual([digest]);
});

test('a claim that a newer release has written is left alone', async () => {
  await claims.take(idOf('first'), '');
  const [key] = await redis.keys(`*${digest}`);
  await redis.hset(key ?? '', 'v', '2');
  const before = await redis.hgetall(key ?? '');
  expect(await claims.take(idOf('second'), '')).toEqual({ is: 'unknown' });
  expect(await redis.hgetall(key ?? '')).toEqual(before);
});

test('a Redis that has lost the scripts is sent them, with the same bytes', async () => {
  const all = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
  await redis.script('FLUSH');
  expect(await claims.take(idOf('first'), '')).toMatchObject({ is: 'claimed' });
  await redis.script('FLUSH');
  expect(await claims.renew(idOf('first'), lifeMs)).toBe(true);
  await redis.script('FLUSH');
  expect(await claims.finish(idOf('first'), lifeMs, 'été', all)).toBe('kept');
  expect(await claims.take(idOf('second'), '')).toEqual({ is: 'done', reference: 'été', reply: all });
});
