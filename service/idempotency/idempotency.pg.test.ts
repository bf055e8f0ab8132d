/** Idempotency keys over a real Valkey, by two instances. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { bodySha256 } from '@gw/contract/internal/idempotency-key';
import { emptyValkey, readyWriter } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RedisWriter } from '../redis-writer.ts';
import type { Claims } from './claims.ts';
import {
  type Claim,
  type ClaimResult,
  Idempotency,
  type KeyedCall,
  redisClaims,
  type StoredReply,
} from './idempotency.ts';
import { createReplyCipher } from './reply-cipher.ts';
import { leaseMs } from './scripts.lua.ts';

const keys = { old: randomBytes(32), current: randomBytes(32) };
let redis: Redis;
let writer: RedisWriter;
let instances: Idempotency[] = [];
const now = () => performance.now();

function open(
  cipherKeys: readonly [Buffer, ...Buffer[]] = [keys.current],
  claims: Claims = redisClaims(writer),
): Idempotency {
  const opened = new Idempotency({ claims, cipher: createReplyCipher(cipherKeys), now });
  instances.push(opened);
  return opened;
}

beforeEach(async () => {
  const url = await emptyValkey();
  redis = new Redis(url);
  writer = await readyWriter(url);
});
afterEach(() => {
  for (const each of instances) each.stop();
  instances = [];
  redis.disconnect();
  writer.stop();
});

const call: KeyedCall = { accountId: 'a', path: '/v1/x', key: 'once', body: bodySha256({ say: 'hello' }) };
const reply = (text: string): StoredReply => ({
  status: 200,
  headers: { 'content-type': 'x' },
  body: [Buffer.from(text)],
});
const patience = (mostMs: number, bytes = 100) => ({ mostMs, bytes, onGone: () => undefined });

function claimOf(found: ClaimResult): Claim {
  if (found.is !== 'claimed') throw new Error(`It is ${found.is}.`);
  return found.claim;
}
const finish = async (claim: Claim, text: string, reference = 'r') =>
  claim.finish(await claim.seal(reply(text)), reference);
const textOf = (found: ClaimResult) => (found.is === 'replay' ? Buffer.concat(found.reply.body).toString() : found.is);

test.each([10, 200_000])(
  'a reply of %i bytes is had again by the same request alone, and stands encrypted',
  async (size) => {
    const [one, other] = [open(), open()];
    const secret = 'secret'.repeat(size / 5);
    expect(await finish(claimOf(await one.claim(call, null)), secret)).toBe('kept');
    const again = await other.claim(call, null);
    expect(again).toMatchObject({ is: 'replay', reply: { status: 200, headers: { 'content-type': 'x' } } });
    expect(textOf(again)).toBe(secret);
    expect(await other.claim({ ...call, body: bodySha256({ say: 'bye' }) }, null)).toEqual({ is: 'reused' });
    for (const another of [{ accountId: 'b' }, { path: '/v1/y' }, { key: 'Once' }])
      expect(await other.claim({ ...call, ...another }, null)).toMatchObject({
        is: 'claimed',
        claim: { mayHaveRun: false },
      });
    for (const key of await redis.keys('*')) {
      expect(key).not.toContain('once');
      expect(await redis.dump(key)).not.toContain('secret');
    }
  },
);

const isClaim = (key: string) => !/:(?:bytes|replies)$/.test(key);

test('a stored reply opens only where it was stored', async () => {
  const one = open();
  await finish(claimOf(await one.claim(call, null)), 'mine');
  const mine = (await redis.keys('*{a}:*')).find(isClaim);
  await finish(claimOf(await one.claim({ ...call, accountId: 'b' }, null)), 'yours', 's');
  const yours = (await redis.keys('*{b}:*')).find(isClaim);
  await redis.hset(yours ?? '', 'b', (await redis.hgetBuffer(mine ?? '', 'b')) ?? '');
  expect(await one.claim({ ...call, accountId: 'b' }, null)).toEqual({ is: 'not_kept', reference: 's' });
});

test('the encryption key is exchanged while instances know both, in either order; one that knows neither runs nothing twice', async () => {
  const [before, between, after] = [open([keys.old]), open([keys.old, keys.current]), open([keys.current, keys.old])];
  await finish(claimOf(await before.claim(call, null)), 'by the old one');
  for (const each of [between, after]) expect(textOf(await each.claim(call, null))).toBe('by the old one');
  const later = { ...call, key: 'later' };
  const running = claimOf(await after.claim(later, null));
  expect(await between.claim(later, null)).toEqual({ is: 'running', waited: false });
  await finish(running, 'by the new one');
  expect(textOf(await between.claim(later, null))).toBe('by the new one');
});

test('of 200 calls with one key at two instances one runs, and all others get its reply', async () => {
  const [one, other] = [open(), open()];
  let runs = 0;
  const found = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const each = await (at % 2 ? one : other).claim(call, patience(20_000));
      if (each.is !== 'claimed') return textOf(each);
      runs += 1;
      await delay(300);
      await finish(each.claim, 'once for all');
      return 'once for all';
    }),
  );
  expect([runs, ...new Set(found)]).toEqual([1, 'once for all']);
});

test('who waits while the first one fails runs next, and is told if that may have run', async () => {
  const [one, other] = [open(), open()];
  for (const mayHaveRun of [false, true]) {
    const first = claimOf(await one.claim(call, null));
    const waiting = [one, other].map((each) => each.claim(call, patience(5000)));
    await delay(60);
    first.free(mayHaveRun);
    const next = claimOf(await Promise.race(waiting));
    expect(next.mayHaveRun).toBe(mayHaveRun);
    await finish(next, 'second');
    expect((await Promise.all(waiting)).map(textOf).sort()).toEqual(['claimed', 'second']);
    await redis.flushall();
  }
});

test('a wait has an end, and a bound in number and in bytes, in which other accounts have their part', async () => {
  const one = open();
  claimOf(await one.claim(call, null));
  expect(await one.claim(call, patience(100))).toEqual({ is: 'running', waited: true });
  const large = 10 * 1024 * 1024;
  const waits = [one.claim(call, patience(600, large))];
  await delay(20);
  expect(await one.claim(call, patience(600, large))).toEqual({ is: 'running', waited: false });
  waits.push(...Array.from({ length: 255 }, () => one.claim(call, patience(600))));
  await delay(20);
  expect(await one.claim(call, patience(600))).toEqual({ is: 'running', waited: false });
  const theirs = { ...call, accountId: 'b' };
  claimOf(await one.claim(theirs, null));
  expect(await one.claim(theirs, patience(50))).toEqual({ is: 'running', waited: true });
  expect(new Set((await Promise.all(waits)).map(({ is }) => is))).toEqual(new Set(['running']));
});

test('who goes while it waits leaves its turn to the next one', async () => {
  const one = open();
  const first = claimOf(await one.claim(call, null));
  const client = { leaves: () => {} };
  const gone = one.claim(call, { ...patience(5000), onGone: (then) => void Object.assign(client, { leaves: then }) });
  const next = one.claim(call, patience(5000));
  await delay(60);
  client.leaves();
  expect(await gone).toEqual({ is: 'running', waited: true });
  first.free(false);
  expect(claimOf(await next).mayHaveRun).toBe(false);
});

test('however many wait, Redis is asked by one of them, a few times a second', async () => {
  const claims = redisClaims(writer);
  let asked = 0;
  const take: Claims['take'] = (...given) => {
    asked += 1;
    return claims.take(...given);
  };
  const one = open([keys.current], { ...claims, take });
  claimOf(await one.claim(call, null));
  const waits = Array.from({ length: 100 }, () => one.claim(call, patience(2000)));
  await Promise.all(waits);
  // Each asks once for itself.
  expect(asked - 101).toBeLessThan(20);
});

test('a key is kept for as long as its call runs, and not for longer than its lease after its instance has died', {
  timeout: 60_000,
}, async () => {
  const [one, dead, other] = [open(), open(), open()];
  const ofTheDead = { ...call, key: 'of-the-dead' };
  claimOf(await one.claim(call, null));
  const running = claimOf(await dead.claim(ofTheDead, null));
  dead.stop();
  const taken = other.claim(ofTheDead, patience(leaseMs + 5000));
  await delay(leaseMs + 1000);
  expect(await other.claim(call, null)).toEqual({ is: 'running', waited: false });
  const next = claimOf(await taken);
  expect(next.mayHaveRun).toBe(true);
  // The first one is back: what it has is not what the key stands for.
  expect(await finish(running, 'late')).toBe('lost');
  await finish(next, 'second');
  expect(textOf(await other.claim(ofTheDead, null))).toBe('second');
  // Redis is told again about claims that it has lost.
  await redis.flushall();
  await delay(leaseMs / 3 + 1000);
  expect(await other.claim(call, null)).toEqual({ is: 'running', waited: false });
});

test('while Redis is away nobody runs; what it took all the same is given back', async () => {
  const claims = redisClaims(writer);
  const late: Claims['take'] = async (...given) => {
    await claims.take(...given);
    throw new Error('Command timed out');
  };
  expect(await open([keys.current], { ...claims, take: late }).claim(call, null)).toEqual({ is: 'unknown' });
  expect(claimOf(await open().claim(call, null)).mayHaveRun).toBe(false);
  writer.stop();
  expect(await open().claim(call, null)).toEqual({ is: 'unknown' });
});

test('a reply that cannot be sealed is not kept, and the next call runs at once and is told', async () => {
  const cipher = createReplyCipher([keys.current]);
  const broken = { ...cipher, seal: () => Promise.reject(new Error('no memory')) };
  const one = new Idempotency({ claims: redisClaims(writer), cipher: broken, now });
  instances.push(one);
  const claim = claimOf(await one.claim(call, null));
  expect(await claim.seal(reply('mine'))).toBe(null);
  expect(await claim.finish(null, 'r')).toBe('lost');
  expect(claimOf(await open().claim(call, patience(5000))).mayHaveRun).toBe(true);
});

test('at an orderly end nobody goes on waiting, and what runs is stored all the same', async () => {
  const one = open();
  const claim = claimOf(await one.claim(call, null));
  const waiting = one.claim(call, patience(20_000));
  await delay(50);
  one.stopWaiting();
  expect(await waiting).toEqual({ is: 'running', waited: true });
  expect(await finish(claim, 'hello')).toBe('kept');
});

test('an orderly end waits for a reply that is being stored, so that the next call gets it', async () => {
  const claims = redisClaims(writer);
  const slow: Claims['finish'] = async (...given) => {
    await delay(200);
    return claims.finish(...given);
  };
  const one = open([keys.current], { ...claims, finish: slow });
  const claim = claimOf(await one.claim(call, null));
  const sealed = await claim.seal(reply('stored'));
  void claim.finish(sealed, 'r');
  await one.freeHeld();
  expect(textOf(await open().claim(call, null))).toBe('stored');
});
