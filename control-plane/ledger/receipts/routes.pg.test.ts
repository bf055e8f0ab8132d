import { ledgerStream, receiptKey } from '@gw/contract/internal/redis';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import {
  entryOf,
  eventually,
  type OwnStores,
  receiptIdAt,
  startOwnStores,
  trace,
} from '@gw/testing/control-plane/fixtures';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { afterAll, beforeAll, expect, test } from 'vitest';

let stores: OwnStores;
let running: TestApp;
beforeAll(async () => {
  stores = await startOwnStores();
  running = await startTestApp(undefined, stores);
}, 120_000);
afterAll(() => running?.stop());

const account = (id: string) => ({ 'x-gw-account-id': id });

test('a receipt is read from Redis while Postgres does not have it, and 202 while it is pending', async () => {
  const [done, pending] = [entryOf(), entryOf({ tier: 'degraded' })];
  const { redis } = running.stores;
  await redis.set(receiptKey(done.receipt.id), String(await redis.xadd(ledgerStream, '*', 'entry', sealedEntry(done))));
  await redis.set(receiptKey(pending.receipt.id), sealedEntry(pending, 'pending'));
  const reply = await running.get(`/v1/gw/receipts/${done.receipt.id}`);
  expect([reply.statusCode, reply.body]).toEqual([200, JSON.stringify(done.receipt)]);
  const waiting = await running.get(`/v1/gw/receipts/${pending.receipt.id}`);
  expect([waiting.statusCode, waiting.json().status]).toEqual([202, 'pending']);
});

test('a receipt is read from Postgres in the very text, in its newest version or in the one asked for', async () => {
  const first = entryOf();
  const { id } = first.receipt;
  const second = entryOf({ id, version: 2, supersedes: 1, energy_wh: 0.30000000000000004 });
  await running.store(first, second);
  expect((await running.get(`/v1/gw/receipts/${id}`)).body).toBe(JSON.stringify(second.receipt));
  expect((await running.get(`/v1/gw/receipts/${id}?version=1`)).body).toBe(JSON.stringify(first.receipt));
  expect((await running.get(`/v1/gw/receipts/${id}?version=3`)).statusCode).toBe(404);
});

test('the routing trace of a receipt is read as it was stored, from Redis and from Postgres, and 202 while it is pending', async () => {
  const routingTrace = { ...trace, policy: 'pinned' as const, decision: 'The request pinned the region us-east.' };
  const [fresh, pending] = [entryOf({ pinned_region: 'us-east' }), entryOf()];
  for (const [entry, state] of [
    [fresh, 'made'],
    [pending, 'pending'],
  ] as const)
    await running.stores.redis.set(receiptKey(entry.receipt.id), sealedEntry({ ...entry, routingTrace }, state));
  const stored = { ...entryOf({ pinned_region: 'us-east' }), routingTrace };
  const without = { ...entryOf(), routingTrace: null };
  await running.store(stored, without);
  for (const { receipt } of [fresh, stored])
    expect((await running.get(`/v1/gw/receipts/${receipt.id}/routing`)).json()).toEqual({
      object: 'gw.receipt_routing',
      receipt_id: receipt.id,
      version: 1,
      pinned_region: 'us-east',
      routing_trace: routingTrace,
    });
  expect((await running.get(`/v1/gw/receipts/${without.receipt.id}/routing`)).json().routing_trace).toBeNull();
  expect((await running.get(`/v1/gw/receipts/${pending.receipt.id}/routing`)).statusCode).toBe(202);
  expect((await running.get(`/v1/gw/receipts/${receiptIdAt(new Date())}/routing`)).statusCode).toBe(404);
});

test('a copy of the first version in Redis does not hide a later one, and answers while Postgres is away', async () => {
  const first = entryOf();
  const { id } = first.receipt;
  const second = entryOf({ id, version: 2, supersedes: 1, carbon_g: 2 });
  await running.store(first, second);
  await running.stores.redis.set(receiptKey(id), sealedEntry(first));
  expect((await running.get(`/v1/gw/receipts/${id}`)).body).toBe(JSON.stringify(second.receipt));
  expect((await running.get(`/v1/gw/receipts/${id}?version=1`)).body).toBe(JSON.stringify(first.receipt));
  expect((await running.get(`/v1/gw/lineage/${id}`)).json().receipt_version).toBe(2);
  await stores.postgres.kill();
  expect((await running.get(`/v1/gw/receipts/${id}`)).body).toBe(JSON.stringify(first.receipt));
  await stores.postgres.start();
  await eventually(async () => (await running.stores.db.receipt.count()) > 0);
});

test("an unknown receipt, a malformed id and another account's receipt are the same 404", async () => {
  const inRedis = entryOf({}, 'acct_other');
  const inPostgres = entryOf({}, 'acct_other');
  await running.stores.redis.set(receiptKey(inRedis.receipt.id), sealedEntry(inRedis));
  await running.store(inPostgres);
  const ids = [inRedis.receipt.id, inPostgres.receipt.id, receiptIdAt(new Date()), 'rcpt_1', 'x%2Fy', "'--"];
  const replies = await Promise.all(ids.map((id) => running.get(`/v1/gw/receipts/${id}`)));
  for (const reply of replies) {
    expect(reply.statusCode).toBe(404);
    expect(reply.json().error).toMatchObject({ code: 'receipt_not_found', param: 'receipt_id' });
  }
  expect(new Set(replies.map((reply) => reply.body)).size).toBe(1);
});

test('the ledger pages through every receipt of the account once, in both orders, in its newest version', async () => {
  const owner = account('acct_pages');
  const at = Date.now() - 5000;
  // Several in the same millisecond, so that the id has to decide.
  const entries = Array.from({ length: 25 }, (_, i) =>
    entryOf({ id: receiptIdAt(new Date(at + Math.floor(i / 4))) }, 'acct_pages'),
  );
  await running.store(
    ...entries,
    entryOf({ ...entries[3]?.receipt, version: 2, supersedes: 1 }, 'acct_pages'),
    entryOf(),
  );
  const ids = entries.map((entry) => entry.receipt.id).sort();
  for (const order of ['asc', 'desc']) {
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 10; pages++) {
      const page = (await running.get(`/v1/gw/receipts?limit=7&order=${order}${after}`, owner)).json();
      seen.push(...page.data.map((receipt: { id: string }) => receipt.id));
      expect([page.first_id, page.last_id]).toEqual([page.data[0].id, page.data.at(-1).id]);
      if (!page.has_more) break;
      after = `&after=${page.last_id}`;
    }
    expect(seen).toEqual(order === 'asc' ? ids : [...ids].reverse());
  }
  const newest = (await running.get('/v1/gw/receipts?limit=100', owner)).json().data;
  expect(newest.find((receipt: { id: string }) => receipt.id === entries[3]?.receipt.id).version).toBe(2);
  const issued = (await running.get('/v1/gw/receipts?limit=100&version=issued', owner)).json().data;
  expect(issued.map(({ version }: { version: number }) => version)).toEqual(Array(25).fill(1));
});

test('the ledger can be narrowed to a model or a region, and an empty one is an empty list', async () => {
  const owner = account('acct_filter');
  const [a, b] = [entryOf({ model: 'm1' }, 'acct_filter'), entryOf({ region: 'r1' }, 'acct_filter')];
  await running.store(a, b);
  const idsOf = async (query: string) =>
    (await running.get(`/v1/gw/receipts?${query}`, owner)).json().data.map((receipt: { id: string }) => receipt.id);
  expect(await idsOf('model=m1')).toEqual([a.receipt.id]);
  expect(await idsOf('region=r1')).toEqual([b.receipt.id]);
  expect((await running.get('/v1/gw/receipts?model=m1&region=r1', owner)).json()).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test('a query parameter at fault is named, with its own code', async () => {
  const cases: [string, string][] = [
    ['/v1/gw/receipts?limit=0', 'limit'],
    ['/v1/gw/receipts?limit=101', 'limit'],
    ['/v1/gw/receipts?limit=x', 'limit'],
    ['/v1/gw/receipts?limit=1&limit=2', 'limit'],
    ['/v1/gw/receipts?order=up', 'order'],
    ['/v1/gw/receipts?after=1', 'after'],
    [`/v1/gw/receipts?after=rcpt_ffffffff-ffff-7fff-8fff-ffffffffffff`, 'after'],
    [`/v1/gw/receipts/${receiptIdAt(new Date())}?version=0`, 'version'],
    ['/v1/gw/receipts?version=2', 'version'],
    ['/v1/usage?version=newest', 'version'],
    ['/v1/usage?simulated=yes', 'simulated'],
    ['/v1/usage?from=yesterday', 'from'],
    ['/v1/usage?from=2026-02-02&to=2026-02-01', 'to'],
    ['/v1/usage?from=2020-02-02&to=2026-02-01', 'from'],
  ];
  for (const [url, param] of cases) {
    const reply = await running.get(url);
    expect([url, reply.statusCode]).toEqual([url, 400]);
    expect(reply.json().error).toMatchObject({ code: `invalid_${param}`, type: 'validation_error', param });
  }
});

test('the metrics say how many receipts and intervals wait, and how many versions were made', async () => {
  const { db } = running.stores;
  await db.recalculation.create({ data: { receiptId: 'r', createdAt: new Date() } });
  const lines = async () => (await running.operator.inject('/metrics')).body.split('\n');
  expect(await lines()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^gw_receipt_versions_total\{.*reason="recalculated".*\} 0$/),
      expect.stringMatching(/^gw_receipt_versions_waiting\{.*what="receipts".*\} 1$/),
      expect.stringMatching(/^gw_receipt_versions_waiting\{.*what="intervals".*\} 0$/),
      expect.stringMatching(/^gw_receipt_versions_waiting\{.*what="measurements".*\} 0$/),
    ]),
  );
});

test('without Redis receipts come from Postgres; one that is not there is then 503 and not 404', async () => {
  const entry = entryOf();
  await running.store(entry);
  await stores.stopRedis();
  expect((await running.get(`/v1/gw/receipts/${entry.receipt.id}`)).statusCode).toBe(200);
  expect((await running.get(`/v1/gw/receipts/${receiptIdAt(new Date())}`)).statusCode).toBe(503);
  expect((await running.operator.inject('/healthz')).json()).toMatchObject({ status: 'unavailable', redis: false });
  await stores.startRedis();
});
