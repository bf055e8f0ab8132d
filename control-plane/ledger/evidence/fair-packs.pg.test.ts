/** No account can use up the capacity for packs, whether they are being built, downloaded or read. */
import { randomUUID } from 'node:crypto';
import { mostReceipts } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { type Database, openDatabase } from '@gw/prisma/client';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, silentLog, testSeals } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startEvidenceJobs } from './builds/jobs.ts';

const begin = Date.parse('2026-11-20T10:00:00.000Z');
const day = { from: '2026-11-20', to: '2026-11-21' };
const greedy = 'acct_greedy';
const modest = 'acct_modest';
const path = '/v1/gw/evidence-pack';
const running = forFile(() => startTestApp(() => new Date('2026-11-21T12:00:00Z')));
let owner: Database;

beforeAll(() => {
  owner = openDatabase(running.stores.postgres.url, { connections: 1 });
});
afterAll(async () => {
  await owner?.$disconnect();
});

const headersOf = (accountId: string, more: Record<string, string> = {}) =>
  identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:export', ...more });
// Async, so that requests begin in the order in which they are asked.
const ask = async (accountId: string, headers: Record<string, string> = {}) =>
  running.app.inject({ method: 'POST', url: path, headers: headersOf(accountId, headers), payload: day });

/** Requests that are sent meanwhile wait for the receipts until all of `during` is done. */
async function whileReceiptsWait(during: () => Promise<void>): Promise<void> {
  await owner.$transaction(
    async (tx) => {
      await tx.$executeRaw`LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE`;
      await during();
    },
    { timeout: 60_000 },
  );
}
/** Resolves when so many reads wait for the receipts. */
const waiting = (count: number) =>
  vi.waitFor(async () => {
    const found = await running.stores.db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    expect(found[0]?.count).toBe(count);
  }, 30_000);

function expectRefused({ body, headers, statusCode }: LightMyRequestResponse, says: string): void {
  const { error } = JSON.parse(body);
  expect([statusCode, error.code, error.message]).toEqual([503, 'overloaded', expect.stringContaining(says)]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

test('an account that has two packs made at once is refused a third one, and others get theirs', async () => {
  const replies: Promise<LightMyRequestResponse>[] = [];
  await whileReceiptsWait(async () => {
    replies.push(ask(greedy), ask(greedy));
    await waiting(2);
    expectRefused(await ask(greedy), 'This account has 2 evidence packs being made already');
    replies.push(ask(modest), ask('acct_other'));
    await waiting(4);
    // All places are taken now, by whomever.
    expectRefused(await ask('acct_late'), 'cannot take this request at the moment');
  });
  expect((await Promise.all(replies)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  // The places are free again, and so are those of requests that were refused.
  for (let times = 0; times < 6; times += 1) expect((await ask(greedy)).statusCode).toBe(200);
});

test('requests that only wait for a reply count too, since each reply is held in memory until it is read', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const replies: Promise<LightMyRequestResponse>[] = [];
  await whileReceiptsWait(async () => {
    replies.push(ask(greedy, key));
    await waiting(1);
    replies.push(ask(greedy, key), ask(greedy, key), ask(greedy, key));
    expectRefused(await ask(greedy, key), 'This account has 4 requests for evidence packs under way already');
    replies.push(ask(modest));
    await waiting(2);
  });
  const statuses = (await Promise.all(replies)).map(({ statusCode }) => statusCode);
  expect([statuses[0], statuses[4]]).toEqual([200, 200]);
  for (let times = 0; times < 6; times += 1) expect((await ask(greedy)).statusCode).toBe(200);
});

test('an account that reads four long packs at once is refused a fifth one, and others read theirs', async () => {
  const { db, objects, redisUrl } = running.stores;
  const job = startEvidenceJobs({
    db,
    objects,
    redisUrl,
    addresses,
    log: silentLog,
    seals: testSeals,
    key: signingKeyOf('e1'.repeat(32)),
    limits: { quotaBytes: 1e9 },
    concurrency: 1,
    tendEveryMs: 50,
  });
  const longOf = async (accountId: string) => {
    const many = Array.from({ length: mostReceipts.plain + 1 }, (_, n) =>
      entryFrom(callAt(new Date(begin + n).toISOString()), { accountId }),
    );
    await running.store(...many);
    const url = String((await ask(accountId)).headers.location);
    const headers = headersOf(accountId);
    const state = { url, headers: { ...headers, accept: 'application/json' } };
    await vi.waitFor(async () => expect((await running.app.inject(state)).json().state).toBe('ready'), 60_000);
    return { read: () => running.app.inject({ url, headers, payloadAsStream: true }), state, url };
  };
  const [one, other] = [await longOf(greedy), await longOf(modest)];
  await job.stop();
  const slow = [await one.read(), await one.read(), await one.read(), await one.read()];
  expect(slow.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  const refused = await running.app.inject({ url: one.url, headers: headersOf(greedy) });
  expectRefused(refused, 'This account has 4 evidence packs being read already');
  expect(refused.headers['content-length']).toBe(String(Buffer.byteLength(refused.body)));
  // Neither how far it is nor its head is a pack that is read.
  expect((await running.app.inject(one.state)).statusCode).toBe(200);
  const others = await other.read();
  expect(others.statusCode).toBe(200);
  for (const { headers, stream } of [...slow, others].map((reply) => ({
    headers: reply.headers,
    stream: reply.stream(),
  }))) {
    let bytes = 0;
    for await (const chunk of stream) bytes += chunk.length;
    expect(String(bytes)).toBe(headers['content-length']);
  }
  const again = await one.read();
  expect(again.statusCode).toBe(200);
  again.stream().destroy();
}, 120_000);
