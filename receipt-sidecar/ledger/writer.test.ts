import { setImmediate as turn } from 'node:timers/promises';
import { ledgerProbeKey } from '@gw/contract/internal/redis';
import type { RedisWriter, Reply } from '@gw/service/redis-writer';
import { entryNamed, idNamed } from '@gw/testing/ledger-entry';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Spool } from './spool.ts';
import { type LedgerWriter, openLedgerWriter } from './writer.ts';

const silent = (): Promise<never> => new Promise(() => undefined);
/** The look at the stream. */
const emptyStream = ['epoch', 0, '', '0-0', 'server'];
/** As a server that stands still: it takes each command and answers none. */
const stillRedis = () => {
  const xadd = vi.fn(silent);
  const set = vi.fn<() => Promise<readonly Reply[]>>(silent);
  const send: RedisWriter['send'] = (first) =>
    first?.[0] === 'EVALSHA' ? xadd() : first?.[0] === 'SET' && first[1] === ledgerProbeKey ? set() : silent();
  return { writes: { send, ...connection }, xadd, set };
};
const connection = { isReady: () => true, untilReady: async () => undefined, stop: vi.fn() };
const redisWith = (get: () => Promise<string | null>) => ({ on: vi.fn(), get }) as unknown as Redis;
const redis = redisWith(async () => null);
const entry = (name: string) => entryNamed(name);

let append: ReturnType<typeof vi.fn<Spool['append']>>;
let xadd: ReturnType<typeof stillRedis>['xadd'];
let set: ReturnType<typeof stillRedis>['set'];
let writer: LedgerWriter;
/** The results of `finish` so far, by id. */
let said: Map<string, boolean>;
const finish = (id: string): void => {
  void writer.finish(idNamed(id), entry(id)).then((safe) => said.set(id, safe));
};

async function advance(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

beforeEach(() => {
  // Turns of the event loop stay real.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  said = new Map();
  append = vi.fn<Spool['append']>(silent);
  const still = stillRedis();
  xadd = still.xadd;
  set = still.set;
  const spool: Spool = { append, replay: () => Promise.resolve(0) };
  writer = openLedgerWriter({
    redis,
    writes: still.writes,
    spool,
    now: Date.now,
    maxStreamLength: 100_000,
    keepMs: 60_000,
    log: pino({ level: 'silent' }),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a reply waits 250 ms for both stores together: 150 for Redis, the rest for the disk', async () => {
  finish('a');
  await advance(149);
  expect(append).not.toHaveBeenCalled();
  await advance(1);
  expect(append).toHaveBeenCalledOnce();
  await advance(99);
  expect(said.size).toBe(0);
  await advance(1);
  expect(said).toEqual(new Map([['a', false]]));
});

test('a disk that takes the receipt before the 250 ms are over makes it safe', async () => {
  append.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 95)));
  finish('a');
  await advance(245);
  expect(said).toEqual(new Map([['a', true]]));
});

test('once Redis is known to be away the disk has all of the 250 ms', async () => {
  append.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 245)));
  finish('a');
  await advance(250);
  expect(said).toEqual(new Map([['a', false]]));
  await advance(240);
  finish('b');
  await advance(245);
  expect(said.get('b')).toBe(true);
  expect(xadd).toHaveBeenCalledOnce();
});

test('a Redis that answers more slowly than a write waits for it is not taken for one that is back', async () => {
  finish('a');
  await advance(250);
  set.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 200, [])));
  await advance(2000);
  finish('b');
  await advance(1);
  expect(append).toHaveBeenCalledTimes(1);
  expect(xadd).toHaveBeenCalledOnce();
  set.mockImplementation(() => Promise.resolve([]));
  await advance(2000);
  finish('c');
  expect(xadd).toHaveBeenCalledTimes(2);
});

test('an alarm about Postgres is asked for after a look at the stream, and what is put in again is kept once', async () => {
  let isLookedAt = false;
  const added: unknown[] = [];
  const send: RedisWriter['send'] = async (first) => {
    if (first?.[0] === 'EVALSHA') return [`${added.push(first[6])}-0`];
    if (first?.[0] !== 'EVAL') return [];
    if (!isLookedAt) throw new Error('away');
    // Each entry is read at once.
    return [['epoch', 0, '', `${added.length}-0`, 'server']];
  };
  let alarm: string | null = null;
  const get = vi.fn(async () => alarm);
  const own = openLedgerWriter({
    redis: redisWith(get),
    writes: { send, ...connection },
    spool: { append, replay: async () => 0 },
    now: Date.now,
    maxStreamLength: 100_000,
    keepMs: 60_000,
    log: pino({ level: 'silent' }),
  });
  await own.finish(idNamed('a'), entry('a'));
  await advance(2000);
  expect(get).not.toHaveBeenCalled();
  isLookedAt = true;
  await advance(2000);
  alarm = JSON.stringify({ id: 'one' });
  await advance(3000);
  expect(added).toEqual([entry('a'), entry('a')]);
  alarm = null;
  await advance(3000);
  expect(added).toEqual([entry('a'), entry('a'), entry('a')]);
  await own.stop();
});

describe('both stores hang, and come back after the client was shown another receipt', () => {
  const shown = (name: string, size = 0) => entryNamed(name, 'shown', '-'.repeat(size));
  const moreThanIsKept = 65 * 1024 * 1024;

  /** Lets `keep` say what is kept of `a`, which the disk takes late, and returns what Redis got in the end. */
  async function inTheEnd(keep: (writer: LedgerWriter) => void): Promise<unknown[]> {
    let areBack = () => {};
    const back = new Promise<void>((resolve) => {
      areBack = resolve;
    });
    const added: unknown[] = [];
    const send: RedisWriter['send'] = async (first) => {
      await back;
      if (first?.[0] === 'EVALSHA') added.push(first[6]);
      return first?.[0] === 'EVAL' ? [emptyStream] : [];
    };
    let onDisk: Buffer[] = [];
    const spool: Spool = {
      append: async (line) => {
        await back;
        onDisk.push(line);
      },
      replay: async (take) => {
        const lines = onDisk;
        onDisk = [];
        if (lines.length > 0) await take(lines);
        return lines.length;
      },
    };
    const log = pino({ level: 'silent' });
    const own = openLedgerWriter({
      redis,
      spool,
      writes: { send, ...connection },
      now: Date.now,
      maxStreamLength: 100_000,
      keepMs: 60_000,
      log,
    });
    // Redis is known to be away from the first, so that of `a` the disk alone has heard.
    void own.finish(idNamed('first'), entry('first'));
    await advance(150);
    const safe = own.finish(idNamed('a'), entry('a'));
    await advance(250);
    expect(await safe).toBe(false);
    keep(own);
    areBack();
    for (let i = 0; i < 5; i++) await advance(1000);
    expect(own.counts().kept).toBe(0);
    await own.stop();
    return added.filter((each) => !entry('first').equals(each as Buffer));
  }

  test('what was kept is what the ledger gets', async () => {
    expect(await inTheEnd((own) => own.keep(idNamed('a'), shown('a')))).toEqual([shown('a')]);
  });

  test('what found no room is not: the ledger gets the one that the disk took late', async () => {
    const added = await inTheEnd((own) => {
      own.keep(idNamed('a'), shown('a', moreThanIsKept));
      expect(own.counts()).toMatchObject({ kept: 0, lost: 1 });
    });
    expect(added).toEqual([entry('a')]);
  });

  test('one that was kept stays the last word, even if a second one of its id finds no room', async () => {
    const added = await inTheEnd((own) => {
      own.keep(idNamed('a'), shown('a'));
      own.keep(idNamed('a'), shown('a', moreThanIsKept));
      expect(own.counts()).toMatchObject({ kept: 1, lost: 1 });
    });
    expect(added).toEqual([shown('a')]);
  });

  test('one that found no room at first is the last word once it is kept', async () => {
    const added = await inTheEnd((own) => {
      own.keep(idNamed('a'), shown('a', moreThanIsKept));
      own.keep(idNamed('a'), shown('a'));
    });
    expect(added).toEqual([shown('a')]);
  });

  test('one that was shown does not give way to one of its id that was not', async () => {
    const added = await inTheEnd((own) => {
      own.keep(idNamed('a'), shown('a'));
      own.keep(idNamed('a'), entry('a'));
    });
    expect(added).toContainEqual(shown('a'));
  });
});
