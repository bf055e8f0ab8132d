import { EventEmitter } from 'node:events';
import type { GroundAlarm } from '@gw/contract/internal/ground';
import { keyChangedChannel } from '@gw/contract/internal/redis';
import type { KeyChanges } from '@gw/prisma/find-key';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchChanges } from './change-watch.ts';
import type { KeyCache } from './key-cache.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { KeyDoubts } from './key-doubts.ts';

const silent = { info: () => undefined, error: () => undefined } as unknown as Logger;

/** A connection as far as the watch uses one. */
class Connection extends EventEmitter {
  status = 'connecting';
  copy: string | null = null;
  alarm: GroundAlarm | null = null;
  changed: string[] = [];
  closed: string[] = [];
  mget = async () => [this.copy, this.alarm && JSON.stringify(this.alarm)];
  zrangebyscore = async () => this.changed;
  zrange = async () => this.closed;
  subscribe = async () => 1;
}

function setUp() {
  const forgotten: string[] = [];
  let confirmations = 0;
  const cache = {
    forget: (id: string) => forgotten.push(id),
    forgetAccount: (id: string) => forgotten.push(`all of ${id}`),
    forgetAll: () => forgotten.push('*'),
    confirm: () => confirmations++,
    doubt: (doubts: KeyDoubts | null) => doubted.push(doubts),
  } as unknown as KeyCache;
  const doubted: (KeyDoubts | null)[] = [];
  const told: string[] = [];
  const confirmed: number[] = [];
  const changed: [known: number | null, KeyChanges][] = [];
  const directory = {
    tell: (id: string) => told.push(id),
    confirm: async (known: number | null, changes: KeyChanges) => {
      confirmed.push(changes.generation);
      changed.push([known, changes]);
    },
  } as unknown as KeyDirectory;
  const redis = new Connection();
  const subscriber = new Connection();
  const postgres: { generation: number | 'stands still' | null; since: KeyChanges['since'] } = {
    generation: 5,
    since: null,
  };
  const asked: (number | null)[] = [];
  const changes = async (known: number | null): Promise<KeyChanges> => {
    asked.push(known);
    const { generation, since } = postgres;
    if (generation === null) throw new Error('away');
    if (generation === 'stands still') return new Promise<KeyChanges>(() => undefined);
    return { generation, since };
  };
  const watch = watchChanges({
    cache,
    directory,
    now: () => 0,
    patienceMs: 300,
    changes,
    redis: redis as unknown as Redis,
    subscriber: subscriber as unknown as Redis,
    pollMs: 500,
    log: silent,
  });
  return {
    watch,
    forgotten,
    doubted,
    asked,
    told,
    listed: confirmed,
    changed,
    redis,
    subscriber,
    postgres,
    confirmations: () => confirmations,
    poll: () => vi.advanceTimersByTimeAsync(500),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the watch for changes of keys', () => {
  it('passes a message on at once, and notices a lost one at the next poll', async () => {
    const { watch, forgotten, subscriber, postgres, poll } = setUp();
    await poll();
    forgotten.length = 0;
    subscriber.emit('message', keyChangedChannel, 'abc');
    expect(forgotten).toEqual(['abc']);
    postgres.generation = 6; // its message never came
    await poll();
    expect(forgotten).toEqual(['abc', '*']);
    await poll();
    expect(forgotten).toEqual(['abc', '*']);
    watch.stop();
  });

  it('forgets what changed, and everything only where that is not known', async () => {
    const { watch, forgotten, asked, subscriber, postgres, told, poll } = setUp();
    await poll();
    forgotten.length = 0;
    subscriber.emit('message', keyChangedChannel, 'account:acct_1');
    Object.assign(postgres, { generation: 8, since: { publicIds: ['abc', 'def'], accountIds: ['acct_2'] } });
    await poll();
    expect(forgotten).toEqual(['all of acct_1', 'abc', 'def', 'all of acct_2']);
    Object.assign(postgres, { generation: 5000, since: null });
    await poll();
    expect(forgotten.slice(4)).toEqual(['*']);
    expect(told).toEqual([]);
    expect(asked.slice(0, 4)).toEqual([null, 5, 5, 8]);
    watch.stop();
  });

  it('does not wait for a Postgres that stands still: within a poll and its patience the copy is taken', async () => {
    const { watch, redis, postgres, poll, forgotten, listed } = setUp();
    await poll();
    forgotten.length = 0;
    listed.length = 0;
    postgres.generation = 'stands still';
    redis.copy = '6';
    await poll();
    expect(forgotten).toEqual([]);
    await vi.advanceTimersByTimeAsync(300);
    expect(forgotten).toEqual(['*']);
    expect(watch.confirmed()).toBe(true);
    // The copy may be older than the newest key, so it makes no list of ids fresh.
    expect(listed).toEqual([]);
    watch.stop();
  });

  it('tells the list of ids of a key that may be new, and of each generation that Postgres says', async () => {
    const { watch, subscriber, told, listed, postgres, poll } = setUp();
    await poll();
    subscriber.emit('message', keyChangedChannel, 'abc');
    postgres.generation = 6;
    await poll();
    expect([told, [...new Set(listed)]]).toEqual([['abc'], [5, 6]]);
    watch.stop();
  });

  it('asks Postgres for all since it last said something, so that a list of ids misses nothing of what the copy told', async () => {
    const { watch, redis, postgres, poll, asked, changed, forgotten } = setUp();
    await poll();
    postgres.generation = null;
    redis.copy = '7';
    await poll();
    const since = { publicIds: ['abc'], accountIds: [] };
    Object.assign(postgres, { generation: 8, since });
    await poll();
    expect(asked.at(-1)).toBe(5);
    expect(changed.at(-1)).toEqual([5, { generation: 8, since }]);
    expect(forgotten.slice(-2)).toEqual(['*', 'abc']);
    // Postgres comes back older than the copy said: what was read meanwhile may be of neither.
    redis.copy = '9';
    postgres.generation = null;
    await poll();
    Object.assign(postgres, { generation: 8, since: { publicIds: [], accountIds: [] } });
    await poll();
    expect(forgotten.slice(-2)).toEqual(['*', '*']);
    watch.stop();
  });

  it('takes the copy in Redis while Postgres is away, but not one that is older than what Postgres said', async () => {
    const { watch, redis, postgres, poll, confirmations, forgotten } = setUp();
    await poll();
    forgotten.length = 0;
    postgres.generation = null;
    redis.copy = '5';
    const before = confirmations();
    await poll();
    expect(confirmations()).toBe(before + 1);
    redis.copy = '4';
    await poll();
    expect(confirmations()).toBe(before + 1);
    expect(watch.confirmed()).toBe(false);
    redis.copy = '7';
    await poll();
    expect(confirmations()).toBe(before + 2);
    expect(forgotten).toEqual(['*']);
    watch.stop();
  });

  it('confirms nothing while both are away, and keeps what is cached when Redis comes back', async () => {
    const { watch, subscriber, postgres, poll, confirmations, forgotten } = setUp();
    await poll();
    forgotten.length = 0;
    postgres.generation = null;
    const before = confirmations();
    await poll();
    subscriber.emit('ready');
    expect(confirmations()).toBe(before);
    expect(watch.confirmed()).toBe(false);
    expect(forgotten).toEqual([]);
    postgres.generation = 5;
    await poll();
    expect(watch.confirmed()).toBe(true);
    watch.stop();
  });

  it('doubts what changed behind a generation that has fallen, or that an alarm names, until that is over', async () => {
    const { watch, redis, postgres, poll, doubted, changed } = setUp();
    redis.copy = '7';
    await poll();
    // It rises to what the copy says: the copy was only read later.
    postgres.generation = 7;
    await poll();
    expect([doubted, watch.inDoubt()]).toEqual([[], false]);
    Object.assign(postgres, { generation: 6, since: { publicIds: [], accountIds: [] } });
    redis.changed = ['abc'];
    redis.closed = ['def'];
    await poll();
    expect(doubted).toEqual([{ changed: new Set(['abc']), closed: new Set(['def']) }]);
    // Everything is read anew.
    expect([changed.at(-1), watch.inDoubt()]).toEqual([[7, { generation: 6, since: null }], true]);
    redis.alarm = { key_generation: { lost_after: 6 } } as GroundAlarm;
    postgres.generation = 8;
    await poll();
    expect([changed.at(-1)?.[1].since, doubted.length, watch.inDoubt()]).toEqual([postgres.since, 1, true]);
    redis.mget = () => Promise.reject(new Error('away'));
    await poll();
    expect(watch.inDoubt()).toBe(true);
    redis.mget = async () => ['8', null];
    await poll();
    expect([doubted.at(-1), watch.inDoubt()]).toEqual([null, false]);
    watch.stop();
  });

  it('takes no copy for the truth while an alarm stands', async () => {
    const { watch, redis, postgres, poll, confirmations } = setUp();
    redis.copy = '7';
    redis.alarm = { key_generation: { lost_after: 5 } } as GroundAlarm;
    await poll();
    postgres.generation = null;
    const before = confirmations();
    await poll();
    expect([confirmations(), watch.confirmed()]).toEqual([before, false]);
    watch.stop();
  });
});
