/** Long packs over two instances, and over a Redis that goes and comes back empty. */
import { mostReceipts, type PackJob } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import {
  addresses,
  type StoresWithOwnRedis,
  silentLog,
  startStoresWithOwnRedis,
  testSeals,
} from '@gw/testing/control-plane/fixtures';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { RepeatedJob } from '../../shared/repeat.ts';
import { startEvidenceJobs } from './builds/jobs.ts';

const key = signingKeyOf('e1'.repeat(32));
const begin = Date.parse('2026-11-20T10:00:00.000Z');
const day = { from: '2026-11-20', to: '2026-11-21' };
const path = '/v1/gw/evidence-pack';
const count = mostReceipts.plain + 1;
const accountId = 'acct_two';

let stores: StoresWithOwnRedis;
let one: TestApp;
let other: TestApp;
let job: RepeatedJob | null = null;
beforeAll(async () => {
  stores = await startStoresWithOwnRedis();
  const now = () => new Date('2026-11-21T12:00:00Z');
  // The stores are stopped once, at the end.
  const on = { ...stores, stop: async () => {} };
  [one, other] = [await startTestApp(now, on), await startTestApp(now, on)];
  const receipts = Array.from({ length: count }, (_, n) =>
    entryFrom(callAt(new Date(begin + n).toISOString()), { accountId }),
  );
  await one.store(...receipts);
}, 120_000);
afterEach(async () => {
  await job?.stop();
  job = null;
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
  await stores?.stop();
});

/** An instance that builds one pack at a time. */
function build(seals = testSeals): void {
  const { db, objects, redisUrl } = stores;
  const limits = { quotaBytes: 1e9 };
  job = startEvidenceJobs({
    db,
    objects,
    redisUrl,
    addresses,
    log: silentLog,
    seals,
    key,
    limits,
    concurrency: 1,
    tendEveryMs: 50,
  });
}

const headersOf = (more: Record<string, string> = {}) =>
  identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:read gw:export', ...more });
const read = (app: TestApp, id: string, more: Record<string, string> = {}) =>
  app.app.inject({ url: `${path}/${id}`, headers: headersOf(more) });
const stateOf = async (id: string): Promise<PackJob> => (await read(other, id, { accept: 'application/json' })).json();
const until = (id: string, state: PackJob['state']) =>
  vi.waitFor(async () => expect((await stateOf(id)).state).toBe(state), { timeout: 60_000, interval: 50 });

async function entered(): Promise<string> {
  const reply = await one.app.inject({ method: 'POST', url: path, headers: headersOf(), payload: day });
  expect(reply.statusCode, reply.body).toBe(202);
  return reply.json().id;
}

async function expectWhole(id: string): Promise<void> {
  await until(id, 'ready');
  const { rawPayload } = await read(other, id);
  const bytes = (async function* () {
    yield rawPayload;
  })();
  const trust = { thumbprint: key.publicJwk.kid };
  expect(await verifyPack(bytes, { trust })).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    receipts: count,
  });
}

test('what one instance was asked for another one tells of, and both serve the same bytes, in parts too', async () => {
  const id = await entered();
  expect((await stateOf(id)).state).toBe('queued');
  build();
  await expectWhole(id);
  const [whole, same] = [await read(one, id), await read(other, id)];
  expect(same.headers.etag).toBe(whole.headers.etag);
  expect(same.rawPayload.equals(whole.rawPayload)).toBe(true);
  const half = Math.floor(whole.rawPayload.length / 2);
  const ifRange = { 'if-range': String(whole.headers.etag) };
  const [begins, ends] = [
    await read(one, id, { range: `bytes=0-${half - 1}`, ...ifRange }),
    await read(other, id, { range: `bytes=${half}-`, ...ifRange }),
  ];
  expect([begins.statusCode, ends.statusCode]).toEqual([206, 206]);
  expect(Buffer.concat([begins.rawPayload, ends.rawPayload]).equals(whole.rawPayload)).toBe(true);
});

test('packs that are asked for while Redis is away wait, and are built when it is back', async () => {
  build();
  await stores.stopRedis();
  const ids = [await entered(), await entered()];
  for (const id of ids) expect((await stateOf(id)).state).toBe('queued');
  await stores.startRedis();
  for (const id of ids) await expectWhole(id);
}, 120_000);

test('a Redis that is emptied takes nobody’s place: what is built goes on, and what waits is built behind it', async () => {
  const ids = [await entered(), await entered()];
  let goOn = (): void => {};
  const emptied = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  build({
    ...testSeals,
    check: async (...args: Parameters<typeof testSeals.check>) => {
      await emptied;
      return testSeals.check(...args);
    },
  });
  const states = () => Promise.all(ids.map(async (id) => (await stateOf(id)).state));
  await vi.waitFor(async () => expect((await states()).toSorted()).toEqual(['building', 'queued']), 30_000);
  await stores.redis.flushall();
  goOn();
  for (const id of ids) await expectWhole(id);
  const rows = await stores.db.evidencePack.findMany({ where: { id: { in: ids } }, select: { try: true } });
  expect(rows).toEqual([{ try: 1 }, { try: 1 }]);
}, 120_000);
