/** Who is erased is named nowhere any more, and every record verifies as before. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { Browser, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, nameKeys, silentLog, testSeals } from '@gw/testing/control-plane/fixtures';
import { applicant, declaration } from '@gw/testing/control-plane/onboarding';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { opened, setNameKeys } from '../../shared/names/names.ts';
import { wrapAgain } from '../../shared/names/wrap-again.ts';
import { appendReceipts } from '../log/append.ts';
import { erase, finishErasures, listErasures } from './erase.ts';

const clock = new Date('2026-11-21T12:00:00Z');
const running = forFile(() => startTestApp(() => clock));
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});
const folder = mkdtempSync(join(tmpdir(), 'gw-erase-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = async (method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => {
  const reply = await withToken(running.operator, tokens.admin)(method, url, body);
  expect(reply.statusCode, `${url}: ${reply.body}`).toBeLessThan(300);
  return reply.json();
};
const gw = (...args: string[]) => runAs(running, tokens.admin, args);

/** Every row of every table as text, in which nobody is named, and so in no backup of it. */
async function wholeDatabase(): Promise<string> {
  const { db } = running.stores;
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND has_table_privilege(oid, 'SELECT')`;
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(JSON.stringify(await db.$queryRawUnsafe(`SELECT t::text AS row FROM "${name}" t`)));
  return texts.join('\n');
}

const secrets = [
  'Northwind',
  'Ada Beck',
  'northwind.example',
  'Grace Moss',
  'grace@',
  'warehouse key',
  'Eve Novak',
  'eve@',
];
const named = (text: string) => secrets.filter((secret) => text.includes(secret));

const domainOf = (account: string) => `${account.replace('_', '-')}.example`;

/** An account with a person, a key and three receipts in the log; and an application of the same organisation. */
async function northwind(account: string) {
  await running.stores.db.account.create({ data: { id: account, name: 'x', tier: 'audit_plus' } });
  const path = `/operator/v1/accounts/${account}`;
  await ask('PATCH', path, { name: 'Northwind Analytics', reason: 'Northwind has told us' });
  const admin = await ask('POST', `${path}/admins`, { name: 'Grace Moss', email: `grace@${domainOf(account)}` });
  const browser = new Browser(running.operator);
  await browser.logIn(`grace@${domainOf(account)}`, admin.credential, 'organisation_admin');
  const key = await ask('POST', `${path}/keys`, { name: 'warehouse key' });
  const entries = [1, 2, 3].map((minute) =>
    entryFrom(callAt(new Date(clock.getTime() - minute * 60_000 - 3_600_000).toISOString()), { accountId: account }),
  );
  await running.store(...entries);
  await appendReceipts({
    addresses,
    db: running.stores.db,
    now: () => clock,
    key: signingKeyOf('e1'.repeat(32)),
    seals: testSeals,
  });
  return { admin, browser, key, path };
}

async function packOf(account: string) {
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': account, 'x-gw-scopes': 'gw:read gw:lineage gw:export' }),
    payload: { from: '2026-11-20', to: '2026-11-22', include_lineage: true },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}
const script = fileURLToPath(new URL('../../../docs/examples/recompute_pack.py', import.meta.url));
async function verified(pack: object): Promise<void> {
  const trust = { thumbprint: signingKeyOf('e1'.repeat(32)).publicJwk.kid };
  expect(await verifyPack(bytesOf(pack), { trust })).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    receipts: 3,
  });
  const file = join(folder, 'pack.jsonld');
  writeFileSync(file, JSON.stringify(pack));
  const { status, stdout } = spawnSync('python3', ['-B', script, file], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringContaining('3 receipts, 3 recomputed, 3 in the log, 0 faults')]);
}

test('an account that is erased is named nowhere, lets nobody in, and its receipts, log and entries verify', async () => {
  const { admin, browser, key, path } = await northwind('acct_gone');
  const application = await ask('POST', '/operator/v1/applications', applicant());
  await ask('POST', `/operator/v1/applications/${application.account_id}/declaration`, declaration());
  expect(await ask('GET', path)).toMatchObject({ name: 'Northwind Analytics' });
  expect((await ask('GET', '/operator/v1/accounts?search=WIND%20anal')).data).toHaveLength(2);
  expect(named(await wholeDatabase())).toEqual([]);
  const issuer = { issuer: 'https://login.northwind.example', client_id: 'Northwind', client_secret: 'secret' };
  const asked = { ...issuer, domain: 'northwind.example' };
  const set = await withToken(running.operator, tokens.admin)('PUT', `${path}/issuer`, asked);
  expect(set.statusCode, set.body).toBe(200);
  expect(named(JSON.stringify(await ask('GET', '/operator/v1/audit?chain=acct_gone')))).toContain('northwind.example');
  const before = await packOf('acct_gone');
  await verified(before);

  const dry = await gw('erase', 'account', 'acct_gone');
  expect(dry.note).toContain('Nothing was erased.');
  expect(dry.out).toMatch(/people +1\n.*sessions +1\n.*operator_tokens +0\n.*api_keys +1\n/);
  expect(await ask('GET', path)).toMatchObject({ name: 'Northwind Analytics', state: 'active' });
  await expect(gw('erase', 'account', 'acct_gone', '--confirm', 'acct_gon')).rejects.toThrow('must repeat the id');
  expect((await gw('erase', 'account', 'acct_gone', '--confirm', 'acct_gone')).out).toMatch(/erased_at +2026/);
  await gw('erase', 'account', application.account_id, '--confirm', application.account_id);

  expect(await ask('GET', path)).toMatchObject({ name: 'erased', state: 'closed' });
  expect(await ask('GET', `${path}/keys/${key.id}`)).toMatchObject({ name: 'erased', state: 'revoked' });
  expect((await ask('GET', `${path}/admins`)).data).toMatchObject([{ name: 'erased', email: 'erased' }]);
  expect((await browser.call('GET', '/session')).statusCode).toBe(401);
  const login = await browser.logIn(`grace@${domainOf('acct_gone')}`, admin.credential, 'organisation_admin');
  expect(login.statusCode).toBe(401);
  const replies = ['', '?chain=acct_gone', `?chain=${application.account_id}`].map(
    (query) => `/operator/v1/audit${query}`,
  );
  for (const url of [...replies, '/operator/v1/accounts', `/operator/v1/applications/${application.account_id}`])
    expect(named(JSON.stringify(await ask('GET', url))), url).toEqual([]);
  expect(named(await wholeDatabase())).toEqual([]);
  const [entry] = (await ask('GET', '/operator/v1/audit?action=account.erased&order=asc')).data;
  expect(entry).toMatchObject({ target: 'account:acct_gone', after: { people: 1, api_keys: 1 }, fault: null });
  expect(entry.actor.name).toMatch(/^The admin \(token/);

  expect((await gw('audit', 'verify')).out).toMatch(/\d chains, no fault/);
  const after = await packOf('acct_gone');
  await verified(after);
  expect(after.receipts).toEqual(before.receipts);
  expect(after.log.checkpoint).toEqual(before.log.checkpoint);
});

/** The numbers of sessions and of tokens that are stored. */
const accessOf = (id: string) =>
  Promise.all([
    running.stores.db.session.count({ where: { subjectId: id } }),
    running.stores.db.operatorToken.count({ where: { operatorId: id } }),
  ]);

test('an operator is erased, and what they did stays with their id; nobody erases themselves', async () => {
  const eve = await ask('POST', '/operator/v1/operators', {
    name: 'Eve Novak',
    email: 'eve@ops.example',
    role: 'admin',
  });
  const browser = new Browser(running.operator);
  expect((await browser.logIn('eve@ops.example', eve.credential)).statusCode).toBe(200);
  await browser.call('POST', '/operator/v1/accounts/acct_demo_audit/suspend', { reason: 'Eve Novak has seen it' });
  await browser.call('POST', '/operator/v1/accounts/acct_demo_audit/reinstate', { reason: 'x' });
  const [own] = (await ask('GET', '/operator/v1/audit?chain=acct_demo_audit&action=account.suspended')).data;
  expect([own.actor.name, own.after.reason]).toEqual([
    expect.stringMatching(/^Eve Novak \(session/),
    'Eve Novak has seen it',
  ]);
  expect(named(await wholeDatabase())).toEqual([]);
  const token = { id: 'optk_eve', name: 'script', tokenHash: new Uint8Array(32), createdAt: clock };
  await running.stores.db.operatorToken.create({ data: { ...token, operatorId: eve.id } });
  expect(await accessOf(eve.id)).toEqual([1, 1]);
  const url = `/operator/v1/erasures/person/${eve.id}`;
  const self = await browser.call('POST', url, { confirm: eve.id });
  expect(self.json().error.code).toBe('invalid_transition');
  await ask('POST', url, { confirm: eve.id });
  expect((await browser.call('GET', '/session')).statusCode).toBe(401);
  expect(await accessOf(eve.id)).toEqual([0, 0]);
  const listed = (await ask('GET', '/operator/v1/operators')).data;
  expect(listed).toContainEqual(
    expect.objectContaining({ id: eve.id, name: 'erased', email: 'erased', state: 'disabled' }),
  );
  const [later] = (await ask('GET', '/operator/v1/audit?chain=acct_demo_audit&action=account.suspended')).data;
  expect(later).toMatchObject({ hash: own.hash, hidden: own.hidden, actor: { id: eve.id }, fault: null });
  expect(later.actor.name).toMatch(/^erased \(session/);
  expect((await gw('audit', 'verify')).code).toBe(0);
  // The address is free again, and nothing brings the key back.
  await ask('POST', '/operator/v1/operators', { name: 'Eve Novak', email: 'eve@ops.example', role: 'viewer' });
  const back = `UPDATE subject_keys SET wrapped = '\\x00', key_id = 1, erased_at = NULL WHERE subject = 'operator:${eve.id}'`;
  await expect(running.stores.db.$executeRawUnsafe(back)).rejects.toThrow('stays erased');
});

test('a legal hold refuses an erasure with its reason, of an account, of its people, and of everybody', async () => {
  const { admin, path } = await northwind('acct_held');
  const hold = await ask('POST', '/operator/v1/legal-holds', { account: 'acct_held', reason: 'Case 7 of the court.' });
  const refused = /A legal hold forbids the erasure \(Case 7 of the court\.\)/;
  await expect(gw('erase', 'account', 'acct_held', '--confirm', 'acct_held')).rejects.toThrow(refused);
  await expect(gw('erase', 'person', admin.id, '--confirm', admin.id)).rejects.toThrow(refused);
  const preview = await gw('erase', 'account', 'acct_held');
  expect(preview.out).toMatch(/held +Case 7/);
  expect(preview.note).toBe('Nothing was erased. A legal hold forbids it. To list the holds: ./gw admin hold list\n');
  expect(await ask('GET', path)).toMatchObject({ name: 'Northwind Analytics', state: 'active' });
  await ask('POST', `/operator/v1/legal-holds/${hold.id}/lift`, { reason: 'over' });
  const all = await ask('POST', '/operator/v1/legal-holds', { account: null, reason: 'An inquiry.' });
  for (const whom of [
    ['account', 'acct_held'],
    ['person', 'op_viewer'],
  ] as const)
    await expect(gw('erase', ...whom, '--confirm', whom[1])).rejects.toThrow('An inquiry.');
  await ask('POST', `/operator/v1/legal-holds/${all.id}/lift`, { reason: 'over' });
  await gw('erase', 'person', admin.id, '--confirm', admin.id);
  expect(await ask('GET', path)).toMatchObject({ name: 'Northwind Analytics', state: 'active' });
});

test('an instance that dies behind the decision leaves no name, and others finish what is left, once and at once', async () => {
  const { path } = await northwind('acct_cut');
  const { context, stores } = running;
  const gone = { $transaction: () => Promise.reject(new Error('killed')) } as unknown as typeof stores.db;
  const cut = { ...context, databases: { ...stores.databases, customers: proxied(stores.databases.customers, gone) } };
  const change = {
    principal: {
      kind: 'operator',
      id: 'op_admin',
      name: 'x',
      role: 'admin',
      proof: { kind: 'token', id: 'optk_admin', expiresAt: null },
    },
    access: { kind: 'operator', role: 'admin' },
    at: clock,
    actor: { kind: 'operator', id: 'op_admin', name: 'x' },
    requestId: 'r',
  } as const;
  await expect(erase(cut, change, { kind: 'account', id: 'acct_cut' })).rejects.toThrow('killed');
  expect(await ask('GET', path)).toMatchObject({ name: 'erased', state: 'active' });
  const left = async () =>
    (await listErasures(stores.db)).filter(({ done_at }) => done_at === null).map(({ subject }) => subject);
  expect(await left()).toEqual(['account:acct_cut']);
  const { databases } = stores;
  // A step that lacks a right, or a key that is not announced, would only be told to the log.
  const log = Object.assign(Object.create(context.log), {
    warn: (about: { err: Error }) => {
      throw about.err;
    },
  });
  const whole = { ...context, databases, db: databases.reader, log };
  await Promise.all([finishErasures(whole), finishErasures(whole)]);
  expect(await left()).toEqual([]);
  expect(await ask('GET', path)).toMatchObject({ name: 'erased', state: 'closed' });
  const entries = (await ask('GET', '/operator/v1/audit?action=account.erased')).data;
  expect(entries.filter(({ target }: { target: string }) => target === 'account:acct_cut')).toHaveLength(1);
});

/** The first, but for the transactions of the second. */
const proxied = <T extends object>(first: T, second: T): T =>
  new Proxy(first, { get: (target, name) => Reflect.get(name === '$transaction' ? second : target, name) });

test('keys are wrapped with a new master key, with which alone names are read then', async () => {
  const { path } = await northwind('acct_turn');
  const { db } = running.stores;
  const next = { current: { id: 2, secret: Buffer.alloc(32, 0xb4) }, others: [nameKeys.current] };
  expect(await wrapAgain(db, next, silentLog)).toBeGreaterThan(3);
  expect(await wrapAgain(db, next, silentLog)).toBe(0);
  const [row] = await db.$queryRaw<{ name: string }[]>`SELECT name FROM accounts WHERE id = 'acct_turn'`;
  expect(await opened(db, String(row?.name))).toBe('unreadable');
  setNameKeys(db, { ...next, others: [] });
  expect(await opened(db, String(row?.name))).toBe('Northwind Analytics');
  for (const each of Object.values(running.stores.databases)) setNameKeys(each, { ...next, others: [] });
  expect(await ask('GET', path)).toMatchObject({ name: 'Northwind Analytics' });
});
