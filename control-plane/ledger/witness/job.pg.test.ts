/** The two witnesses on real stores: what nobody made, and what was taken out, is named by its minute; nothing else is. */
import { minuteMs } from '@gw/contract/internal/durations';
import { ledgerStream, pendingReceiptsKey } from '@gw/contract/internal/redis';
import { statementCode } from '@gw/contract/internal/witness';
import { entryOf, receiptIdAt, type Stores, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gapsAround, type Minute } from './compare.ts';
import { compareWitnesses } from './job.ts';

const key = Buffer.alloc(32, 9);
const keys = { current: key, previous: null };
const account = 'acct_demo_audit';
let stores: Stores;
/** Long over, and long after the witness began. */
let minute: Date;

beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(async () => {
  minute = new Date((Math.floor(Date.now() / minuteMs) - 5) * minuteMs);
  await stores.empty(
    ...['receipts', 'integrity_faults', 'call_counts', 'call_count_changes'],
    ...['witness_statements', 'witness_lives', 'witness_gaps'],
  );
  await stores.redis.del(pendingReceiptsKey, ledgerStream);
  await state('one', 1, { agoS: 3600 });
});

interface Said {
  readonly calls?: number;
  readonly unsure?: readonly (readonly [number, number])[];
  readonly isLast?: boolean;
  readonly agoS?: number;
}

/** States calls of the one minute, as ext-authz does. */
async function state(life: string, seq: number, { agoS = 0, calls = 0, isLast = false, unsure = [] }: Said) {
  const counted = calls === 0 ? [] : [[minute.getTime() / minuteMs, account, calls]];
  const statement = JSON.stringify({ calls: counted, unsure, isLast });
  const code = statementCode(key, { life, seq }, statement);
  await stores.db.$executeRaw`
    INSERT INTO witness_statements (life, seq, statement, code) VALUES (${life}, ${seq}, ${statement}, ${code})`;
  if (agoS !== 0)
    await stores.tamper(`
      UPDATE witness_statements SET stated_at = stated_at - INTERVAL '${agoS} seconds' WHERE life = '${life}' AND seq = ${seq}`);
}
/** Stores a receipt, as the ledger does. */
async function store(atS: number, changes: Parameters<typeof entryOf>[0] = {}): Promise<string> {
  const id = receiptIdAt(new Date(minute.getTime() + atS * 1000));
  await storeEntries(stores.db, [entryOf({ id, ...changes }, account)], stores.seals);
  return id;
}
const round = (aheadMs = 0) => {
  const { db, redis } = stores;
  return compareWitnesses({ db, redis, log: silentLog, keys, aheadMs });
};
/** A difference has to last. */
async function rounds(): Promise<void> {
  for (const aheadMs of [0, 20_000, 60_000]) await round(aheadMs);
}
const faults = async () =>
  (await stores.db.integrityFault.findMany({ where: { mendedAt: null }, orderBy: { number: 'asc' } })).map(
    ({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`,
  );
const counts = async () => {
  const rows = await stores.db.callCount.findMany();
  return rows.map(({ calls, receipts, verdict }) => ({ calls, receipts, verdict }));
};
const named = (receipts: number, measured: number, calls: number): string =>
  `minute ${account} ${minute.getTime() / minuteMs} ${minute.toISOString()}: ${receipts} receipts, ${measured} of them with numbers, and ${calls} calls`;

test('as many receipts as calls, in whatever order they come, are no fault', async () => {
  await store(1);
  await store(59);
  await round();
  await state('one', 2, { calls: 1 });
  await state('two', 1, { calls: 1 });
  await rounds();
  expect(await faults()).toEqual([]);
  expect(await counts()).toEqual([{ calls: 2, receipts: 2, verdict: 'agrees' }]);
});

test('a receipt that nobody made is named by its minute and both counts, and one that was taken out again is mended', async () => {
  await state('one', 2, { calls: 2 });
  await store(1);
  await store(2);
  await rounds();
  expect(await faults()).toEqual([]);
  const forged = await store(3);
  await rounds();
  expect(await faults()).toEqual([named(3, 3, 2)]);
  await stores.tamper(`DELETE FROM receipts WHERE id = '${forged}'`);
  await round(120_000);
  expect(await faults()).toEqual([]);
  expect(await counts()).toEqual([{ calls: 2, receipts: 2, verdict: 'agrees' }]);
});

test('where the clock of the database was set back, each statement is added once, in its order', async () => {
  await state('one', 2, { agoS: -7200 });
  await round();
  await store(1);
  await state('one', 3, { agoS: -7190 });
  await state('one', 4, { calls: 1 });
  await round();
  await store(2);
  await state('one', 5, { calls: 1 });
  await rounds();
  expect(await faults()).toEqual([]);
  expect(await counts()).toEqual([{ calls: 2, receipts: 2, verdict: 'agrees' }]);
});

test('a minute is judged when each ext-authz that is alive has spoken after its end, and not before', async () => {
  minute = new Date(Math.floor(Date.now() / minuteMs) * minuteMs);
  await state('two', 1, { agoS: 12 });
  await state('one', 2, {});
  await store(1);
  // The minute has been over for 13 s, and the second one last spoke a second after its end.
  const aheadMs = minute.getTime() + minuteMs + 13_000 - Date.now();
  await round(aheadMs);
  expect(await counts()).toEqual([{ calls: 0, receipts: null, verdict: null }]);
  await state('two', 2, { calls: 1 });
  await round(aheadMs + 5000);
  expect(await counts()).toEqual([{ calls: 1, receipts: 1, verdict: 'agrees' }]);
});

test('a receipt that was taken out is named, and the fault is mended when it comes after all', async () => {
  await state('one', 2, { calls: 2 });
  await store(1);
  const gone = await store(2);
  await stores.tamper(`DELETE FROM receipts WHERE id = '${gone}'`);
  await rounds();
  expect(await faults()).toEqual([named(1, 1, 2)]);
  await store(2);
  await round();
  expect(await faults()).toEqual([]);
});

test('a receipt of a minute that was compared long ago is named as well', async () => {
  await state('one', 2, { calls: 1 });
  await store(1);
  await rounds();
  await stores.tamper(`UPDATE call_counts SET due_at = NULL`);
  await store(2);
  await rounds();
  expect(await faults()).toEqual([named(2, 2, 1)]);
});

test('a receipt of an account that does not exist is named, too', async () => {
  await state('one', 2, {});
  const id = receiptIdAt(minute);
  await storeEntries(stores.db, [entryOf({ id }, 'acct_nobody')], stores.seals);
  await rounds();
  expect(await faults()).toHaveLength(1);
});

test('a call whose client left while it went out has a receipt without numbers, and may have no other witness', async () => {
  await state('one', 2, { calls: 1 });
  await store(1);
  await store(2, { status: 'client_aborted', tier: 'degraded', energy_wh: null, carbon_g: null });
  await rounds();
  expect(await faults()).toEqual([]);
});

test('a new version of a receipt is no call', async () => {
  await state('one', 2, { calls: 1 });
  const id = await store(1);
  await store(1, { id, version: 2, supersedes: 1 });
  await rounds();
  expect(await counts()).toEqual([{ calls: 1, receipts: 1, verdict: 'agrees' }]);
});

describe('a receipt that may still come', () => {
  test('of a call that is pending is not missing yet', async () => {
    await state('one', 2, { calls: 1 });
    minute = new Date(minute.getTime() + 4 * minuteMs);
    await state('one', 3, { calls: 1 });
    await stores.redis.zadd(pendingReceiptsKey, Date.now() + 30_000, receiptIdAt(new Date(minute.getTime() + 1000)));
    for (const aheadMs of [12_000, 32_000, 55_000]) await round(aheadMs);
    // The minute before is not excused by it.
    expect(await faults()).toHaveLength(1);
  });

  test('of a ledger that lags behind is not missing yet', async () => {
    await state('one', 2, { calls: 1 });
    await stores.redis.xadd(ledgerStream, '1-1', 'entry', '{}');
    await rounds();
    expect(await faults()).toEqual([]);
    await stores.redis.del(ledgerStream);
    await round(120_000);
    expect(await faults()).toEqual([named(0, 0, 1)]);
  });
});

describe('nobody counted', () => {
  test('while the last ext-authz was dead: that is shown, and is no fault', async () => {
    await stores.empty('witness_statements');
    await state('one', 1, { agoS: 3600 });
    await state('one', 2, { agoS: 310 });
    await store(1);
    await rounds();
    await state('two', 1, {});
    await round(90_000);
    expect(await faults()).toEqual([]);
    expect(await counts()).toEqual([{ calls: 0, receipts: 1, verdict: 'not_witnessed' }]);
    const [gap] = await stores.db.witnessGap.findMany();
    expect(gap?.toAt).not.toBeNull();
  });

  test('is kept for 90 days, and a difference for good', async () => {
    const planted: readonly (readonly [account: string, days: number, verdict: string])[] = [
      ['old', 91, 'not_witnessed'],
      ['kept', 89, 'not_witnessed'],
      ['differs', 91, 'extra'],
    ];
    for (const [accountId, days, verdict] of planted)
      await stores.db.callCount.create({
        data: {
          accountId,
          verdict,
          minute: new Date(minute.getTime() - days * 86_400_000),
          receipts: 1,
          calls: 0,
          dueAt: null,
        },
      });
    await round();
    const kept = await stores.db.callCount.findMany({ orderBy: { accountId: 'asc' } });
    expect(kept.map(({ accountId }) => accountId)).toEqual(['differs', 'kept']);
  });

  test('where an ext-authz says that it may have lost calls', async () => {
    await store(1);
    const ageMs = Date.now() - minute.getTime();
    await state('one', 2, { unsure: [[ageMs, ageMs - 20_000]] });
    await rounds();
    expect(await counts()).toEqual([{ calls: 0, receipts: 1, verdict: 'not_witnessed' }]);
  });

  test('a round reads the gaps that matter to what it compares, and no others', async () => {
    const gap = (life: string, fromS: number, toS: number | null) => {
      const [from, to] = [fromS, toS].map((s) => (s === null ? null : new Date(minute.getTime() + s * 1000)));
      return stores.db
        .$executeRaw`INSERT INTO witness_gaps (life, from_at, to_at, is_end) VALUES (${life}, ${from}, ${to}, FALSE)`;
    };
    await gap('long before', -900, -61);
    await gap('just before', -900, -60);
    await gap('open', -900, null);
    await gap('behind', 3659, 3700);
    await gap('long behind', 3660, 3700);
    const row = {
      minute,
      account_id: account,
      calls: 1,
      receipts: 2,
      measured: 2,
      whole: 1,
      verdict: null,
      differs_at: null,
    };
    const read = (rows: readonly Minute[]) => gapsAround(stores.db, rows);
    const froms = async (rows: readonly Minute[]) =>
      (await read(rows)).map(({ from_at }) => (from_at.getTime() - minute.getTime()) / 1000).sort((a, b) => a - b);
    expect(await froms([row])).toEqual([-900, -900, 3659]);
    expect(
      await froms([
        { ...row, calls: 2 },
        { ...row, calls: 3 },
      ]),
    ).toEqual([]);
    expect(await froms([])).toEqual([]);
  });

  test('a life that is silent for a while and speaks again leaves no gap', async () => {
    await state('one', 2, { agoS: 100 });
    await round();
    expect(await stores.db.witnessGap.count()).toBe(1);
    await state('one', 3, { calls: 1 });
    await store(1);
    await rounds();
    expect(await stores.db.witnessGap.count()).toBe(0);
    expect(await counts()).toEqual([{ calls: 1, receipts: 1, verdict: 'agrees' }]);
  });

  test('two of which one ends in order leave a gap of seconds', async () => {
    await state('two', 1, { agoS: 3000 });
    await state('two', 2, { agoS: 60, isLast: true });
    await state('one', 2, {});
    await round();
    const [gap] = await stores.db.witnessGap.findMany();
    const lengthMs = (gap?.toAt?.getTime() ?? 0) - (gap?.fromAt.getTime() ?? 0);
    expect(lengthMs).toBeGreaterThan(0);
    expect(lengthMs).toBeLessThan(30_000);
  });
});

describe('what ext-authz states', () => {
  test.each([
    [
      'altered',
      `UPDATE witness_statements SET statement = replace(statement, ',2]', ',1]') WHERE seq = 2`,
      2,
      'altered',
    ],
    ['moved', `UPDATE witness_statements SET seq = 7 WHERE seq = 2`, 2, 'missing'],
    ['signed by another', `UPDATE witness_statements SET code = repeat('0', 64) WHERE seq = 2`, 2, 'altered'],
    ['taken out', `DELETE FROM witness_statements WHERE seq = 2`, 2, 'missing'],
  ])('is a fault if it was %s, and counts for nothing', async (_, tampering, number, what) => {
    await round();
    await state('one', 2, { calls: 2 });
    await state('one', 3, {});
    await stores.tamper(tampering);
    await round();
    const found = await faults();
    expect(found[0]).toContain(`minute witness one ${number} a statement about counted calls`);
    expect(found[0]).toContain(what);
    expect(await counts()).toEqual([]);
  });

  test('is changed and removed by nobody with the rights of the services', async () => {
    const { ledger: db } = stores.databases;
    await expect(db.$executeRaw`UPDATE witness_statements SET statement = '{}'`).rejects.toThrow(/permission denied/);
    await expect(db.$executeRaw`DELETE FROM witness_statements`).rejects.toThrow(/append-only/);
    await expect(
      db.$executeRaw`INSERT INTO witness_statements (life, seq, stated_at, statement, code) VALUES ('x', 1, now(), '{}', '')`,
    ).rejects.toThrow(/permission denied/);
  });
});

test('two instances that compare at once count each statement once', async () => {
  await state('one', 2, { calls: 3 });
  await Promise.all([round(), round(), round()]);
  await round();
  expect((await counts())[0]?.calls).toBe(3);
});
