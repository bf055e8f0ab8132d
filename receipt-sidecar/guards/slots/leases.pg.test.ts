/** The scripts in a real Valkey, on a clock that the test sets, against what they are to do written down plainly. */

import { keySlotsKey, slotsKey } from '@gw/contract/internal/redis';
import { cases } from '@gw/testing/cases';
import { emptyValkey } from '@gw/testing/valkey';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FoundSlots, type Lease, type Leases, leaseMs, redisLeases } from './leases.ts';
import { renewScript, takeScript } from './scripts.lua.ts';

let redis: Redis;
let leases: Leases;

const clock = 'clock-of-the-test';
function onTestClock(script: string): string {
  const asked = "redis.call('TIME')";
  if (!script.includes(asked)) throw new Error('The script does not ask for the time.');
  return script.replace(asked, `redis.call('HMGET', '${clock}', 's', 'us')`);
}
const setClock = (ms: number) => redis.hset(clock, { s: Math.floor(ms / 1000), us: (ms % 1000) * 1000 });

beforeAll(async () => {
  redis = new Redis(await emptyValkey());
  leases = redisLeases(redis, { take: onTestClock(takeScript), renew: onTestClock(renewScript) });
}, 60_000);
afterAll(() => redis?.disconnect());
beforeEach(() => redis.flushall());

type Step =
  | { readonly do: 'take'; readonly holder: number; readonly key: number; readonly shadow: boolean }
  | { readonly do: 'renew'; readonly holder: number }
  | { readonly do: 'die'; readonly holder: number }
  | { readonly do: 'release'; readonly holder: number; readonly slot: number }
  | { readonly do: 'lose' }
  | { readonly do: 'wait'; readonly ms: number };

const holders = 3;
const holder = fc.nat(holders - 1);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      holder,
      key: fc.nat(1),
      shadow: fc.nat(9).map((n) => n === 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), holder, slot: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('renew' as const), holder }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), holder }) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(leaseMs * 1.2) }) },
);

/** A model of what the scripts have to do, and of who holds which slot. */
class Model {
  nowMs = 1_700_000_000_000;
  readonly ends = new Map<string, number>();
  readonly held: Lease[][] = Array.from({ length: holders }, () => []);
  /** Slots of streams that run and whose lease was lost once, or that no limit was in force for. */
  readonly excused = new Set<string>();

  get streams(): Lease[] {
    return this.held.flat();
  }

  dropEnded(): number {
    const ended = [...this.ends].filter(([, until]) => until <= this.nowMs);
    for (const [id] of ended) this.ends.delete(id);
    return ended.length;
  }

  take(lease: Lease, limit: number, keyLimit: number, evenIfFull: boolean): FoundSlots {
    const ended = this.dropEnded();
    const open = this.ends.size;
    const keyOpen = [...this.ends.keys()].filter((id) => id.startsWith(lease.keyId)).length;
    const full = open >= limit ? 'account' : keyOpen >= keyLimit ? 'key' : null;
    if (full === null || evenIfFull) this.ends.set(lease.id, this.nowMs + leaseMs);
    return { full, open, keyOpen, ended };
  }

  noteLost(): void {
    for (const { id } of this.streams) if ((this.ends.get(id) ?? 0) <= this.nowMs) this.excused.add(id);
  }
}

describe('leases in Valkey', () => {
  test('are given, renewed and ended as they are to be, in any order, by any number of holders', async () => {
    const property = fc.asyncProperty(
      fc.array(steps, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (list, limit, keyLimit) => {
        await redis.flushall();
        const model = new Model();
        let ids = 0;
        for (const step of list) {
          await setClock(model.nowMs);
          if (step.do === 'wait') model.nowMs += step.ms;
          else if (step.do === 'lose') {
            await redis.flushall();
            model.ends.clear();
          } else if (step.do === 'die') model.held[step.holder] = [];
          else if (step.do === 'renew') {
            const mine = model.held[step.holder] ?? [];
            await leases.renew('acct', mine);
            for (const { id } of mine) model.ends.set(id, model.nowMs + leaseMs);
          } else if (step.do === 'release') {
            const mine = model.held[step.holder] ?? [];
            const [lease] = mine.splice(step.slot % Math.max(1, mine.length), 1);
            if (lease) await leases.release(lease);
            if (lease) model.ends.delete(lease.id);
          } else {
            ids += 1;
            const lease = { id: `key${step.key}.${ids}`, accountId: 'acct', keyId: `key${step.key}` };
            const found = await leases.take(lease, { limit, keyLimit, evenIfFull: step.shadow });
            expect(found).toEqual(model.take(lease, limit, keyLimit, step.shadow));
            if (found.full !== null && step.shadow) model.excused.add(lease.id);
            if (found.full === null || step.shadow) model.held[step.holder]?.push(lease);
          }
          model.noteLost();
          const inForce = model.streams.filter(({ id }) => !model.excused.has(id));
          expect(inForce.length).toBeLessThanOrEqual(limit);
        }
        // Whoever still holds something dies.
        await setClock(model.nowMs + leaseMs);
        const probe = { id: 'probe', accountId: 'acct', keyId: 'key0' };
        expect(await leases.take(probe, { limit: 1, keyLimit: 1, evenIfFull: false })).toMatchObject({
          full: null,
          open: 0,
        });
      },
    );
    await fc.assert(property, { numRuns: cases(1000, 30) });
  });

  test('go by themselves, with their sets', async () => {
    const lease = { id: 'a', accountId: 'acct', keyId: 'key' };
    const sets = [slotsKey('acct'), keySlotsKey('acct', 'key')];
    const room = { limit: 1, keyLimit: null, evenIfFull: false };
    await setClock(Date.now());
    await leases.take(lease, room);
    for (const set of sets) expect(await redis.pttl(set)).toBeGreaterThan(leaseMs - 1000);
    await redis.del(...sets);
    await leases.renew('acct', [lease]);
    for (const set of sets) expect(await redis.pttl(set)).toBeGreaterThan(leaseMs - 1000);
    for (const set of sets) expect(await redis.pttl(set)).toBeLessThanOrEqual(leaseMs + 1000);
    await leases.release(lease);
    for (const set of sets) expect(await redis.exists(set)).toBe(0);
  });

  test('of a thousand streams of one account are renewed in few commands', async () => {
    await setClock(Date.now());
    await redis.config('RESETSTAT');
    const many = Array.from({ length: 1000 }, (_, at) => ({ id: `${at}`, accountId: 'acct', keyId: `key${at % 7}` }));
    await leases.renew('acct', many);
    expect(await redis.zcard(slotsKey('acct'))).toBe(1000);
    expect(await redis.zcard(keySlotsKey('acct', 'key0'))).toBe(143);
    expect(await redis.info('commandstats')).toContain('cmdstat_eval:calls=2,');
  });

  test('cost one command and one round trip to take', async () => {
    await setClock(Date.now());
    await redis.config('RESETSTAT');
    for (let at = 0; at < 10; at += 1)
      await leases.take({ id: `${at}`, accountId: 'acct', keyId: 'key' }, { limit: 5, keyLimit: 3, evenIfFull: false });
    const stats = await redis.info('commandstats');
    expect(stats).toContain('cmdstat_eval:calls=10,');
    expect(stats).not.toMatch(/cmdstat_(evalsha|script|multi)/);
  });
});
