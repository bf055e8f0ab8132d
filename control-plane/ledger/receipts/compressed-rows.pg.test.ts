/** Compressed rows, as they lie in Postgres: what readers get of them, and what becomes of one that somebody has altered. */
import { textDigest } from '@gw/contract/internal/ledger-entry';
import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, rowsOf, unattended } from '@gw/testing/control-plane/calls';
import { eventually, ledgerKeys, settleAnyAge, silentLog, testEntries } from '@gw/testing/control-plane/fixtures';
import {
  emptyLedger,
  estimate,
  heardBefore,
  nine,
  restate,
  secondLook,
  settles,
} from '@gw/testing/control-plane/restatements';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { sealedEntry } from '@gw/testing/ledger-entry';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkNewest } from '../integrity/check-receipts.ts';
import { openLedgerSeals } from '../integrity/open-seals.ts';
import { startIngester } from './ingest.ts';
import { replacedBodies } from './read-rows.ts';
import type { Seals } from './sealed-rows.ts';
import { refusalOf } from './store-batch.ts';

let running: TestApp;
let seals: Seals;
let owner: pg.Client;
const empty = (...names: string[]) => running.stores.empty(...names);
const tamper = (statement: string) => running.stores.tamper(statement);
beforeAll(async () => {
  running = await startTestApp();
  seals = another();
  await settleAnyAge(running.stores);
  owner = new pg.Client(running.stores.postgres.url);
  await owner.connect();
}, 120_000);
afterAll(async () => {
  await owner?.end();
  await running?.stop();
});
const tables = ['receipts', 'receipt_replacements', 'receipt_dictionaries', 'recalculations', 'integrity_faults'];
beforeEach(() => empty(...tables));

const at = '2026-11-21T09:10:00Z';
const callOf = (tokens: number, project: string | null = null): Entry => {
  const usage = { promptTokens: tokens, cachedPromptTokens: 0, completionTokens: tokens };
  const entry = entryFrom(callAt(at, { usage }), { changes: { project } });
  return { ...entry, routingTrace: { decision: 'the only one', estimated_saving_g: tokens / 7 } as never };
};
const store = (entries: readonly Entry[]) => storeEntries(running.stores.db, entries, seals);
/** Seals as another instance has them, which has compressed nothing yet. */
const another = () => openLedgerSeals({ db: running.stores.db, keys: ledgerKeys, log: silentLog });
const get = async (path: string, accountId = 'acct_demo_audit') => {
  const reply = await running.get(
    path,
    identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:read gw:lineage' }),
  );
  return { status: reply.statusCode, body: reply.json() };
};
const isCompressed = async ({ receipt }: Entry) => {
  const [row] = await rowsOf(running.stores.db, receipt.id);
  if (row === undefined) throw new Error('It is not there.');
  return row.compressed !== null;
};

test('receipts, lineages, lists and sums are read from compressed rows', async () => {
  const entries = [callOf(10), callOf(200, 'one'), callOf(3000, 'one')];
  await store(entries);
  expect(await Promise.all(entries.map(isCompressed))).toEqual([true, true, true]);
  const receipts = entries.map(({ receipt }) => receipt);
  for (const receipt of receipts) {
    expect((await get(`/v1/gw/receipts/${receipt.id}`)).body).toEqual(receipt);
    expect((await get(`/v1/gw/lineage/${receipt.id}`)).status).toBe(200);
  }
  const { data } = (await get('/v1/gw/receipts?project=one')).body;
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([receipts[1]?.id, receipts[2]?.id].sort());
  const usage = '/v1/usage?from=2026-11-21&to=2026-11-22&group_by=project,provider,grid_basis';
  expect((await get(usage)).body.data).toMatchObject([
    { project: 'one', provider: 'simulator', requests: 2, prompt_tokens: 3200 },
    { project: null, provider: 'simulator', requests: 1, prompt_tokens: 10, carbon_g: receipts[0]?.carbon_g },
  ]);
});

describe('a row that was compressed, of which the client was shown a degraded receipt', () => {
  const shownAfter = async (entry: Entry): Promise<Entry> => {
    await store([entry]);
    const shown = unattended(entry, { shown: true });
    await store([shown]);
    return shown;
  };

  test('has that one, and keeps its facts, its trace and what was compressed', async () => {
    const entry = callOf(10);
    await store([entry]);
    const [before] = await rowsOf(running.stores.db, entry.receipt.id);
    const shown = await shownAfter(entry);
    const [after] = await rowsOf(running.stores.db, entry.receipt.id);
    expect(after).toMatchObject({ shown: true, tier: 'degraded', energy_wh: null });
    expect(JSON.parse(after?.body ?? '')).toEqual(shown.receipt);
    for (const name of ['facts', 'routing_trace', 'compressed'] as const) expect(after?.[name]).toEqual(before?.[name]);
    expect(await seals.check(after === undefined ? [] : [after])).toEqual([null]);
    expect(await running.stores.db.recalculation.count()).toBe(1);
  });

  test('is kept as it was, and can be read', async () => {
    const entry = callOf(10);
    await shownAfter(entry);
    const bodies = await replacedBodies(running.stores.db, [entry.receipt.id]);
    expect([...bodies.values()].map((text) => JSON.parse(text ?? ''))).toEqual([entry.receipt]);
  });

  test.each([
    `jsonb_set(replaced::jsonb, '{shown}', '"maybe"')`,
    `jsonb_set(replaced::jsonb, '{compressed}', '"zz\\\\q"')`,
    `jsonb_set(replaced::jsonb, '{compressed}', '7')`,
    `(left(replaced::text, -1) || ',"odd":"\\u0000 \\ud800"}')::json`,
    `replaced::jsonb - 'body'`,
    `'[]'`,
  ])('that somebody altered to %s, once it is kept, holds up no other one', async (altered) => {
    const [entry, other] = [callOf(10), callOf(20)];
    for (const each of [entry, other]) await shownAfter(each);
    await tamper(`UPDATE receipt_replacements SET replaced = ${altered} WHERE receipt_id = '${entry.receipt.id}'`);
    const bodies = await replacedBodies(running.stores.db, [entry.receipt.id, other.receipt.id]);
    const found = [...bodies].find(([name]) => name.startsWith(other.receipt.id))?.[1];
    expect(JSON.parse(found ?? '')).toEqual(other.receipt);
  });

  /** As the owner, with the triggers on. */
  const becomesShown = async ({ receipt }: Entry, change: string): Promise<number | null> => {
    const shown = unattended({ ...callOf(10), receipt }, { shown: true }).receipt;
    const update = `UPDATE receipts SET shown = TRUE, tier = 'degraded', energy_wh = NULL, carbon_g = NULL, prompt_tokens = NULL,
      completion_tokens = NULL, region = NULL, body = $1 ${change} WHERE id = $2`;
    return (await owner.query(update, [JSON.stringify(shown), receipt.id])).rowCount;
  };

  test.each<[string, string, object?]>([
    ['other bytes', `, compressed = compressed || '\\x00'`],
    ['no bytes', ', compressed = NULL'],
    ['a saving that it had not', `, routing_trace = '{"estimated_saving_g":1}'`],
    ['no trace', ', routing_trace = NULL'],
    ['a trace', `, routing_trace = '{}'`, { decision: 'the only one' }],
    ['other facts', `, facts = '{}'`],
  ])('cannot get %s on the way, not even by the owner', async (_, change, routingTrace = {}) => {
    const call = callOf(10);
    const entry = Object.keys(routingTrace).length > 0 ? { ...call, routingTrace: routingTrace as never } : call;
    await store([entry]);
    await expect(becomesShown(entry, change)).rejects.toThrow('append-only');
    expect(await becomesShown(entry, '')).toBe(1);
  });
});

describe('a dictionary', () => {
  const dictionaries = () => running.stores.db.receiptDictionary.findMany({ orderBy: { firstSeenAt: 'asc' } });
  const faults = async () => {
    const { db } = running.stores;
    await empty('integrity_faults');
    await checkNewest({ db, log: silentLog, seals });
    return (await db.integrityFault.findMany()).map(({ fault, name }) => `${name} ${fault}`);
  };

  test('cannot be stored under another digest than its own, nor changed or taken out', async () => {
    await store([callOf(10)]);
    const { db } = running.stores;
    await expect(
      db.$executeRaw`INSERT INTO receipt_dictionaries (sha256, shape, content) VALUES (${'0'.repeat(64)}, '', '')`,
    ).rejects.toThrow('content_check');
    const endless = 'x'.repeat(96_001);
    await expect(
      db.$executeRaw`INSERT INTO receipt_dictionaries (sha256, shape, content) VALUES (${textDigest(endless)}, '', ${endless})`,
    ).rejects.toThrow('content_check');
    await expect(db.$executeRaw`UPDATE receipt_dictionaries SET content = ''`).rejects.toThrow('permission denied');
    await expect(db.$executeRaw`DELETE FROM receipt_dictionaries`).rejects.toThrow('permission denied');
    await expect(owner.query(`UPDATE receipt_dictionaries SET shape = ''`)).rejects.toThrow('append-only');
    await expect(owner.query('TRUNCATE receipt_dictionaries')).rejects.toThrow('append-only');
  });

  test('is stored with each batch that needs it, so that it comes back after an older backup', async () => {
    await store([callOf(10)]);
    await empty('receipts', 'receipt_dictionaries');
    const entry = callOf(20);
    await store([entry]);
    expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).body).toEqual(entry.receipt);
  });

  test('that is gone keeps an entry that the row needs, which is set aside until it is back', async () => {
    const entry = callOf(10);
    await storeEntries(running.stores.db, [entry], another());
    await empty('receipt_dictionaries');
    const refusal = await store([unattended(entry, { shown: true })]).then(
      () => null,
      (error: unknown) => refusalOf(error),
    );
    expect(refusal).toBe('its row cannot be read: no dictionary');
  });

  test('that was altered while an instance uses it is used no more, and its next batch has another one', async () => {
    const own = another();
    await storeEntries(running.stores.db, [callOf(10)], own);
    await tamper('ALTER TABLE receipt_dictionaries DROP CONSTRAINT IF EXISTS receipt_dictionaries_content_check');
    await tamper(`UPDATE receipt_dictionaries SET content = content || ' '`);
    const entry = callOf(20);
    await expect(storeEntries(running.stores.db, [entry], own)).rejects.toThrow('were altered in storage');
    await storeEntries(running.stores.db, [entry], own);
    expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).body).toEqual(entry.receipt);
  });

  test('that is gone holds up no other entry, and the one that needs it is taken in when it is back', async () => {
    const { db, redis } = running.stores;
    await redis.del(ledgerStream, deadLedgerStream);
    const [entry, other] = [callOf(10), callOf(20)];
    await storeEntries(db, [entry], another());
    const saved = await dictionaries();
    await empty('receipt_dictionaries');
    const shown = unattended(entry, { shown: true });
    for (const each of [shown, other]) await redis.xadd(ledgerStream, '*', 'entry', sealedEntry(each));
    const connection = running.stores.connect();
    const ingester = startIngester({
      db,
      redis: connection,
      log: silentLog,
      seals: another(),
      entries: testEntries,
      consumer: 'gone',
    });
    await eventually(async () => (await redis.xlen(deadLedgerStream)) === 1);
    expect(await isCompressed(other)).toBe(true);
    const [dead] = await redis.xrange(deadLedgerStream, '-', '+');
    expect(dead?.[1]).toContain('its row cannot be read: no dictionary');
    await db.receiptDictionary.createMany({ data: saved, skipDuplicates: true });
    await redis.xadd(ledgerStream, '*', 'entry', sealedEntry(shown));
    await eventually(async () => (await rowsOf(db, entry.receipt.id))[0]?.shown === true);
    await ingester.stop();
    await redis.del(deadLedgerStream);
    expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).body).toEqual(shown.receipt);
  });

  test('that is gone keeps the interval of the grid due whose value its receipts lack', async () => {
    const { stores } = running;
    await emptyLedger(stores);
    await heardBefore(stores);
    const entry = entryFrom(callAt(at, { grid: estimate(nine) }));
    await storeEntries(stores.db, [entry], another());
    const saved = await dictionaries();
    await empty('receipt_dictionaries');
    await settles(stores, nine, 60);
    await secondLook(stores);
    expect(await restate(stores.db)).toBe(0);
    expect(await stores.db.restatement.count()).toBe(1);
    await stores.db.receiptDictionary.createMany({ data: saved });
    // Once the claim is over.
    await tamper('UPDATE restatements SET claimed_until = NULL');
    expect(await restate(stores.db)).toBe(1);
    expect(await rowsOf(stores.db, entry.receipt.id)).toHaveLength(2);
    await emptyLedger(stores);
  });

  test('that was altered is not taken up by the next instance', async () => {
    await storeEntries(running.stores.db, [callOf(10)], another());
    await tamper('ALTER TABLE receipt_dictionaries DROP CONSTRAINT IF EXISTS receipt_dictionaries_content_check');
    await tamper(`UPDATE receipt_dictionaries SET content = content || ' '`);
    const next = another();
    await next.compressor?.learn(running.stores.db);
    const entry = callOf(20);
    await storeEntries(running.stores.db, [entry], next);
    expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).body).toEqual(entry.receipt);
  });

  test('is looked for again where Postgres was away at the start', async () => {
    await storeEntries(running.stores.db, [callOf(10)], another());
    const next = another();
    const away = { $queryRaw: () => Promise.reject(new Error('away')) } as never;
    await expect(next.compressor?.learn(away)).rejects.toThrow('away');
    await next.compressor?.learn(running.stores.db);
    await storeEntries(running.stores.db, [callOf(20)], next);
    expect(await dictionaries()).toHaveLength(1);
  });

  test('of another instance is taken up before the first batch', async () => {
    await storeEntries(running.stores.db, [callOf(10)], another());
    const { db, redis } = running.stores;
    const entry = callOf(20);
    await redis.xadd(ledgerStream, '*', 'entry', sealedEntry(entry));
    const own = running.stores.connect();
    const ingester = startIngester({
      db,
      redis: own,
      log: silentLog,
      seals: another(),
      entries: testEntries,
      consumer: 'next',
    });
    await eventually(async () => (await rowsOf(db, entry.receipt.id)).length === 1);
    await ingester.stop();
    expect(await isCompressed(entry)).toBe(true);
    expect(await dictionaries()).toHaveLength(1);
  });

  test('of another instance is used for a month', async () => {
    await storeEntries(running.stores.db, [callOf(10)], another());
    const next = another();
    await next.compressor?.learn(running.stores.db);
    await storeEntries(running.stores.db, [callOf(20)], next);
    expect(await dictionaries()).toHaveLength(1);
    await tamper(`UPDATE receipt_dictionaries SET first_seen_at = now() - INTERVAL '31 days'`);
    const later = another();
    await later.compressor?.learn(running.stores.db);
    await storeEntries(running.stores.db, [callOf(30)], later);
    expect(await dictionaries()).toHaveLength(2);
  });

  test.each([
    ['gone', 'DELETE FROM receipt_dictionaries'],
    ['altered', `UPDATE receipt_dictionaries SET content = content || ' '`],
  ])('that is %s is told of each receipt that needs it, and no other one; a backup mends it', async (_, change) => {
    const [entry, other] = [callOf(10), unattended(callOf(20), { shown: false })];
    await storeEntries(running.stores.db, [entry], another());
    await store([other]);
    const saved = await dictionaries();
    await tamper('ALTER TABLE receipt_dictionaries DROP CONSTRAINT IF EXISTS receipt_dictionaries_content_check');
    await tamper(change);
    expect(await faults()).toEqual([`${entry.receipt.id} no dictionary`]);
    // Nobody could say whether what is summed of it is what was stored.
    expect((await get('/v1/usage?from=2026-11-21&to=2026-11-22')).body.data).toMatchObject([{ requests: 1 }]);
    expect(await get(`/v1/gw/receipts/${entry.receipt.id}`)).toMatchObject({
      status: 500,
      body: { error: { code: 'receipt_integrity_failed' } },
    });
    expect((await get(`/v1/gw/receipts/${other.receipt.id}`)).body).toEqual(other.receipt);
    await empty('receipt_dictionaries');
    await running.stores.db.receiptDictionary.createMany({ data: saved });
    expect(await faults()).toEqual([]);
    expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).body).toEqual(entry.receipt);
  });
});

test.each([
  ['what is read by SQL of the receipt', `body = '{"grid_zone":"FRA"}'`],
  ['a receipt in its place', `body = (SELECT body FROM receipts ORDER BY id DESC LIMIT 1)`],
  ['what is read by SQL of the facts', `facts = '{}'`],
  ['what was compressed', `compressed = set_byte(compressed, 60, 255 - get_byte(compressed, 60))`],
  ['the bytes of another one', 'compressed = (SELECT compressed FROM receipts ORDER BY id DESC LIMIT 1)'],
  ['bytes that are none', `compressed = '\\x00'`],
])('%s that somebody altered is found, and holds up no other row', async (_, change) => {
  const [entry, other] = [callOf(10), callOf(20)].toSorted((a, b) => (a.receipt.id < b.receipt.id ? -1 : 1));
  if (entry === undefined || other === undefined) throw new Error('There are two.');
  await store([entry, other]);
  await tamper(`UPDATE receipts SET ${change} WHERE id = '${entry.receipt.id}'`);
  const rows = await rowsOf(running.stores.db);
  expect(await seals.check(rows)).toEqual([expect.stringMatching(/^(altered|no dictionary)$/), null]);
});
