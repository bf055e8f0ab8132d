import type { FoundKey } from '@gw/prisma/find-key';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { describe, expect, it, vi } from 'vitest';
import { KeyCache, KeysUnconfirmedError } from './key-cache.ts';
import type { Admission } from './key-directory.ts';

const key = (publicId: string, state: FoundKey['state'] = 'active', accountId = 'a'): FoundKey =>
  storedKey({ publicId, state, accountId });

function setUp(capacity = 100) {
  let admission: Admission = 'look_up';
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
    { now: () => nowMs, capacity, graceMs: 60_000, admit: () => admission },
  );
  const answer = (found: FoundKey | null) => waiting.shift()?.(found);
  const learn = async (publicId: string, found: FoundKey | null) => {
    const result = cache.find(publicId);
    answer(found);
    await result;
  };
  const admit = (next: Admission) => {
    admission = next;
  };
  return { cache, asked, answer, learn, admit, pass: (ms: number) => (nowMs += ms) };
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

  it('drops the keys of an account that changed, and no others', async () => {
    const { cache, asked, learn } = setUp();
    for (const id of ['k', 'l']) await learn(id, key(id));
    await learn('other', key('other', 'active', 'b'));
    await learn('none', null);
    cache.forgetAccount('a');
    await Promise.all([cache.find('other'), cache.find('none')]);
    for (const id of ['k', 'l']) await learn(id, key(id));
    expect(asked).toEqual(['k', 'l', 'other', 'none', 'k', 'l']);
  });

  it('never keeps what a look-up read before its account changed, and what it read of another account it keeps', async () => {
    const { cache, asked, answer } = setUp();
    const [result, other] = [cache.find('k'), cache.find('other')];
    cache.forgetAccount('a'); // a suspension, while both look-ups are under way
    answer(key('k'));
    answer(key('other', 'active', 'b'));
    await other;
    await vi.waitFor(() => expect(asked).toEqual(['k', 'other', 'k']));
    answer({ ...key('k'), account: { ...key('k').account, state: 'suspended' } });
    expect((await result)?.account.state).toBe('suspended');
  });

  it('forgets one key, or all of them, and what it knew of unknown ids, on a change', async () => {
    const { cache, asked, learn } = setUp();
    await learn('k', key('k'));
    await learn('new', null);
    cache.forget('new');
    await learn('new', key('new'));
    expect(asked).toEqual(['k', 'new', 'new']);
    cache.forgetAll();
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

  it('does not even use what it read while the key changed again and again', async () => {
    const { cache, answer, asked } = setUp();
    const result = cache.find('k');
    const failed = expect(result).rejects.toThrow(KeysUnconfirmedError);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await vi.waitFor(() => expect(asked).toHaveLength(attempt));
      if (attempt === 2) cache.forgetAll();
      else cache.forget('k');
      answer(key('k'));
    }
    await failed;
  });

  it('does not look a key up again for a change of another', async () => {
    const { cache, asked, answer } = setUp();
    const result = cache.find('k');
    cache.forget('other');
    answer(key('k'));
    await result;
    await cache.find('k');
    expect(asked).toEqual(['k']);
  });

  it('asks the store only for ids that are admitted: refuses the others, or fails if nobody can tell', async () => {
    const { cache, asked, learn, admit } = setUp();
    await learn('k', key('k'));
    admit('unknown');
    expect(await cache.find('none')).toBeNull();
    admit('unsure');
    await expect(cache.find('none')).rejects.toThrow(KeysUnconfirmedError);
    expect((await cache.find('k'))?.publicId).toBe('k');
    expect(asked).toEqual(['k']);
  });

  it('stays within its capacity under a flood of unknown ids, which push no known key out', async () => {
    const { cache, asked, learn } = setUp(10);
    await learn('k', key('k'));
    for (let i = 0; i < 1001; i++) await learn(`x${i}`, null);
    await cache.find('k');
    expect(asked.filter((id) => id === 'k')).toHaveLength(1);
    await learn('x0', null);
    expect(asked.filter((id) => id === 'x0')).toHaveLength(2);
  });

  it('refuses keys in doubt, and lets all others in', async () => {
    const { cache, answer, learn } = setUp();
    await learn('known', key('known'));
    const doubt = {
      changed: new Set(['limited', 'made', 'account:b']),
      closed: new Set(['revoked', 'limited-before', 'account:c']),
    };
    cache.doubt(doubt);
    const ask = (found: FoundKey | null, id: string) => {
      const result = cache.find(id);
      answer(found);
      return result;
    };
    expect((await ask(key('known'), 'known'))?.state).toBe('active');
    expect((await ask(key('revoked'), 'revoked'))?.state).toBe('revoked');
    for (const id of ['limited', 'made', 'of-b'])
      await expect(ask(id === 'made' ? null : key(id, 'active', id === 'of-b' ? 'b' : 'a'), id)).rejects.toThrow(
        KeysUnconfirmedError,
      );
    expect((await ask(key('of-c', 'active', 'c'), 'of-c'))?.account.state).toBe('suspended');
    expect(await ask(null, 'nobody')).toBeNull();
    cache.doubt(null);
    expect((await ask(key('revoked'), 'revoked'))?.state).toBe('active');
  });
});
