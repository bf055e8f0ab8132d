/** Evidence packs as the people of an organisation order and read them: the packs of their account, as its keys have them. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import type { PackJob } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, silentLog, testSeals } from '@gw/testing/control-plane/fixtures';
import { type Organisation, openOrganisations } from '@gw/testing/control-plane/organisation';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { bareApp } from '../../shared/bare-app.ts';
import { endIfStalled } from '../../shared/replies.ts';
import { personPlace } from '../receipts/ledger-place.ts';
import { buildPack } from './builds/build.ts';
import { ChunkWriter } from './chunks.ts';
import { openPackPlaces } from './pack-places.ts';
import { packRoutes } from './pack-routes.ts';
import { claimPack } from './packs.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let newOrganisation: ReturnType<typeof openOrganisations>;
let clock = Date.parse('2026-11-21T12:00:00Z');
const [ofKeys, ofPeople] = ['/v1/gw/evidence-pack', '/organisation/v1/evidence-pack'];
const list = '/organisation/v1/evidence-packs';
const key = signingKeyOf('e1'.repeat(32));
const at = (ms: number) => new Date(Date.parse('2026-11-20T10:00:00.000Z') + ms).toISOString();
const day = { from: '2026-11-20', to: '2026-11-21' };
const table = { ...day, format: 'csv' };
const asJson = { accept: 'application/json' };

beforeAll(async () => {
  running = await startTestApp(() => new Date(clock));
  tokens = await seedOperators(running.context);
  newOrganisation = openOrganisations(running, tokens.admin);
}, 120_000);
afterAll(() => running?.stop());

/** With three receipts. */
async function newCustomer(): Promise<Organisation & { readonly receipts: readonly string[] }> {
  const organisation = await newOrganisation();
  const { accountId } = organisation;
  const entries = [0, 1, 2].map((ms) => entryFrom(callAt(at(ms)), { accountId }));
  await running.store(...entries);
  return { ...organisation, receipts: entries.map(({ receipt }) => receipt.id) };
}

async function order({ admin }: Organisation, body: object = table): Promise<PackJob> {
  // Each is newer than the one before.
  clock += 1000;
  const reply = await admin.call('POST', ofPeople, body);
  expect(reply.statusCode, reply.body).toBe(202);
  return reply.json();
}

/** As a job does it. */
async function build({ id }: Pick<PackJob, 'id'>): Promise<void> {
  const { db, objects } = running.stores;
  const claimed = await claimPack(db, id);
  if (claimed === null) throw new Error('Nobody has to build it.');
  const limits = { quotaBytes: 1e9 };
  const options = { db, addresses, key, limits, log: silentLog, objects, seals: testSeals };
  await buildPack(options, claimed, new AbortController().signal);
}

const codeOf = (reply: LightMyRequestResponse) => [reply.statusCode, reply.json().error?.code];
const idsIn = (reply: LightMyRequestResponse) => reply.json().data.map(({ id }: PackJob) => id);

test('a pack of few receipts is the reply: those of the account, with lineages, and it verifies', async () => {
  const customer = await newCustomer();
  const reply = await customer.admin.call('POST', ofPeople, { ...day, include_lineage: true });
  expect([reply.statusCode, reply.headers['content-type'], reply.headers['cache-control']]).toEqual([
    ...[200, 'application/ld+json; charset=utf-8', 'no-store'],
  ]);
  const pack = reply.json();
  expect(pack.receipts.map(({ receipt_id }: { receipt_id: string }) => receipt_id)).toEqual(customer.receipts);
  expect(pack.account).toBe(customer.accountId);
  const verified = await verifyPack(bytesOf(pack), { trust: { thumbprint: key.publicJwk.kid } });
  expect(verified).toMatchObject({ signature: 'trusted', mismatches: [], receipts: 3, recomputed: 3 });
  const ofKey = (await customer.byKey('POST', ofKeys, { payload: { ...day, include_lineage: true } })).json();
  // But for what is new in each.
  const { id: _, issued: __, manifest: ___, signature: ____, ...same } = ofKey;
  expect(pack).toMatchObject(same);
  // It is kept nowhere.
  expect(idsIn(await customer.admin.call('GET', list))).toEqual([]);
});

test.each([
  [{}],
  [{ to: '2026-11-20' }],
  [{ from: '2026-11-20', to: '2026-11-20' }],
  [{ from: 'yesterday' }],
  [{ receipt_ids: [] }],
  [{ receipt_ids: ['x'] }],
  [{ ...day, account_id: 'acct_org_1' }],
  [{ ...table, include_lineage: true }],
  [{ ...table, earlier_tree_size: 1 }],
])('%j is refused to a person as to a key', async (payload) => {
  const customer = await newOrganisation();
  const byKey = await customer.byKey('POST', ofKeys, { payload });
  expect(byKey.statusCode).toBe(400);
  const byPerson = await customer.admin.call('POST', ofPeople, payload);
  expect([byPerson.statusCode, byPerson.body]).toEqual([400, byKey.body]);
});

test('a receipt of another account is not in a pack that names it', async () => {
  const [customer, other] = [await newCustomer(), await newCustomer()];
  const [foreign] = other.receipts;
  const pack = (await customer.admin.call('POST', ofPeople, { receipt_ids: [foreign] })).json();
  expect(pack.receipts).toEqual([]);
  expect(pack.excluded).toMatchObject([{ receipt_id: foreign, code: 'not_found' }]);
});

test('a long one is ordered, followed, read whole and in parts, and given up, as by a key', async () => {
  const customer = await newCustomer();
  const { admin, byKey } = customer;
  const ordered = await admin.call('POST', ofPeople, table);
  const job: PackJob = ordered.json();
  const [url, publicUrl] = [`${ofPeople}/${job.id}`, `${ofKeys}/${job.id}`];
  expect([ordered.statusCode, ordered.headers.location, ordered.headers['retry-after']]).toEqual([202, url, '2']);
  expect(job).toMatchObject({ object: 'gw.evidence_pack_job', state: 'queued', format: 'csv', bytes: null });
  const waiting = await admin.call('GET', url);
  expect([waiting.statusCode, waiting.headers['retry-after'], waiting.json()]).toEqual([202, '2', job]);
  await build(job);
  for (const headers of [
    {},
    asJson,
    { range: 'bytes=10-19' },
    { range: 'bytes=10-19', 'if-range': '"other"' },
    { range: 'bytes=99999999-' },
  ]) {
    const reply = await admin.call('GET', url, undefined, headers);
    const same = await byKey('GET', publicUrl, { headers });
    expect([reply.statusCode, reply.rawPayload.toString('latin1')]).toEqual([
      same.statusCode,
      same.rawPayload.toString('latin1'),
    ]);
    const names = ['content-type', 'content-length', 'content-range', 'accept-ranges', 'etag', 'repr-digest'];
    for (const name of names) expect(reply.headers[name], name).toBe(same.headers[name]);
    expect(reply.headers['cache-control']).toBe('no-store');
  }
  const rows = (await admin.call('GET', url)).body.trim().split('\r\n');
  expect(rows.slice(1).map((row) => customer.receipts.find((id) => row.includes(id)))).toEqual(customer.receipts);
  expect((await admin.call('DELETE', url)).json()).toMatchObject({ id: job.id, state: 'cancelled' });
  expect((await byKey('GET', publicUrl)).json()).toMatchObject({ state: 'cancelled' });
});

test('packs of the account are listed whoever ordered them, the newest first, page by page', async () => {
  const customer = await newCustomer();
  const { admin, byKey, receipts } = customer;
  const first = await order(customer);
  clock += 1000;
  const named = { receipt_ids: receipts.slice(1), format: 'parquet', model: 'sim-small', region: 'eu-north' };
  const byProgram: PackJob = (await byKey('POST', ofKeys, { payload: named })).json();
  await admin.call('DELETE', `${ofPeople}/${first.id}`);
  const last = await order(customer, { from: '2026-11-20', format: 'csv' });
  const page = (await admin.call('GET', `${list}?limit=2`)).json();
  const none = { from: null, to: null, model: null, region: null, include_lineage: false, receipts: null };
  expect(page).toEqual({
    object: 'list',
    has_more: true,
    first_id: last.id,
    last_id: byProgram.id,
    data: [
      { ...last, selection: { ...none, from: at(0).replace('T10', 'T00'), to: last.created_at } },
      { ...byProgram, selection: { ...none, model: 'sim-small', region: 'eu-north', receipts: 2 } },
    ],
  });
  const rest = (await admin.call('GET', `${list}?limit=2&after=${page.last_id}`)).json();
  expect(rest).toMatchObject({ has_more: false, data: [{ id: first.id, state: 'cancelled' }] });
  for (const [query, code] of [
    ['after=pack_unknown', 'invalid_after'],
    ['after=%27', 'invalid_after'],
    ['limit=101', 'invalid_limit'],
    ['state=ready', 'invalid_state'],
  ])
    expect(codeOf(await admin.call('GET', `${list}?${query}`)), query).toEqual([400, code]);
});

test('a pack of another account is not found, whatever is asked of it, and stays as it is', async () => {
  const [customer, other] = [await newOrganisation(), await newCustomer()];
  const theirs = await order(other);
  const url = `${ofPeople}/${theirs.id}`;
  for (const method of ['GET', 'DELETE'] as const) {
    const none = await customer.admin.call(method, `${ofPeople}/pack_${randomUUID()}`);
    expect(codeOf(none)).toEqual([404, 'evidence_pack_not_found']);
    const foreign = await customer.admin.call(method, url, undefined, method === 'GET' ? asJson : {});
    expect([foreign.statusCode, foreign.body]).toEqual([404, none.body]);
  }
  expect(idsIn(await customer.admin.call('GET', list))).toEqual([]);
  expect(codeOf(await customer.admin.call('GET', `${list}?after=${theirs.id}`))).toEqual([400, 'invalid_after']);
  expect((await other.admin.call('GET', url, undefined, asJson)).json()).toEqual(theirs);
});

test('the routes are for people of an organisation whose tier has gw:export, and for nobody else', async () => {
  const customer = await newCustomer();
  const { id } = await order(customer);
  const audit = await newOrganisation('audit');
  const calls: readonly (readonly [Method, string, object?])[] = [
    ['POST', ofPeople, table],
    ['GET', `${ofPeople}/${id}`],
    ['DELETE', `${ofPeople}/${id}`],
    ['GET', list],
  ];
  for (const [method, url, body] of calls) {
    expect((await new Browser(running.operator).call(method, url, body)).statusCode, `nobody ${method} ${url}`).toBe(
      401,
    );
    for (const token of Object.values(tokens)) {
      const reply = await withToken(running.operator, token)(method, url, body);
      expect(codeOf(reply), `operator ${method} ${url}`).toEqual([403, 'insufficient_scope']);
    }
    const refused = await audit.admin.call(method, url, body);
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      ...[403, 'The tier of this account does not include the scope gw:export.'],
    ]);
    expect((await customer.byKey(method, url, { ...(body && { payload: body }) })).statusCode).toBe(404);
  }
  const cookie = customer.admin.cookie ?? '';
  for (const method of ['POST', 'DELETE'] as const) {
    const url = method === 'POST' ? ofPeople : `${ofPeople}/${id}`;
    const forged = await running.operator.inject({
      method,
      url,
      headers: { cookie },
      ...(method === 'POST' && { payload: table }),
    });
    expect(codeOf(forged), 'another site').toEqual([403, 'invalid_origin']);
  }
  expect(await running.stores.db.evidencePack.count({ where: { accountId: audit.accountId } })).toBe(0);
  expect(idsIn(await customer.admin.call('GET', list))).toEqual([id]);
});

test('an order that is sent again with its Idempotency-Key is one pack', async () => {
  const customer = await newCustomer();
  const again = { 'idempotency-key': randomUUID() };
  const replies = [
    await customer.admin.call('POST', ofPeople, table, again),
    await customer.admin.call('POST', ofPeople, table, again),
  ];
  expect(replies.map(({ body, headers, statusCode }) => [statusCode, body, headers.location])).toEqual(
    replies.map(() => [202, replies[0]?.body, `${ofPeople}/${replies[0]?.json().id}`]),
  );
  expect(replies[1]?.headers['idempotent-replayed']).toBe('true');
  expect(idsIn(await customer.admin.call('GET', list))).toHaveLength(1);
});

test('people and keys of an account have one share of the memory, and one number of packs under way', async () => {
  const customer = await newCustomer();
  const { accountId, admin, byKey } = customer;
  const { builds, readers, requests } = running.services.ledger.packPlaces;
  const both = async (
    personAsks: () => Promise<LightMyRequestResponse>,
    keyAsks: () => Promise<LightMyRequestResponse>,
  ) => {
    expect(codeOf(await personAsks())).toEqual([503, 'overloaded']);
    expect(codeOf(await keyAsks())).toEqual([503, 'overloaded']);
  };
  const job = await order(customer);
  await build(job);
  for (const [places, share, method, rest, payload] of [
    [requests, 4, 'POST', '', day],
    [builds, 2, 'POST', '', day],
    [readers, 4, 'GET', `/${job.id}`, undefined],
  ] as const) {
    const taken = Array.from({ length: share }, () => places.take(accountId));
    await both(
      () => admin.call(method, ofPeople + rest, payload),
      () => byKey(method, ofKeys + rest, { ...(payload && { payload }) }),
    );
    for (const place of taken) if ('leave' in place) place.leave();
    expect((await admin.call(method, ofPeople + rest, payload)).statusCode).toBe(200);
  }
  await order(customer);
  await byKey('POST', ofKeys, { payload: table });
  expect(codeOf(await admin.call('POST', ofPeople, table))).toEqual([429, 'evidence_packs_exceeded']);
});

test('the audit log tells of packs of people no more than of those of keys', async () => {
  const customer = await newCustomer();
  const { accountId, admin, byKey } = customer;
  const actions = async () =>
    (await readAudit(running.stores.db, accountId, { order: 'asc', limit: 50 })).map(({ action }) => action);
  const before = await actions();
  const { id } = await order(customer);
  await admin.call('DELETE', `${ofPeople}/${id}`);
  await byKey('POST', ofKeys, { payload: table });
  expect(await actions()).toEqual(before);
});

test('who reads nothing of a pack gives its place back, and is broken off', async () => {
  const { accountId, adminId } = await newOrganisation();
  const { db, objects } = running.stores;
  const times = { createdAt: new Date(), changedAt: new Date(), expiresAt: new Date(clock + 1e9) };
  const [packId, length, many] = ['pack_large', 1024 * 1024, 64];
  const of = { accountId, request: { asked: {}, from: null, until: null }, format: 'jsonld', state: 'ready' };
  const writer = new ChunkWriter(objects, { id: packId, try: 1 });
  for (let number = 0; number < many; number += 1) writer.write(0, 'x'.repeat(length));
  const chunksSha256 = await writer.finish();
  await db.evidencePack.create({ data: { id: packId, ...of, ...times, try: 1, bytes: length * many, chunksSha256 } });
  const { readers } = openPackPlaces();
  const place = personPlace(running.context);
  // The one hook gives up after minutes; the test uses a shorter limit.
  expect(place.onSend).toHaveLength(1);
  const served = async (stalledMs: number) => {
    const app = bareApp(running.context);
    app.decorateRequest('principal', null);
    app.addHook('onRequest', async (request) => {
      request.principal = { kind: 'organisation_admin', accountId, id: adminId, name: 'Ada', proof: null };
    });
    packRoutes(app, running.context, readers, { ...place, onSend: [endIfStalled(stalledMs)] });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { app, port: (app.server.address() as AddressInfo).port };
  };
  const isFull = () => {
    const taken = Array.from({ length: 4 }, () => readers.take(accountId));
    for (const place of taken) if ('leave' in place) place.leave();
    return taken.some((place) => 'refused' in place);
  };
  const impatient = await served(200);
  const client = connect(impatient.port, '127.0.0.1').pause();
  client.on('error', () => {});
  client.write(`GET ${ofPeople}/${packId} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await vi.waitFor(() => expect(isFull()).toBe(true), 40_000);
  await vi.waitFor(() => expect(isFull()).toBe(false), 30_000);
  client.destroy();
  // Who reads it gets all of it.
  const patient = await served(30_000);
  const whole = await fetch(`http://127.0.0.1:${patient.port}${ofPeople}/${packId}`);
  expect((await whole.arrayBuffer()).byteLength).toBe(length * many);
  await Promise.all([impatient.app.close(), patient.app.close()]);
}, 60_000);
