import {
  deadLedgerStream,
  ledgerGroup,
  ledgerStream,
  pendingLeaseMs,
  pendingReceiptsKey,
  receiptKey,
} from '@gw/contract/internal/redis';
import { type EntryState, receiptIdOf } from '@gw/contract/internal/sealed-entry';
import type { Receipt } from '@gw/contract/receipt';
import { entryOf, eventually, silentLog, startOwnStores, testEntries } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { entryIn, type LedgerEntry, sealedEntry } from '@gw/testing/ledger-entry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ingester, startIngester } from './ingest.ts';
import { keepOrphans, putOrphansAgain } from './orphans.ts';
import { openSweeper, sweepPending } from './sweep.ts';

const stores = forFile(startOwnStores);
let ingesters: Ingester[] = [];

beforeEach(async () => {
  await stores.redis.flushall();
  await stores.empty('receipts');
});
afterEach(async () => {
  await Promise.all(ingesters.map((ingester) => ingester.stop()));
  ingesters = [];
});

const start = (consumer: string, abandonedAfterMs?: number): void => {
  const redis = stores.connect();
  const shared = { db: stores.db, log: silentLog, seals: stores.seals, entries: testEntries };
  ingesters.push(startIngester({ ...shared, redis, consumer, ...(abandonedAfterMs && { abandonedAfterMs }) }));
};
const add = (entry: LedgerEntry | Buffer | string, state?: EntryState) =>
  stores.redis.xadd(
    ledgerStream,
    '*',
    'entry',
    typeof entry === 'string' || Buffer.isBuffer(entry) ? entry : sealedEntry(entry, state),
  );
const sweeper = () => ({ redis: stores.redis, log: silentLog, entries: testEntries });
const rowCount = () => stores.db.receipt.count();
const emptied = async () => (await stores.redis.xlen(ledgerStream)) === 0;

test('every entry becomes one row with the text that the client saw, and leaves the stream', async () => {
  const entries = Array.from({ length: 1200 }, (_, i) => {
    const entry = entryOf({ prompt_tokens: i, energy_wh: 0.1 + i / 3 });
    // The order of the fields belongs to the text, whatever order the schema has.
    return { ...entry, receipt: Object.fromEntries(Object.entries(entry.receipt).reverse()) as Receipt };
  });
  for (const entry of entries) await add(entry);
  start('one');
  await eventually(emptied);
  expect(await rowCount()).toBe(1200);
  const stored = await stores.db.$queryRaw<{ body: string; facts: string }[]>`
    SELECT body::text AS body, facts::text AS facts FROM receipts`;
  expect(stored.map((row) => row.body).sort()).toEqual(entries.map((entry) => JSON.stringify(entry.receipt)).sort());
  expect(stored[0]?.facts).toBe('{"inputs":"of the calculation"}');
});

test('an entry that arrives twice, and two ingesters at once, make one row each', async () => {
  const entries = Array.from({ length: 300 }, () => entryOf());
  for (const entry of [...entries, ...entries]) await add(entry);
  start('one');
  start('two');
  await eventually(emptied);
  expect(await rowCount()).toBe(300);
  expect(await stores.redis.xlen(deadLedgerStream)).toBe(0);
});

test('what can never be stored goes to the dead letters once, and the others of its batch are stored', async () => {
  await add('not an entry');
  await add(entryOf(), 'pending');
  // Valid JSON that the database has no text for.
  await add(entryOf({ model: 'nul\u0000' }));
  // The same where no statement looks at it now, and a sum does later; not where the words are a backslash and five letters.
  await add({ ...entryOf(), routingTrace: { decision: 'nul\u0000' } });
  await add({ ...entryOf(), facts: { note: '\\\u0000' } });
  await add({ ...entryOf(), facts: { note: '\\u0000' } });
  // And what has no canonical form: half of a pair of surrogates.
  await add({ ...entryOf(), facts: { model: { id: '\ud800' } } });
  const good = [entryOf(), entryOf(), entryOf()];
  for (const entry of good) await add(entry);
  start('one');
  await eventually(emptied);
  expect(await rowCount()).toBe(4);
  const dead = await stores.redis.xrange(deadLedgerStream, '-', '+');
  expect(dead.map(([, fields]) => fields?.[3]).sort()).toEqual([
    'it cannot be sealed: Lone surrogate is not allowed',
    'it cannot be sealed: Postgres cannot read JSON with a NUL or half of a character in it',
    'it cannot be sealed: Postgres cannot read JSON with a NUL or half of a character in it',
    'it is no entry of this format',
    'its call is under way',
    'the database refuses its values',
  ]);
  expect((await stores.redis.xpending(ledgerStream, ledgerGroup))[0]).toBe(0);
});

test('a stored receipt no longer takes memory in Redis; one that could not be stored stays readable there', async () => {
  const good = entryOf();
  const refused = entryOf({ model: 'nul\u0000' });
  for (const entry of [good, refused]) {
    const place = await add(entry);
    await stores.redis.set(receiptKey(entry.receipt.id), String(place));
  }
  start('one');
  await eventually(emptied);
  await eventually(async () => (await stores.redis.exists(receiptKey(good.receipt.id))) === 0);
  expect(await stores.redis.getBuffer(receiptKey(refused.receipt.id))).toEqual(sealedEntry(refused));
});

test.each(['before', 'after'])(
  'what the client was shown is stored, whether it comes %s the late one or not',
  async (order) => {
    const late = { ...entryOf({ energy_wh: 1 }), facts: { from: 'the late one' } };
    const nothing = { tier: 'degraded', energy_wh: null, carbon_g: null } as const;
    const degraded = { ...late.receipt, ...nothing, degraded_reason: 'sidecar_unavailable' as const };
    const shown = { ...late, receipt: degraded, facts: null, shown: true as const };
    start('one');
    for (const entry of order === 'before' ? [shown, shown, late] : [late, shown, shown]) {
      await add(entry);
      await eventually(emptied);
    }
    const stored = await stores.db.receipt.findMany();
    expect(stored).toMatchObject([{ id: late.receipt.id, tier: 'degraded', energyWh: null, body: degraded }]);
    for (const entry of [late, shown, shown]) await add(entry);
    await eventually(emptied);
    expect(await stores.db.receipt.findMany()).toEqual(stored);
  },
);

test('entries that a dead consumer had read are taken over', async () => {
  await stores.redis.xgroup('CREATE', ledgerStream, ledgerGroup, '0', 'MKSTREAM');
  for (let i = 0; i < 5; i++) await add(entryOf());
  await stores.redis.xreadgroup('GROUP', ledgerGroup, 'dead', 'COUNT', 3, 'STREAMS', ledgerStream, '>');
  start('living', 50);
  await eventually(emptied);
  expect(await rowCount()).toBe(5);
});

test('a killed Postgres loses no receipt: they wait in the stream and go on when it is back', async () => {
  start('one');
  await add(entryOf());
  await eventually(emptied);
  await stores.postgres.kill();
  for (let i = 0; i < 50; i++) await add(entryOf());
  await stores.postgres.start();
  await eventually(emptied);
  expect(await rowCount()).toBe(51);
}, 30_000);

test('Redis that comes back empty is ingested from again', async () => {
  start('one');
  await add(entryOf());
  await eventually(emptied);
  await stores.stopRedis();
  await stores.startRedis();
  await eventually(async () => (await stores.redis.ping()) === 'PONG');
  await add(entryOf());
  await eventually(async () => (await rowCount()) === 2);
}, 30_000);

test('a Valkey whose memory is full is emptied by the ingester, and what it sets aside waits there until there is room', async () => {
  start('one', 3000);
  await add(entryOf());
  await eventually(emptied);
  await Promise.all(ingesters.splice(0).map((ingester) => ingester.stop()));
  // More than one batch that nobody can store stands before what can be.
  for (let i = 0; i < 501; i++) await add('not an entry');
  for (let i = 0; i < 20; i++) await add(entryOf());
  await stores.redis.config('SET', 'maxmemory', '1');
  try {
    start('two', 3000);
    await eventually(async () => (await rowCount()) === 21);
    await eventually(async () => (await stores.redis.xlen(ledgerStream)) === 501);
    // An entry leaves the stream first, and then the list of pending ones.
    await eventually(async () => (await stores.redis.xpending(ledgerStream, ledgerGroup))[0] === 501);
    expect(await stores.redis.xlen(deadLedgerStream)).toBe(0);
  } finally {
    await stores.redis.config('SET', 'maxmemory', '0');
  }
  await eventually(emptied);
  expect(await stores.redis.xlen(deadLedgerStream)).toBe(501);
}, 30_000);

test('a Valkey that comes back empty and full has its group made once there is room', async () => {
  await stores.redis.config('RESETSTAT');
  await stores.redis.config('SET', 'maxmemory', '1');
  start('one');
  try {
    await eventually(async () => /errorstat_NOGROUP/.test(await stores.redis.info('errorstats')));
    expect(await stores.redis.exists(ledgerStream)).toBe(0);
  } finally {
    await stores.redis.config('SET', 'maxmemory', '0');
  }
  await add(entryOf());
  await eventually(emptied);
  expect(await rowCount()).toBe(1);
}, 30_000);

/** A receipt as a sidecar makes it for the case that it does not finish. */
const pendingEntry = () =>
  entryOf({
    tier: 'degraded',
    degraded_reason: 'sidecar_unavailable',
    explanation: 'x',
    recalculable: false,
    energy_wh: null,
    carbon_g: null,
  });

test('a pending receipt whose holder died is closed as degraded, once, by any number of sweepers', async () => {
  const entry = pendingEntry();
  const { id } = entry.receipt;
  await stores.redis.set(receiptKey(id), sealedEntry(entry, 'pending'));
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, id);
  const closed = await Promise.all([1, 2, 3].map(() => sweepPending(sweeper())));
  expect(closed.reduce((a, b) => a + b)).toBe(1);
  const [[place, fields] = []] = await stores.redis.xrangeBuffer(ledgerStream, '-', '+');
  expect(await stores.redis.get(receiptKey(id))).toBe(String(place));
  expect(entryIn(fields?.[1] ?? Buffer.alloc(0))).toMatchObject({ state: 'closed', receipt: entry.receipt });
  expect(await stores.redis.zcard(pendingReceiptsKey)).toBe(0);
  start('one');
  await eventually(async () => (await rowCount()) === 1);
  expect(await stores.db.receipt.findMany()).toMatchObject([{ id, tier: 'degraded', status: 'complete' }]);
});

test('what no living sidecar keeps can be put in again after Postgres has lost it', async () => {
  const [made, closed] = [entryOf(), pendingEntry()];
  await add(made);
  await add(closed, 'closed');
  start('one');
  await eventually(async () => (await rowCount()) === 2);
  await eventually(emptied);
  await stores.tamper('DELETE FROM receipts');
  expect(await putOrphansAgain(stores.redis)).toBe(1);
  await eventually(async () => (await rowCount()) === 1);
  expect(await stores.db.receipt.findMany()).toMatchObject([{ id: closed.receipt.id }]);
  // A second time changes nothing.
  await putOrphansAgain(stores.redis);
  await eventually(emptied);
  expect(await rowCount()).toBe(1);
});

test('putting in again ends, although what is stored again is kept again as fast', async () => {
  const { redis } = stores;
  const some = Array.from({ length: 200 }, (_, n) => Buffer.from(`entry ${n}`));
  await keepOrphans(redis, some);
  let pages = 0;
  const reading = new Proxy(redis, {
    get: (target, name) =>
      name !== 'xrangeBuffer'
        ? Reflect.get(target, name, target)
        : async (key: string, from: string, to: string) => {
            pages += 1;
            if (pages > 5) throw new Error('it goes on for ever');
            await keepOrphans(redis, some);
            return target.xrangeBuffer(key, from, to, 'COUNT', 200);
          },
  });
  expect(await putOrphansAgain(reading)).toBe(200);
  expect(await redis.xlen(ledgerStream)).toBe(200);
});

test('holders that were cut off have one lease from the return of Redis', async () => {
  const entry = sealedEntry(pendingEntry(), 'pending');
  const id = receiptIdOf(entry) ?? '';
  let steadyMs = 0;
  const sweep = openSweeper(sweeper(), () => steadyMs);
  await stores.redis.set(receiptKey(id), entry);
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, id);
  steadyMs += pendingLeaseMs;
  await stores.stopRedis();
  await stores.startRedis();
  await eventually(async () => (await stores.redis.ping()) === 'PONG');
  await stores.redis.set(receiptKey(id), entry);
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, id);
  await sweep();
  expect(await stores.redis.xlen(ledgerStream)).toBe(0);
  steadyMs += pendingLeaseMs;
  await sweep();
  expect(await stores.redis.xlen(ledgerStream)).toBe(1);
});

test('a holder that finishes just as the sweeper closes its receipt wins', async () => {
  const pending = pendingEntry();
  const key = receiptKey(pending.receipt.id);
  const finished = '1-1';
  await stores.redis.set(key, sealedEntry(pending, 'pending'));
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, pending.receipt.id);
  const racing = new Proxy(stores.redis, {
    get: (redis, name) => {
      if (name !== 'eval') return Reflect.get(redis, name).bind(redis);
      return async (script: string, keys: number, ...rest: (string | Buffer)[]) => {
        await redis.set(key, finished);
        return redis.eval(script, keys, ...rest);
      };
    },
  });
  expect(await sweepPending({ ...sweeper(), redis: racing })).toBe(0);
  expect(await stores.redis.get(key)).toBe(finished);
  expect(await stores.redis.xlen(ledgerStream)).toBe(0);
});

test('a holder that is alive, or that has finished, keeps its receipt', async () => {
  const alive = pendingEntry();
  const finished = entryOf();
  await stores.redis.set(receiptKey(alive.receipt.id), sealedEntry(alive, 'pending'));
  await stores.redis.set(receiptKey(finished.receipt.id), '1-1');
  await stores.redis.zadd(pendingReceiptsKey, Date.now() + 60_000, alive.receipt.id);
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, finished.receipt.id);
  await stores.redis.zadd(pendingReceiptsKey, Date.now() - 1000, 'rcpt_gone');
  expect(await sweepPending(sweeper())).toBe(0);
  expect(await stores.redis.zrange(pendingReceiptsKey, '0', '-1')).toEqual([alive.receipt.id]);
  expect(await stores.redis.get(receiptKey(finished.receipt.id))).toBe('1-1');
  expect(await stores.redis.xlen(ledgerStream)).toBe(0);
});

test('whatever their sizes, rows are inserted in the order of their ids, so that two ingesters never wait in a ring', async () => {
  await stores.tamper(`
    CREATE TABLE insertions (n SERIAL, id TEXT);
    GRANT SELECT ON insertions TO PUBLIC;
    CREATE FUNCTION note_insertion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      'BEGIN INSERT INTO public.insertions (id) VALUES (NEW.id); RETURN NEW; END';
    CREATE TRIGGER note_insertion BEFORE INSERT ON receipts FOR EACH ROW EXECUTE FUNCTION note_insertion()`);
  for (let at = 0; at < 300; at += 1) await add({ ...entryOf(), facts: { note: 'x'.repeat((at * 997) % 3500) } });
  start('one');
  await eventually(emptied);
  const inserted = await stores.db.$queryRaw<{ id: string }[]>`SELECT id FROM insertions ORDER BY n`;
  await stores.tamper('DROP TRIGGER note_insertion ON receipts; DROP TABLE insertions');
  const ids = inserted.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort());
  expect(ids).toHaveLength(300);
});
