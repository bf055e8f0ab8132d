import type { FoundKey } from '@gw/prisma/find-key';
import { describe, expect, it } from 'vitest';
import { KeyCache, KeysUnconfirmedError } from './key-cache.ts';

const key = (publicId: string, state: FoundKey['state'] = 'active'): FoundKey => ({
  publicId,
  accountId: 'a',
  hash: Buffer.alloc(32),
  scopes: [],
  state,
  expiresAt: null,
  account: { tier: 'audit', state: 'active', models: null, limits: { ratePerS: 1, burst: 1, perDay: 1 } },
});

function setUp(capacity = 100) {
  const asked: string[] = [];
  const waiting: ((found: FoundKey | null) => void)[] = [];
  let nowMs = 0;
  const cache = new KeyCache(
    {
      find: (publicId) => {
        asked.push(publicId);
        return new Promise((resolve) => waiting.push(resolve));
      },
    },
    { now: () => nowMs, capacity, graceMs: 60_000 },
  );
  const answer = (found: FoundKey | null) => waiting.shift()?.(found);
  const learn = async (publicId: string, found: FoundKey | null) => {
    const result = cache.find(publicId);
    answer(found);
    await result;
  };
  return { cache, asked, answer, learn, pass: (ms: number) => (nowMs += ms) };
}

describe('the key cache', () => {
  it('looks a key up once, and an unknown one too', async () => {
    const { cache, asked, learn } = setUp();
    await learn('k', key('k'));
    await learn('none', null);
    expect((await cache.find('k'))?.publicId).toBe('k');
    expect(await cache.find('none')).toBeNull();
    expect(asked).toEqual(['k', 'none']);
  });

  it('asks the store once for many calls at the same time', async () => {
    const { cache, asked, answer } = setUp();
    const calls = [cache.find('k'), cache.find('k'), cache.find('k')];
    answer(key('k'));
    expect((await Promise.all(calls)).every((found) => found?.publicId === 'k')).toBe(true);
    expect(asked).toEqual(['k']);
  });

  it('never keeps what a look-up read before a change: a revoked key does not come back', async () => {
    const { cache, asked, answer } = setUp();
    const result = cache.find('k');
    cache.forget('k'); // the revocation, while the look-up is under way
    answer(key('k', 'active')); // read before it
    await Promise.resolve();
    await Promise.resolve();
    answer(key('k', 'revoked'));
    expect((await result)?.state).toBe('revoked');
    expect((await cache.find('k'))?.state).toBe('revoked');
    expect(asked).toEqual(['k', 'k']);
  });

  it('forgets one key, or all of them, and every unknown id, on a change', async () => {
    const { cache, asked, learn } = setUp();
    await learn('k', key('k'));
    await learn('new', null);
    cache.forget('new');
    await learn('new', key('new'));
    expect(asked).toEqual(['k', 'new', 'new']);
    cache.forget('*');
    await learn('k', key('k'));
    expect(asked).toEqual(['k', 'new', 'new', 'k']);
  });

  it('honours entries for the grace time without a confirmation, then refuses, and goes on when confirmed', async () => {
    const { cache, learn, pass } = setUp();
    await learn('k', key('k'));
    pass(60_000);
    expect(await cache.find('k')).not.toBeNull();
    pass(1);
    await expect(cache.find('k')).rejects.toThrow(KeysUnconfirmedError);
    cache.confirm();
    expect(await cache.find('k')).not.toBeNull();
  });

  it('stays within its capacity under a flood of unknown ids, which push no known key out', async () => {
    const { cache, asked, learn } = setUp(10);
    await learn('k', key('k'));
    for (let i = 0; i < 50; i++) await learn(`x${i}`, null);
    await cache.find('k');
    expect(asked.filter((id) => id === 'k')).toHaveLength(1);
    await learn('x0', null);
    expect(asked.filter((id) => id === 'x0')).toHaveLength(2);
  });
});
