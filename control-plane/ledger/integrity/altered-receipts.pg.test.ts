/** A receipt that somebody with the rights of the owner has altered in the database is refused everywhere. */

import { createHash } from 'node:crypto';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { receiptKey } from '@gw/contract/internal/redis';
import { call } from '@gw/methodology/internals/testdata/facts';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf, silentLog } from '@gw/testing/control-plane/fixtures';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { supersede } from '../receipts/supersede.ts';
import { checkPage } from './check-receipts.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  running = await startTestApp();
  tokens = await seedOperators(running.context);
  // The owner can do so before they take a seal off.
  for (const column of ['content_sha256', 'seal', 'seal_key'])
    await running.stores.tamper(`ALTER TABLE receipts ALTER COLUMN ${column} DROP NOT NULL`);
}, 120_000);
afterAll(() => running?.stop());
beforeEach(() =>
  running.stores.empty('receipts', 'integrity_faults', 'usage_minutes', 'usage_hours', 'usage_changes', 'usage_days'),
);

type Entry = ReturnType<typeof entryOf>;

const read = async (id: string, query = '') => {
  const reply = await running.get(`/v1/gw/receipts/${id}${query}`);
  return { status: reply.statusCode, body: reply.json() };
};
const where = ({ receipt: { id } }: Entry) => `WHERE id = '${id}'`;
const forgedBody = `body = (replace(body::text, '"carbon_g":0.6', '"carbon_g":0.5'))::json`;

/** Computes what anybody can who has the row and knows what is hashed. */
function digestOf({ accountId, endpoint, facts, keyId, receipt, routingTrace }: Entry): string {
  const texts = [receipt, routingTrace, facts].map((value) => (value === null ? null : JSON.stringify(value)));
  const head = [accountId, keyId, endpoint, ...texts.map((text) => text?.length ?? null)];
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const rest = sha256([JSON.stringify(head), ...texts.map((text) => text ?? '')].join('\n'));
  return sha256(`${sha256(`\0${JSON.stringify(sorted(receipt))}`)}\n${rest}`);
}

/** With names in their order, JSON as JavaScript writes it is the canonical form of RFC 8785. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(Reflect.get(value, name))]));
}

const ways: Readonly<Record<string, (entry: Entry) => string>> = {
  'its carbon, in the body and in the column': (entry) => `carbon_g = 0.5, ${forgedBody} ${where(entry)}`,
  'the column alone, which sums are made of': (entry) => `carbon_g = 0.5 ${where(entry)}`,
  'the body alone': (entry) => `${forgedBody} ${where(entry)}`,
  'the facts': (entry) => `facts = '{"inputs":"others"}' ${where(entry)}`,
  'whose it is': (entry) => `key_id = 'another' ${where(entry)}`,
  'the text, to one with two values of a name': (entry) =>
    `body = (replace(body::text, '"carbon_g":0.6', '"carbon_g":0.5,"carbon_g":0.6'))::json ${where(entry)}`,
  'the body, with a digest that fits': (entry) =>
    `carbon_g = 0.5, ${forgedBody}, content_sha256 = '${digestOf({ ...entry, receipt: { ...entry.receipt, carbon_g: 0.5 } })}' ${where(entry)}`,
  'the body, and the seal is taken off': (entry) =>
    `carbon_g = 0.5, ${forgedBody}, content_sha256 = NULL, seal = NULL, seal_key = NULL ${where(entry)}`,
  'the number of its key': (entry) => `seal_key = 2 ${where(entry)}`,
  'the seal, to one with a letter of two bytes': (entry) => `seal = 'é' || substr(seal, 2) ${where(entry)}`,
  'the seal, to capital letters': (entry) => `seal = upper(seal) ${where(entry)}`,
  'the seal, moved by a space': (entry) => `seal = ' ' || substr(seal, 1, 63) ${where(entry)}`,
  'the body, to null': (entry) => `body = 'null' ${where(entry)}`,
  'the body, to a list': (entry) => `body = '[]' ${where(entry)}`,
  'the body, to a text': (entry) => `body = '"x"' ${where(entry)}`,
  'the body, to a number': (entry) => `body = '5' ${where(entry)}`,
  'the body, to lists inside each other': (entry) =>
    `body = (repeat('[', 20000) || repeat(']', 20000))::json ${where(entry)}`,
  'the facts, to half a character': (entry) => `facts = '{"inputs":"\\ud800"}' ${where(entry)}`,
  'the column, to more than a double can be': (entry) => `energy_wh = 1e400 ${where(entry)}`,
  'the column, to less than a double can be': (entry) => `carbon_g = 1e-400 ${where(entry)}`,
  'the column, to no number': (entry) => `carbon_g = 'NaN' ${where(entry)}`,
};

describe.each(Object.entries(ways))('%s', (_, change) => {
  test('is never served: not alone, not in a list, not as a lineage, not in a sum; the others are', async () => {
    const [altered, other] = [entryOf(), entryOf()];
    await running.store(altered, other);
    expect((await read(altered.receipt.id)).status).toBe(200);
    await running.stores.tamper(`UPDATE receipts SET ${change(altered)}`);

    // The copy in Redis does not stand for it.
    await running.stores.redis.set(receiptKey(altered.receipt.id), sealedEntry(altered));
    expect((await read(altered.receipt.id)).body.error?.code).toBe('receipt_integrity_failed');
    await running.stores.redis.del(receiptKey(altered.receipt.id));
    const reply = await read(altered.receipt.id);
    expect(reply).toMatchObject({
      status: 500,
      body: { error: { type: 'methodology_error', code: 'receipt_integrity_failed' } },
    });
    expect(reply.body.error.message).toContain('altered in storage');
    expect((await running.get(`/v1/gw/lineage/${altered.receipt.id}`)).json().error.code).toBe(
      'receipt_integrity_failed',
    );
    const list = (await running.get('/v1/gw/receipts?limit=100')).json();
    expect(list.data).toEqual([other.receipt]);
    expect(list.altered).toEqual([{ id: altered.receipt.id, version: 1 }]);
    const { data } = (await running.get('/v1/usage')).json();
    expect(data).toMatchObject([{ requests: 1, carbon_g: 0.6, energy_wh: 1.5 }]);

    const health = await running.operator.inject('/healthz');
    expect([health.statusCode, health.json()]).toMatchObject([
      200,
      { status: 'degraded', receipt_integrity_faults: 1, audit_chain_faults: 0 },
    ]);
    const metrics = (await running.operator.inject('/metrics')).body;
    expect(metrics).toMatch(/^gw_receipt_integrity_faults\{.*\} 1$/m);
    expect(metrics).toMatch(/^gw_audit_chain_faults\{.*\} 0$/m);
  });
});

test('whatever was stored is genuine, and a list says nothing of faults', async () => {
  const facts = { text: 'ä\u{1F512}\\u0000', numbers: [1e-7, 1e21, -0, 0.1 + 0.2], '1': 1, b: { z: 1, a: null } };
  const entry = { ...entryOf({ energy_wh: 0.30000000000000004 }), facts, routingTrace: null };
  await running.store(entry, entryOf({ prompt_tokens: Number.MAX_SAFE_INTEGER }), entryOf({ region: null }));
  const list = (await running.get('/v1/gw/receipts')).json();
  expect(list.data).toHaveLength(3);
  expect(list.altered).toBeUndefined();
  const [row] = await running.stores.db.receipt.findMany({ where: { id: entry.receipt.id } });
  expect(row?.contentSha256).toBe(digestOf(entry));
});

test('the newest genuine version is served, alone and in lists, and the reply says which newer ones are not', async () => {
  const { db, redis, tamper } = running.stores;
  const entry = entryOf();
  const { id } = entry.receipt;
  await running.store(entry, entryOf({ id, version: 2, supersedes: 1 }));
  // Somebody with the rights of the services adds a version that the gateway has not sealed.
  await db.$executeRaw`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens,
      completion_tokens, energy_wh, carbon_g, body, routing_trace, facts, content_sha256, seal, seal_key)
    SELECT id, 3, created_at, account_id, key_id, endpoint, model, region, tier, status, prompt_tokens, completion_tokens,
      energy_wh, 0, body, routing_trace, facts, content_sha256, seal, seal_key FROM receipts WHERE id = ${id} AND version = 2`;
  const get = async (query = '') => {
    const reply = await running.get(`/v1/gw/receipts/${id}${query}`);
    return [reply.statusCode, reply.json().version, reply.headers['x-gw-receipt-altered']];
  };
  expect(await get()).toEqual([200, 2, '3']);
  expect(await get('?version=2')).toEqual([200, 2, undefined]);
  expect((await get('?version=3'))[0]).toBe(500);
  for (const order of ['asc', 'desc']) {
    const list = (await running.get(`/v1/gw/receipts?order=${order}`)).json();
    expect(list.data.map(({ version }: { version: number }) => version)).toEqual([2]);
    expect(list.altered).toEqual([{ id, version: 3 }]);
  }
  await tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${id}' AND version = 2`);
  expect(await get()).toEqual([200, 1, '3,2']);
  await redis.set(receiptKey(id), sealedEntry(entry));
  expect(await get()).toEqual([200, 1, '3,2']);
  await tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${id}'`);
  expect((await get())[0]).toBe(500);
});

test('no new version is made of it, and it is not settled: nothing of it gets a seal', async () => {
  const entry = { ...entryOf(), facts: null };
  await running.store(entry);
  await running.stores.tamper(`UPDATE receipts SET carbon_g = 9 ${where(entry)}`);
  const { id: _, ...numbers } = entry.receipt;
  const { db, seals } = running.stores;
  expect(
    (await supersede(db, [{ current: entry.receipt as never, numbers: numbers as never, facts: call }], seals)).size,
  ).toBe(0);
  await running.store({ ...entry, facts: { late: true } });
  expect(await db.receipt.findMany()).toMatchObject([{ version: 1, facts: null }]);
  expect((await read(entry.receipt.id)).status).toBe(500);
});

test('a reader who begins anywhere is told no fault that is none, and raises no alarm', async () => {
  const first = entryOf();
  const { id } = first.receipt;
  await running.store(first, entryOf({ id, version: 2, supersedes: 1 }), entryOf());
  const ask = async (query: string) => {
    const url = `/operator/v1/receipts/verify${query}`;
    const reply = await running.operator.inject({ url, headers: { authorization: `Bearer ${tokens.viewer}` } });
    return { status: reply.statusCode, body: reply.json() };
  };
  expect(await ask('')).toMatchObject({ status: 200, body: { data: [], checked: 3 } });
  expect(await ask(`?after_id=${id}&after_version=1`)).toMatchObject({ status: 200, body: { data: [], next: null } });
  for (const [query, code] of [
    [`?after_id=${id}`, 'invalid_after_version'],
    ['?after_version=1', 'invalid_after_id'],
    [`?after_id=${id}&after_version=-7`, 'invalid_after_id'],
    [`?after_id=${id}&after_version=3`, 'invalid_after_id'],
    ['?after_id=nothing&after_version=1', 'invalid_after_id'],
    ['?after_id=%27%20OR%201=1--&after_version=1', 'invalid_after_id'],
    [`?after_id=${id}&after_version=9999999999`, 'invalid_after_version'],
    [`?after_id=${'x'.repeat(5000)}&after_version=1`, 'invalid_after_id'],
  ])
    expect(await ask(query as string), query).toMatchObject({ status: 400, body: { error: { code } } });
  // A check that goes on from where somebody with the database has put it.
  await checkPage({ db: running.stores.db, log: silentLog, seals: running.stores.seals }, { id, version: -7 });
  expect(await running.stores.db.integrityFault.count()).toBe(0);
  expect((await running.operator.inject('/healthz')).json()).toMatchObject({ receipt_integrity_faults: 0 });
});

test('a reader who finds one leaves nothing behind; the check that runs by itself does', async () => {
  const [altered, deleted] = [entryOf(), entryOf()];
  await running.store(altered, deleted, entryOf({ id: deleted.receipt.id, version: 2, supersedes: 1 }));
  await running.stores.tamper(`UPDATE receipts SET carbon_g = 9 ${where(altered)}`);
  await running.stores.tamper(`DELETE FROM receipts WHERE id = '${deleted.receipt.id}' AND version = 1`);
  const headers = { authorization: `Bearer ${tokens.viewer}` };
  const reply = await running.operator.inject({ url: '/operator/v1/receipts/verify', headers });
  const found = reply.json().data.map(({ fault }: { fault: string }) => fault);
  expect(found.toSorted()).toEqual(['altered', 'missing']);
  expect(await running.stores.db.integrityFault.count()).toBe(0);
  const { db, seals } = running.stores;
  await checkPage({ db, log: silentLog, seals }, { id: '', version: 0 });
  expect(await db.integrityFault.count()).toBe(2);
});

test('receipts verify names each of them in the shell and ends with 1, page after page', async () => {
  const url = running.operatorUrl;
  const verify = async () => {
    let out = '';
    const target = findTarget({ GW_CONTROL_URL: url, GW_OPERATOR_TOKEN: tokens.admin }, null);
    const code = await runAdmin(['receipts', 'verify'], {
      openApi: () => openOperatorApi(target),
      print: (text) => {
        out += text;
      },
      tell: () => {},
    });
    return { code, out };
  };
  const entries = Array.from({ length: 600 }, (_, i) => entryOf({ prompt_tokens: i }));
  await running.store(...entries);
  expect(await verify()).toEqual({ code: 0, out: '600 versions of receipts, no fault.\n' });
  const ids = entries.map(({ receipt }) => receipt.id).sort();
  const [lastOfPage, id] = [ids[249], ids[400]];
  await running.stores.tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${id}'`);
  const { code, out } = await verify();
  expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`${id} +1 +altered\\n`))]);
  // Where a page ends, whatever the row is called there is where the next one begins.
  const changes = [`id = id || ' ä'`, 'version = 2000000000', 'version = -5', `id = id || '/', version = 2`];
  for (const change of changes) {
    await running.stores.tamper(`UPDATE receipts SET ${change} WHERE id LIKE '${lastOfPage}%'`);
    const again = await verify();
    expect([again.code, again.out]).toEqual([1, expect.stringContaining('\n600 versions of receipts, ')]);
    expect(again.out).toMatch(new RegExp(`${id} +1 +altered\\n`));
    expect(again.out).toMatch(new RegExp(`${lastOfPage}.* altered\\n`));
  }
});
