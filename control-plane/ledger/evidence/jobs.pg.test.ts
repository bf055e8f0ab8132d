/** Packs of many receipts: built by a job, followed, read in parts, given up, and taken up again where a builder has died. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mostReceipts, type PackJob } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import { verifyPack } from '@gw/evidence/verify';
import { cases } from '@gw/testing/cases';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, silentLog, testSeals } from '@gw/testing/control-plane/fixtures';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import jsonld from 'jsonld';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { RepeatedJob } from '../../shared/repeat.ts';
import { appendReceipts } from '../log/append.ts';
import { type EvidenceJobsOptions, startEvidenceJobs } from './builds/jobs.ts';
import { removeEnded } from './chunks.ts';
import { expirePacks } from './packs.ts';

let running: TestApp;
/** An account with one receipt more than a reply holds. */
const justLong = 'acct_just_long';
const objectsDir = mkdtempSync(join(tmpdir(), 'gw-packs-'));
const seed = 'e1'.repeat(32);
const key = signingKeyOf(seed);
const begin = Date.parse('2026-11-20T10:00:00.000Z');
const at = (ms: number) => new Date(begin + ms).toISOString();
const day = { from: '2026-11-20', to: '2026-11-21' };
const scopes = 'gw:read gw:lineage gw:export';

const jobs: RepeatedJob[] = [];
const children: ChildProcess[] = [];
beforeAll(async () => {
  running = await startTestApp(() => new Date('2026-11-21T12:00:00Z'), undefined, { GW_OBJECTS_DIR: objectsDir });
  await running.store(...entriesOf(justLong, mostReceipts.plain + 1));
}, 120_000);
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(jobs.splice(0).map((job) => job.stop()));
  await running.stores.tamper(`UPDATE evidence_packs SET state = 'cancelled'`);
  await expire();
  await running.stores.empty('evidence_packs');
});
afterAll(async () => {
  await running?.stop();
  rmSync(objectsDir, { recursive: true, force: true });
});

/** As the job does each minute. Returns how many packs expired. */
async function expire(): Promise<number> {
  const expired = await expirePacks(running.stores.db);
  await removeEnded(running.stores.db, running.context.objects);
  return expired;
}
/** The tries of packs that have objects. */
const tries = () =>
  readdirSync(objectsDir).flatMap((name) => (name === 'packs' ? readdirSync(join(objectsDir, name)) : []));

/** An instance that builds. */
function build(changes: Partial<EvidenceJobsOptions> = {}): void {
  const { db, redisUrl } = running.stores;
  const limits = { quotaBytes: 1e9 };
  const { objects } = running.context;
  const options = { db, objects, redisUrl, addresses, log: silentLog, seals: testSeals, key, limits, concurrency: 1 };
  jobs.push(startEvidenceJobs({ ...options, tendEveryMs: 50, ...changes }));
}

const owner = (accountId: string) => identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': scopes });
const path = '/v1/gw/evidence-pack';
const ask = (accountId: string, payload: object) =>
  running.app.inject({ method: 'POST', url: path, headers: owner(accountId), payload });
const read = (accountId: string, id: string, headers: Record<string, string> = {}) =>
  running.app.inject({ url: `${path}/${id}`, headers: { ...owner(accountId), ...headers } });
const asJson = { accept: 'application/json' };
const stateOf = async (accountId: string, id: string): Promise<PackJob> => (await read(accountId, id, asJson)).json();

async function entered(accountId: string, payload: object): Promise<string> {
  const reply = await ask(accountId, payload);
  expect(reply.statusCode, reply.body).toBe(202);
  const job: PackJob = reply.json();
  expect(reply.headers.location).toBe(`${path}/${job.id}`);
  expect(job).toMatchObject({ state: 'queued', receipts_done: 0, bytes: null });
  return job.id;
}

const until = (accountId: string, id: string, state: PackJob['state']): Promise<PackJob> =>
  vi.waitFor(
    async () => {
      const job = await stateOf(accountId, id);
      expect(job.state, job.reason ?? '').toBe(state);
      return job;
    },
    { timeout: 60_000, interval: 50 },
  );

async function packOf(accountId: string, id: string): Promise<string> {
  await until(accountId, id, 'ready');
  const reply = await read(accountId, id);
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'application/ld+json; charset=utf-8']);
  return reply.body;
}
const verified = (text: string, earlier?: unknown) =>
  verifyPack(bytesOf(text), { trust: { thumbprint: key.publicJwk.kid }, earlier });

const entriesOf = (accountId: string, count: number, firstMs = 0): Entry[] =>
  Array.from({ length: count }, (_, n) => entryFrom(callAt(at(firstMs + Math.floor(n / 3))), { accountId }));
const idsOf = (text: string): string[] =>
  JSON.parse(text).receipts.map(({ receipt_id }: { receipt_id: string }) => receipt_id);
const sortedIds = (entries: readonly Entry[]): string[] =>
  entries
    .toSorted((a, b) =>
      a.receipt.created_at < b.receipt.created_at
        ? -1
        : a.receipt.created_at > b.receipt.created_at
          ? 1
          : a.receipt.id < b.receipt.id
            ? -1
            : 1,
    )
    .map(({ receipt }) => receipt.id);

test('a pack of more receipts than a reply holds is built by a job: the range, the account’s own, and it verifies', async () => {
  const accountId = 'acct_long';
  const own = entriesOf(accountId, mostReceipts.plain + 400);
  const outside = [
    entryFrom(callAt('2026-11-19T23:59:59.999Z'), { accountId }),
    entryFrom(callAt('2026-11-21'), { accountId }),
  ];
  const first = entryFrom(callAt('2026-11-20'), { accountId });
  const foreign = entriesOf('acct_other', 20);
  await running.store(...own, ...outside, first, ...foreign);
  await logAll();
  const id = await entered(accountId, day);
  build();
  const text = await packOf(accountId, id);
  expect(idsOf(text)).toEqual([first.receipt.id, ...sortedIds(own)]);
  expect(await verified(text)).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    receipts: own.length + 1,
    log: { proven: own.length + 1 },
  });
  // Behind parse and stringify, and after the key was exchanged.
  const keys = [signingKeyOf('02'.repeat(32)).publicJwk.x, key.publicJwk.x].map(publicJwkOf);
  expect(await verifyPack(bytesOf(JSON.stringify(JSON.parse(text))), { trust: { keys } })).toMatchObject({
    signature: 'trusted',
    mismatches: [],
  });
  const documentLoader = (url: string): never => {
    throw new Error(`${url} was asked for.`);
  };
  const document = JSON.parse(text);
  document.receipts.splice(cases(own.length + 1, 100));
  const [node] = await jsonld.expand(document, { safe: true, documentLoader } as jsonld.Options.Expand);
  expect(node?.['http://purl.org/dc/terms/hasPart']).toHaveLength(cases(own.length + 1, 100));
  const job = await stateOf(accountId, id);
  expect(job).toMatchObject({ receipts_done: own.length + 1, bytes: Buffer.byteLength(text) });
  // Another account does not even learn that the pack exists.
  expect((await read('acct_other', id)).statusCode).toBe(404);
});

test('receipts that come while it is built make neither duplicates nor holes, and lineages are recomputed', async () => {
  const accountId = 'acct_growing';
  const before = entriesOf(accountId, mostReceipts.withLineage + cases(150, 50));
  await running.store(...before);
  const id = await entered(accountId, { ...day, include_lineage: true });
  let comes = 0;
  const seals = {
    ...testSeals,
    // With each window that is read, some come in front of it, and some behind.
    check: async (...args: Parameters<typeof testSeals.check>) => {
      comes += 1;
      if (comes < 6)
        await running.store(...entriesOf(accountId, 5, -1000 * comes), ...entriesOf(accountId, 5, 3_600_000 * comes));
      return testSeals.check(...args);
    },
  };
  build({ seals });
  const text = await packOf(accountId, id);
  const ids = idsOf(text);
  expect(comes).toBeGreaterThan(3);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(sortedIds(before)));
  expect(await verified(text)).toMatchObject({ signature: 'trusted', mismatches: [], recomputed: ids.length });
});

/** Puts all that is stored into the logs. */
const logAll = () =>
  appendReceipts({
    addresses,
    db: running.stores.db,
    now: () => new Date('2026-11-21T12:00:00Z'),
    key,
    seals: testSeals,
  });

test('a receipt that was taken out of the database is named in a long pack too', async () => {
  const accountId = 'acct_taken';
  const own = entriesOf(accountId, mostReceipts.plain + 50);
  await running.store(...own);
  await logAll();
  const [gone, changed] = [own[40] as Entry, own[900] as Entry];
  await running.stores.tamper(`DELETE FROM receipts WHERE id = '${gone.receipt.id}'`);
  await running.stores.tamper(`UPDATE receipts SET energy_wh = 7 WHERE id = '${changed.receipt.id}'`);
  const id = await entered(accountId, day);
  build();
  const { mismatches, signature } = await verified(await packOf(accountId, id));
  expect(signature).toBe('trusted');
  expect(mismatches.map(({ receipt }) => receipt).sort()).toEqual(
    [gone, changed].map(({ receipt }) => `urn:gw:receipt:${receipt.id}:1`).sort(),
  );
});

test('parts of a finished pack can be asked for, as HTTP has it', async () => {
  const accountId = justLong;
  const id = await entered(accountId, day);
  build();
  const text = Buffer.from(await packOf(accountId, id));
  const part = async (headers: Record<string, string>) => {
    const { headers: got, rawPayload, statusCode } = await read(accountId, id, headers);
    return {
      status: statusCode,
      bytes: rawPayload,
      range: got['content-range'],
      length: got['content-length'],
      etag: got.etag,
    };
  };
  const { etag = '' } = await part({});
  const size = text.length;
  for (const [range, from, to] of [
    ['bytes=0-99', 0, 100],
    ['bytes=1048570-1048590', 1_048_570, 1_048_591],
    [`bytes=${size - 5}-`, size - 5, size],
    ['bytes=-7', size - 7, size],
    [`bytes=10-${size * 2}`, 10, size],
  ] as const) {
    const { bytes, length, range: said, status } = await part({ range, 'if-range': String(etag) });
    expect([status, said, length], range).toEqual([206, `bytes ${from}-${to - 1}/${size}`, String(to - from)]);
    expect(bytes.equals(text.subarray(from, to)), range).toBe(true);
  }
  expect(await part({ range: `bytes=${size}-` })).toMatchObject({ status: 416, range: `bytes */${size}` });
  for (const headers of [
    { range: 'bytes=0-9', 'if-range': '"another"' },
    { range: 'bytes=0-1,5-6' },
    { range: 'lines=1-2' },
  ])
    expect(await part(headers)).toMatchObject({ status: 200, length: String(size) });
  const head = await running.app.inject({ method: 'HEAD', url: `${path}/${id}`, headers: owner(accountId) });
  expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, String(size), '']);
});

test('what is cancelled is not built, what is given up or too old cannot be read, and both give their bytes back', async () => {
  const accountId = justLong;
  const cancel = (id: string) =>
    running.app.inject({ method: 'DELETE', url: `${path}/${id}`, headers: owner(accountId) });
  const never = await entered(accountId, day);
  expect((await cancel(never)).json()).toMatchObject({ id: never, state: 'cancelled' });
  const [kept, given] = [await entered(accountId, day), await entered(accountId, day)];
  build();
  await Promise.all([packOf(accountId, kept), packOf(accountId, given)]);
  expect((await cancel(given)).json()).toMatchObject({ state: 'cancelled', bytes: null });
  await running.stores.tamper(
    `UPDATE evidence_packs SET expires_at = now() - interval '1 second' WHERE id = '${kept}'`,
  );
  expect(tries().toSorted()).toEqual([`${kept}-1`, `${given}-1`].toSorted());
  expect(await expire()).toBe(1);
  const replies = await Promise.all([never, kept, given].map((id) => read(accountId, id)));
  expect(replies.map((reply) => [reply.statusCode, reply.json().state])).toEqual([
    [200, 'cancelled'],
    [200, 'expired'],
    [200, 'cancelled'],
  ]);
  expect(tries()).toEqual([]);
  expect(
    (await running.app.inject({ method: 'DELETE', url: `${path}/${kept}`, headers: owner('acct_other') })).statusCode,
  ).toBe(404);
});

test('one account cannot have many packs under way, nor more bytes than its quota', async () => {
  const accountId = justLong;
  const both = [await entered(accountId, day), await entered(accountId, day)];
  const refused = await ask(accountId, day);
  expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'evidence_packs_exceeded']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  build({ limits: { quotaBytes: 1000 } });
  for (const id of both)
    expect(await until(accountId, id, 'failed')).toMatchObject({ reason: expect.stringContaining('more than 0 MB') });
  expect(tries().toSorted()).toEqual(both.map((id) => `${id}-1`).toSorted());
  await expire();
  expect(tries()).toEqual([]);
});

test('a pack whose builder was killed is built by another one, and is never ready before it is whole', async () => {
  const accountId = 'acct_killed';
  const own = entriesOf(accountId, cases(6000, 3000));
  for (let from = 0; from < own.length; from += 1000) await running.store(...own.slice(from, from + 1000));
  const id = await entered(accountId, day);
  const { postgres, redisUrl } = running.stores;
  const script = fileURLToPath(import.meta.resolve('@gw/testing/control-plane/pack-builder'));
  const child = fork(script, [JSON.stringify({ databaseUrl: postgres.serviceUrl, objectsDir, redisUrl, seed })]);
  children.push(child);
  const seen: PackJob[] = [];
  await vi.waitFor(
    async () => {
      seen.push(await stateOf(accountId, id));
      expect(seen.at(-1)?.receipts_done).toBeGreaterThan(0);
    },
    { timeout: 60_000, interval: 5 },
  );
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const left = await stateOf(accountId, id);
  expect(left.state).toBe('building');
  expect(left.receipts_done).toBeLessThan(own.length);
  expect(tries()).toEqual([`${id}-1`]);
  const done = seen.map(({ receipts_done }) => receipts_done);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  // The lease of the dead one is over.
  await running.stores.tamper(`UPDATE evidence_packs SET leased_until = now() - interval '1 second'`);
  build();
  const text = await packOf(accountId, id);
  expect(idsOf(text)).toEqual(sortedIds(own));
  expect(await verified(text)).toMatchObject({ signature: 'trusted', mismatches: [], receipts: own.length });
  // The bytes that the dead instance has written are deleted, perhaps already.
  expect(tries()).toContain(`${id}-2`);
  await expire();
  expect(tries()).toEqual([`${id}-2`]);
}, 180_000);

test('an instance that ends in an orderly way hands on what it builds', async () => {
  const accountId = 'acct_handed';
  const own = entriesOf(accountId, 3000);
  await running.store(...own);
  const id = await entered(accountId, day);
  build();
  await vi.waitFor(async () => expect((await stateOf(accountId, id)).receipts_done).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 5,
  });
  await jobs.splice(0)[0]?.stop();
  expect((await stateOf(accountId, id)).state).toBe('queued');
  build();
  expect(await verified(await packOf(accountId, id))).toMatchObject({ mismatches: [], receipts: own.length });
});
