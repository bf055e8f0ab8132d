import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { elementAt } from '@gw/contract/internal/defined';
import type { Receipt } from '@gw/contract/receipt';
import { openDatabase } from '@gw/prisma/client';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, eventually, receiptIdAt, silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createVault } from '../../../shared/vault.ts';
import { rebase } from '../rebase.ts';
import { deliverDue, startDeliveries } from './deliver.ts';
import { sealAgain } from './webhooks.ts';

interface WebhookRequest {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on a socket. */
async function startReceiver() {
  const asked: WebhookRequest[] = [];
  let reply: { status: number; headers?: Record<string, string> } = { status: 204 };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      asked.push({ path: request.url, headers: request.headers, body });
      response.writeHead(reply.status, reply.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (next: typeof reply) => {
      reply = next;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const month = '2026-04';
const begun = new Date('2026-04-15T12:00:00.000Z');
let now = begun;
const running = forFile(() => startTestApp(() => now));
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let accounts = 0;
let accountId = '';
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});

/** Each test has an account with one budget of 100 g, and a receiver. */
beforeEach(async () => {
  now = begun;
  receiver = await startReceiver();
  accounts += 1;
  accountId = `acct_webhook_${accounts}`;
  const { db } = running.stores;
  await db.account.create({ data: { id: accountId, name: accountId, tier: 'audit' } });
  const common = { accountId, amount: 100, kind: 'soft', setBy: 'operator', createdAt: now };
  await db.budget.create({ data: { ...common, id: `bud_${accounts}`, scope: 'account', name: '', unit: 'carbon_g' } });
});
afterEach(async () => {
  await receiver.stop();
  await running.stores.empty('budget_events', 'budget_webhooks');
});

const key = Buffer.from('ce'.repeat(32), 'hex');
const path = () => `/operator/v1/accounts/${accountId}/budget-webhook`;
const admin = () => withToken(running.operator, tokens.admin);
const set = async (url = `${receiver.url}/hook?team=1`) => (await admin()('PUT', path(), { url })).json();
const state = async () => (await admin()('GET', path())).json();
const options = () => ({
  ...running.context,
  vault: createVault([key]),
  metrics: running.services.ledger.deliveryMetrics,
});
const deliver = () => deliverDue(options());
const use = async (carbon_g: number, more: Partial<Receipt> = {}) => {
  const id = receiptIdAt(new Date('2026-04-03T10:00:00.000Z'));
  await running.store(entryOf({ id, carbon_g, ...more }, accountId));
  await rebase(running.context, { accountId, month });
};
const later = (minutes: number): void => {
  now = new Date(now.getTime() + minutes * 60_000);
};
const thresholds = () => receiver.asked.map(({ body }) => JSON.parse(body).threshold).sort();

test('each threshold is told once, however many instances see it', async () => {
  await set();
  const { db, postgres } = running.stores;
  const otherDb = openDatabase(postgres.serviceUrl);
  const instances = [options(), { ...options(), db: otherDb }];
  const jobs = instances.map((each) => startDeliveries({ ...each, log: silentLog }));
  const sums = () => Promise.all(instances.map((each) => rebase(each, { accountId, month })));
  await use(79.9);
  await sums();
  expect(await db.budgetEvent.count()).toBe(0);
  await use(0.1);
  await sums();
  await eventually(async () => (await db.budgetEvent.count({ where: { outcome: 'delivered' } })) === 1);
  expect(thresholds()).toEqual([80]);
  await use(30);
  await sums();
  await eventually(async () => (await db.budgetEvent.count({ where: { outcome: 'delivered' } })) === 2);
  await Promise.all(jobs.map((job) => job.stop()));
  await use(500);
  await deliver();
  expect(thresholds()).toEqual([100, 80]);
  // Twenty at once, in both: nobody claims what another has.
  await db.budgetEvent.updateMany({ data: { nextAt: now, outcome: null } });
  receiver.asked.length = 0;
  await Promise.all(instances.flatMap((each) => Array.from({ length: 10 }, () => deliverDue(each))));
  expect(thresholds()).toEqual([100, 80]);
  await Promise.all(instances.map(deliverDue));
  expect(receiver.asked).toHaveLength(2);
  await otherDb.$disconnect();
});

test('what is sent says which budget, and is signed with the secret that was shown', async () => {
  const { secret } = await set();
  await use(85.5);
  await deliver();
  const { body, headers, path: asked } = elementAt(receiver.asked, 0);
  expect(JSON.parse(body)).toEqual({
    type: 'budget.threshold',
    budget: { id: `bud_${accounts}`, scope: 'account', name: null, unit: 'carbon_g', amount: 100, kind: 'soft' },
    month,
    threshold: 80,
    used: 85.5,
    used_estimated: 0,
    at: now.toISOString(),
  });
  expect([asked, headers['content-type']]).toEqual(['/hook?team=1', 'application/json']);
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-gw-signature'])) ?? [];
  expect(Number(t)).toBe(now.getTime() / 1000);
  expect(v1).toBe(createHmac('sha256', secret).update(`${t}.${body}`).digest('hex'));
});

test('the example of the documentation takes what was sent, and nothing else', async () => {
  const { secret } = await set();
  await use(80);
  await deliver();
  const { body, headers } = elementAt(receiver.asked, 0);
  const page = readFileSync(new URL('../../../../docs/budgets.md', import.meta.url), 'utf8');
  const dir = mkdtempSync(join(tmpdir(), 'gwwh-'));
  writeFileSync(join(dir, 'verify.mjs'), /^```js\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '');
  const { isFromGateway } = await import(pathToFileURL(join(dir, 'verify.mjs')).href);
  rmSync(dir, { recursive: true });
  const header = headers['x-gw-signature'];
  vi.useFakeTimers({ toFake: ['Date'], now });
  try {
    expect(isFromGateway(header, Buffer.from(body), secret)).toBe(true);
    expect(isFromGateway(header, Buffer.from(body.replace('80', '81')), secret)).toBe(false);
    expect(isFromGateway(header, Buffer.from(body), `${secret}x`)).toBe(false);
    expect(isFromGateway(undefined, Buffer.from(body), secret)).toBe(false);
    vi.setSystemTime(now.getTime() + 301_000);
    expect(isFromGateway(header, Buffer.from(body), secret)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('a receiver that fails is asked again after growing pauses, with the same body and a signature of its own', async () => {
  await set();
  await use(80);
  receiver.answer({ status: 500 });
  await deliver();
  await deliver();
  expect(receiver.asked).toHaveLength(1);
  expect(await state()).toMatchObject({
    waiting: 1,
    given_up: 0,
    last_delivery: { outcome: 'failed', status: 500, threshold: 80, at: now.toISOString(), error: 'it answers 500' },
  });
  later(0.5);
  await deliver();
  later(0.5);
  await deliver();
  expect(receiver.asked).toHaveLength(2);
  receiver.answer({ status: 200 });
  later(0.5);
  await deliver();
  const [first, , third] = receiver.asked;
  expect(receiver.asked).toHaveLength(3);
  expect(third?.body).toBe(first?.body);
  expect(third?.headers['x-gw-signature']).not.toBe(first?.headers['x-gw-signature']);
  expect(await state()).toMatchObject({
    waiting: 0,
    last_delivery: { outcome: 'delivered', status: 200, error: null },
  });
});

test('after 24 hours it is given up, and the log and the operator see it', async () => {
  await set();
  await use(80);
  receiver.answer({ status: 503 });
  const errors: unknown[] = [];
  const log = Object.assign(Object.create(silentLog), { error: (what: unknown) => errors.push(what) });
  const deliverLogged = () => deliverDue({ ...options(), log });
  for (let minutes = 0; minutes < 24 * 60 - 121; minutes += 20) {
    await deliverLogged();
    later(20);
  }
  expect([errors, (await state()).waiting]).toEqual([[], 1]);
  for (let minutes = 0; minutes <= 140; minutes += 20) {
    await deliverLogged();
    later(20);
  }
  expect(errors).toMatchObject([{ accountId, threshold: 80, status: 503 }]);
  expect(await state()).toMatchObject({ waiting: 0, given_up: 1, last_delivery: { outcome: 'given_up', status: 503 } });
  const tries = receiver.asked.length;
  later(24 * 60);
  await use(1);
  await deliver();
  expect(receiver.asked).toHaveLength(tries);
});

test('the metrics count each try by what came of it, from 0 on, and have no other labels', async () => {
  const counted = async (): Promise<Record<string, number>> => {
    const { body } = await running.operator.inject('/metrics');
    const lines = body.split('\n').filter((line) => line.startsWith('gw_webhook_deliveries_total{'));
    return Object.fromEntries(
      lines.map((line) => [/outcome="(\w+)"/.exec(line)?.[1], Number(/ (\d+)$/.exec(line)?.[1])]),
    );
  };
  const before = await counted();
  expect(Object.keys(before).sort()).toEqual(['delivered', 'failed', 'given_up']);
  const since = async () => {
    const now = await counted();
    return Object.keys(now)
      .sort()
      .map((outcome) => (now[outcome] ?? 0) - (before[outcome] ?? 0));
  };
  await set();
  await use(80);
  receiver.answer({ status: 500 });
  await deliver();
  later(1);
  await deliver();
  expect(await since()).toEqual([0, 2, 0]);
  receiver.answer({ status: 200 });
  later(1);
  await deliver();
  expect(await since()).toEqual([1, 2, 0]);
  await use(30);
  receiver.answer({ status: 500 });
  later(24 * 60);
  await deliver();
  expect(await since()).toEqual([1, 2, 1]);
});

test('a redirect is not followed', async () => {
  await set();
  await use(80);
  receiver.answer({ status: 307, headers: { location: `${receiver.url}/elsewhere` } });
  await deliver();
  expect(receiver.asked.map((each) => each.path)).toEqual(['/hook?team=1']);
  expect((await state()).last_delivery).toMatchObject({
    status: 307,
    outcome: 'failed',
    error: expect.stringMatching(/redirects/),
  });
});

test('an account without a webhook is told nothing; one that gets it later is told what is used by then', async () => {
  await use(90);
  expect(await running.stores.db.budgetEvent.count()).toBe(0);
  await set();
  await use(0.1);
  await deliver();
  expect(thresholds()).toEqual([80]);
});

test('what waits is forgotten with the webhook, and told to the next one', async () => {
  await set();
  await use(80);
  expect((await admin()('DELETE', path())).json()).toEqual({
    id: accountId,
    object: 'gw.budget_webhook',
    deleted: true,
  });
  await deliver();
  expect([receiver.asked.length, await running.stores.db.budgetEvent.count()]).toEqual([0, 0]);
  expect((await admin()('GET', path())).json().error.code).toBe('invalid_budget_webhook');
  expect((await admin()('DELETE', path())).statusCode).toBe(404);
  await set();
  await use(0.1);
  await deliver();
  expect(thresholds()).toEqual([80]);
});

test.each([
  ['a metadata service', 'http://169.254.169.254/latest', /not allowed/],
  ['the name of one', 'https://metadata.google.internal/x', /not allowed/],
  ['plain http to another machine', 'http://receiver.example/hook', /use https/],
  ['an address with a password', 'https://user:secret@receiver.example/', /password/],
  ['another protocol', 'ftp://receiver.example/', /http\(s\)/],
])('%s is refused as the address of a webhook', async (_, url, message) => {
  const reply = await admin()('PUT', path(), { url });
  expect([reply.statusCode, reply.json().error.code]).toEqual([400, 'invalid_url']);
  expect(reply.json().error.message).toMatch(message);
  expect((await admin()('GET', path())).statusCode).toBe(404);
});

test("the gateway's own address is refused as the address of a webhook", async () => {
  const reply = await admin()('PUT', path(), { url: `${running.context.addresses.baseUrl}/hook` });
  expect([reply.statusCode, reply.json().error.code]).toEqual([400, 'invalid_url']);
  expect(reply.json().error.message).toMatch(/own/);
});

test('an address that has become one that is never asked is not asked', async () => {
  await set();
  const { db } = running.stores;
  await use(80);
  const url = 'http://169.254.169.254/hook';
  const binding = { name: `budget webhook ${accountId}`, origin: new URL(url).origin };
  await db.budgetWebhook.update({
    where: { accountId },
    data: { url, sealed: new Uint8Array(createVault([key]).seal('x', binding)) },
  });
  await deliver();
  const { last_delivery } = await state();
  expect(last_delivery).toMatchObject({ outcome: 'failed', status: null });
  expect(last_delivery.error).toMatch(/not allowed/);
});

test('an address that was altered in the database is sent nothing, since the secret is bound to it', async () => {
  await set();
  await use(80);
  const other = await startReceiver();
  await running.stores.db.budgetWebhook.update({ where: { accountId }, data: { url: `${other.url}/` } });
  await deliver();
  expect([receiver.asked.length, other.asked.length]).toEqual([0, 0]);
  expect((await state()).last_delivery.error).toMatch(/cannot be opened/);
  await other.stop();
});

test('the secret is nowhere in Postgres, is shown once, and is new each time', async () => {
  const { db } = running.stores;
  const first = await set();
  const [row] = await db.$queryRaw<{ text: string }[]>`
    SELECT encode(sealed, 'escape') || url AS text FROM budget_webhooks`;
  expect(first.secret).toMatch(/^gwwh_/);
  expect(row?.text).not.toContain(first.secret.slice(5, 20));
  expect(JSON.stringify(await state())).not.toContain(first.secret);
  expect((await set()).secret).not.toBe(first.secret);
  const entries = await db.auditEntry.findMany({ where: { accountId }, orderBy: { seq: 'asc' } });
  expect(entries.map(({ action, after, before }) => ({ action, before, after }))).toEqual([
    { action: 'budget_webhook.set', before: null, after: { origin: receiver.url } },
    { action: 'budget_webhook.set', before: { origin: receiver.url }, after: { origin: receiver.url } },
  ]);
});

test('a secret is sealed again with the current key, so that the one before can go', async () => {
  const { secret } = await set();
  const next = Buffer.alloc(32, 5);
  await sealAgain(running.stores.db, createVault([next, key]));
  await use(80);
  await deliverDue({ ...options(), vault: createVault([next]) });
  const { body, headers } = elementAt(receiver.asked, 0);
  const signature = String(headers['x-gw-signature']);
  const t = /t=(\d+)/.exec(signature)?.[1];
  expect(signature).toBe(`t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`);
});

test('only admins see and set webhooks', async () => {
  const support = withToken(running.operator, tokens.support);
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    expect((await support(method, path(), method === 'PUT' ? { url: receiver.url } : undefined)).statusCode).toBe(403);
  const nobody = await admin()('PUT', '/operator/v1/accounts/acct_nobody/budget-webhook', { url: receiver.url });
  expect([nobody.statusCode, nobody.json().error.code]).toEqual([404, 'invalid_account']);
});

test('the shell sets, shows and removes', async () => {
  const gw = async (line: string) => (await runAs(running, tokens.admin, line.split(' '))).out;
  expect(await gw(`budgets set-webhook ${accountId} --url ${receiver.url}/hook`)).toMatch(/^secret +gwwh_/m);
  const shown = await gw(`budgets webhook ${accountId}`);
  expect(shown).toContain(`${receiver.url}/hook`);
  expect(shown).not.toContain('gwwh_');
  await gw(`budgets remove-webhook ${accountId}`);
  await expect(gw(`budgets webhook ${accountId}`)).rejects.toThrow(/no such budget webhook/);
  await expect(gw(`budgets set-webhook ${accountId} --url http://169.254.169.254/`)).rejects.toThrow(/--url/);
});
