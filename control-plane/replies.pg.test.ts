/**
 * Every route of both ports is asked once. As in every other test, testing/control-plane/reply-check.ts compares each reply with what its
 * route states.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groundKey } from '@gw/contract/internal/redis';
import { openApiDocument } from '@gw/contract/openapi';
import { routes as publicRoutes } from '@gw/contract/routes';
import { defaultMethodology, methodologyOf } from '@gw/methodology/methodologies';
import { ensurePartitions } from '@gw/prisma/partitions';
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { identified, internalToken, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { unattended } from '@gw/testing/control-plane/calls';
import { alias, deployment, model, provider, region } from '@gw/testing/control-plane/entries';
import { entryOf, silentLog } from '@gw/testing/control-plane/fixtures';
import { bringTo, create, requests, root, synthetic } from '@gw/testing/control-plane/onboarding';
import { phrases } from '@gw/testing/control-plane/policy';
import { startStandInEnvoy } from '@gw/testing/control-plane/stand-in-envoy';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { type TOTP, URI } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { buildInternalApp } from './app.ts';
import { openFirstVersion } from './catalogue/policy/first-version.ts';
import { screenApplication } from './customers/onboarding/screening-run.ts';
import type { Decision } from './customers/onboarding/steps.ts';
import { openLook } from './ledger/ground/ground.ts';
import { buildOperatorApp } from './operator-app.ts';

const issuer = {
  GW_OIDC_ISSUER: 'http://127.0.0.1:9',
  GW_OIDC_CLIENT_ID: 'gw',
  GW_OIDC_CLIENT_SECRET: 'a secret of the tests',
};
const objects = mkdtempSync(join(tmpdir(), 'gw-replies-'));
let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  running = await startTestApp(undefined, undefined, { GW_OBJECTS_DIR: objects, ...issuer });
  tokens = await seedOperators(running.context);
  await openFirstVersion(running.context)();
}, 120_000);
afterAll(async () => {
  await running?.stop();
  rmSync(objects, { recursive: true });
});

/** Methods and paths that replied as asked for, each with what its route states. */
function listen(app: FastifyInstance): Map<string, z.ZodType | null | undefined> {
  const replied = new Map<string, z.ZodType | null | undefined>();
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode }) => {
    if (statusCode < 300) replied.set(`${method} ${asPath(routeOptions.url ?? '')}`, routeOptions.config.reply);
  });
  return replied;
}

/** As both documents have it, but for the names of parameters. */
const asPath = (url: string) => url.replace(/:\w+|\{\w+\}|\*/g, '{}');

function inDocument({ paths }: { readonly paths: Readonly<Record<string, object>> }): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${asPath(path)}`),
  );
}

/** Puts back a receipt that was stored as a stand-in, settled, and altered since; and acknowledges what was found of it. */
async function askIntegrity(ask: ReturnType<typeof withToken>): Promise<void> {
  const { stores } = running;
  const entry = entryOf() as Parameters<typeof unattended>[0];
  await running.store(unattended(entry, { shown: false }));
  await running.store(entry);
  const { id } = entry.receipt;
  await stores.tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${id}'`);
  await stores.db
    .$executeRaw`INSERT INTO integrity_faults (kind, name, number, fault) VALUES ('receipt', ${id}, 1, 'altered')`;
  const faults = '/operator/v1/integrity/faults';
  const [found] = (await done(ask('GET', faults))).data;
  await done(ask('POST', `${faults}/acknowledge`, { id: found.id, fault: found.fault, reason: 'a test' }));
  await done(ask('POST', '/operator/v1/receipts/restore', { receipt_id: id }));
}

/** As after a Postgres that is another one: its timeline was changed in Redis. */
async function askGround(ask: ReturnType<typeof withToken>): Promise<void> {
  const { databases, redis } = running.stores;
  const look = openLook({ db: databases.ledger, redis, log: silentLog });
  await look();
  await redis.hset(groundKey, { timeline: 'another' });
  await look();
  const { alarm } = await done(ask('GET', '/operator/v1/restore'));
  await done(ask('POST', '/operator/v1/restore/confirm', { alarm: alarm.id, reason: 'a test' }));
}

async function askRetention(ask: ReturnType<typeof withToken>): Promise<void> {
  const holds = '/operator/v1/legal-holds';
  const { id } = await done(ask('POST', holds, { account: null, reason: 'a test' }));
  await done(ask('GET', holds));
  await done(ask('POST', `${holds}/${id}/lift`, { reason: 'a test' }));
  await done(ask('PUT', '/operator/v1/retention/receipts', { keep: 24 }));
  await done(ask('POST', '/operator/v1/retention/receipts/reset', {}));
  await done(ask('GET', '/operator/v1/retention'));
  const person = '/operator/v1/operators';
  const erased = await done(ask('POST', person, { name: 'Eve', email: 'eve@ops.example', role: 'viewer' }));
  const erasure = `/operator/v1/erasures/person/${erased.id}`;
  await done(ask('GET', erasure));
  await done(ask('POST', erasure, { confirm: erased.id }));
  await done(ask('GET', '/operator/v1/erasures'));
  await ensurePartitions(running.context.db, new Date('2024-01-01'), 1);
  const archives = '/operator/v1/archives';
  await done(ask('POST', archives, { month: '2024-01' }));
  await done(ask('GET', archives));
  await done(ask('DELETE', `${archives}/2024-01`));
}

test('each route of the operators’ port replies, and each reply is what its schema says', async () => {
  const app = buildOperatorApp(running.context, running.services);
  const replied = listen(app);
  const ask = withToken(app, tokens.admin);
  const get = (url: string) => done(ask('GET', url));
  const post = (url: string, body?: object) => done(ask('POST', url, body));
  const document = (await app.inject('/openapi.json')).json();
  await get('/healthz');
  await get('/metrics');

  const operators = '/operator/v1/operators';
  await get(operators);
  const ada = await post(operators, { name: 'Ada', email: 'ada@ops.example', role: 'viewer' });
  await done(ask('PATCH', `${operators}/${ada.id}`, { role: 'support' }));
  const bound = { oidcIssuer: 'https://login.example', oidcSubject: 'ada' };
  await running.context.db.operator.update({ where: { id: ada.id }, data: bound });
  for (const verb of ['disable', 'enable', 'reset-credential', 'unbind-identity'])
    await post(`${operators}/${ada.id}/${verb}`);
  await post(`${operators}/${ada.id}/bind-identity`, { subject: 'ada' });
  const token = await post(`${operators}/op_admin/tokens`, { name: 'nightly' });
  await get(`${operators}/op_admin/tokens`);
  await done(ask('DELETE', `${operators}/op_admin/tokens/${token.id}`));
  await get('/operator/v1/audit');
  await get('/operator/v1/audit/heads');
  await get('/operator/v1/receipts/verify');
  await get('/operator/v1/receipts/integrity');
  await get('/operator/v1/receipts/set-aside');
  await get('/operator/v1/receipts/witness');
  await askIntegrity(ask);
  await askGround(ask);
  await askRetention(ask);
  await get('/operator/v1/usage');
  await get('/operator/v1/grid');
  await get('/operator/v1/deployment-health');
  await get('/operator/v1/live');
  await get('/operator/v1/secrets');
  await get('/operator/v1/times');
  await get('/operator/v1/restore/check');
  await post('/operator/v1/restore/receipts', { ids: ['rcpt_none'] });
  await post('/operator/v1/receipts/set-aside/retry');

  const account = '/operator/v1/accounts/acct_demo_audit_plus';
  await get('/operator/v1/accounts');
  await get(account);
  await done(ask('PATCH', account, { shadow: ['rate'] }));
  await askKeys(ask, `${account}/keys`);
  await askBudgets(ask, `${account}/budgets`);
  await done(ask('PUT', `${account}/budget-webhook`, { url: 'http://127.0.0.1:9/hook' }));
  await get(`${account}/budget-webhook`);
  await done(ask('DELETE', `${account}/budget-webhook`));
  const admin = await post(`${account}/admins`, { name: 'Lin', email: 'lin@customer.example' });
  await get(`${account}/admins`);
  await post(`${account}/admins/${admin.id}/disable`);
  await post(`${account}/admins/${admin.id}/enable`);
  await askIssuer(ask, account, admin.id);
  const { credential } = await post(`${account}/admins/${admin.id}/reset-credential`);
  await askAsAdmin(app, 'lin@customer.example', credential);
  await post(`${account}/suspend`, { reason: 'a test' });
  await post(`${account}/reinstate`, { reason: 'a test' });

  await askCatalogue(ask);
  await askPolicy(ask);
  await askOnboarding(ask);
  expect([...replied.keys()].sort()).toEqual(inDocument(document).sort());
  await app.close();
});

async function done(asked: Promise<LightMyRequestResponse>) {
  const { body, headers, raw, statusCode } = await asked;
  expect(statusCode, `${raw.req.url}: ${body}`).toBeLessThan(300);
  return headers['content-type']?.toString().startsWith('application/json') ? JSON.parse(body) : null;
}

async function askIssuer(ask: Ask, account: string, adminId: string): Promise<void> {
  const path = `${account}/issuer`;
  await done(
    ask('PUT', path, {
      issuer: 'http://127.0.0.1:9',
      client_id: 'gw',
      client_secret: 'a secret of the tests',
      domain: 'customer.example',
    }),
  );
  await done(ask('GET', path));
  await done(ask('POST', `${path}/verify`, { reason: 'a test' }));
  const person = `${account}/admins/${adminId}`;
  await done(ask('POST', `${person}/bind-identity`, { subject: 'lin' }));
  await done(ask('POST', `${person}/unbind-identity`));
  await done(ask('DELETE', path));
}

type Ask = (method: Method, url: string, body?: object) => Promise<LightMyRequestResponse>;

async function askKeys(ask: Ask, path: string): Promise<void> {
  const key = await done(ask('POST', path, { name: 'a key' }));
  await done(ask('GET', path));
  await done(ask('GET', `${path}/${key.id}`));
  await done(ask('POST', `${path}/${key.id}/rotate`, {}));
  await done(ask('POST', `${path}/${key.id}/revoke`));
  await done(ask('POST', `${path}/${key.id}/restore`));
  if (!path.startsWith('/v1')) await done(ask('PATCH', `${path}/${key.id}`, { limits: null }));
}

async function askBudgets(ask: Ask, path: string, whose: object = { scope: 'account' }): Promise<void> {
  const { id } = await done(ask('POST', path, { ...whose, unit: 'tokens', amount: 1e9, kind: 'soft' }));
  await done(ask('GET', path));
  await done(ask('PATCH', `${path}/${id}`, { amount: 2e9 }));
  await done(ask('DELETE', `${path}/${id}`));
}

/** Each code is of a later step than the one before. */
async function askSecondFactor(browser: Browser, email: string, credential: string): Promise<void> {
  const path = '/session/second-factor';
  await done(browser.call('GET', path));
  const { uri } = await done(browser.call('POST', path, { credential }));
  const totp = URI.parse(uri) as TOTP;
  const code = (steps: number) => totp.generate({ timestamp: Date.now() + steps * 30_000 });
  await done(browser.call('PUT', path, { code: code(-1) }));
  await done(browser.call('POST', '/session', { email, credential, as: 'organisation_admin', code: code(0) }));
  await done(browser.call('POST', `${path}/remove`, { credential, code: code(1) }));
}

async function askAsAdmin(app: FastifyInstance, email: string, credential: string): Promise<void> {
  const browser = new Browser(app);
  const logIn = (with_: string) => done(browser.logIn(email, with_, 'organisation_admin'));
  const next = 'a credential of the tests';
  await logIn(credential);
  await done(browser.call('GET', '/session'));
  await done(browser.call('PUT', '/session/credential', { current: credential, next }));
  await logIn(next);
  const ask: Ask = (method, url, body) => browser.call(method, url, body);
  await askKeys(ask, '/organisation/v1/keys');
  await askBudgets(ask, '/organisation/v1/budgets', { scope: 'project', name: 'a' });
  await askOwnLedger(ask);
  await done(browser.call('DELETE', '/session'));
  await logIn(next);
  await askSecondFactor(browser, email, next);
  await done(browser.call('DELETE', '/session/all'));
}

/** As the admin of acct_demo_audit_plus. */
async function askOwnLedger(ask: Ask): Promise<void> {
  const root = '/organisation/v1';
  const entry = { ...entryOf({}, 'acct_demo_audit_plus'), routingTrace: null };
  await running.store(entry);
  const one = `receipts/${entry.receipt.id}`;
  const document = `methodology/${methodologyOf(defaultMethodology).hash}`;
  for (const path of [
    'account',
    'models',
    'audit-log',
    'usage',
    'receipts',
    one,
    `${one}/routing`,
    `${one}/lineage`,
    document,
  ])
    await done(ask('GET', `${root}/${path}`));
  const asked = { receipt_ids: [entry.receipt.id], format: 'csv' };
  const { id } = await done(ask('POST', `${root}/evidence-pack`, asked));
  await done(ask('GET', `${root}/evidence-pack/${id}`));
  await done(ask('GET', `${root}/evidence-packs`));
  await done(ask('GET', `${root}/evidence-keys`));
  await done(ask('DELETE', `${root}/evidence-pack/${id}`));
}

const start = '2026-11-01T00:00:00Z';
const price = {
  id: `${start}/${provider.id}/*/${model.id}`,
  entry: {
    provider: provider.id,
    model: model.id,
    valid_from: start,
    source: 'a test',
    input_per_mtok: '2.5',
    output_per_mtok: '10',
  },
};
const contract = {
  id: 'ppa',
  provider: provider.id,
  valid_from: start,
  valid_to: '2027-01-01T00:00:00Z',
  instrument: 'ppa',
  share: '0.6',
  g_per_kwh: '12',
  evidence: 'a test',
};

async function askCatalogue(ask: Ask): Promise<void> {
  const entries = [
    ['models', model.id, model, { active_parameters_b: 8, total_parameters_b: { min: 30, max: 40 } }],
    ['regions', region.code, region, { status: 'degraded' }],
    ['providers', provider.id, provider, { auth_header: 'x-key', credential_ref: 'ACME' }],
    ['deployments', deployment.id, deployment, { accelerators: { model: 'H100', count: 8 } }],
    ['aliases', alias.id, alias, { targets: alias.targets.toReversed() }],
    ['prices', price.id, price.entry, { input_per_mtok: '3' }],
    ['energy-contracts', contract.id, contract, { share: '0.5' }],
  ] as const;
  for (const [kind, id, entry, change] of entries) {
    await done(ask('POST', `/operator/v1/${kind}`, entry));
    const one = `/operator/v1/${kind}/${encodeURIComponent(id)}`;
    await done(ask('PATCH', one, change));
    await done(ask('GET', one));
    await done(ask('GET', `/operator/v1/${kind}`));
  }
  const document = await done(ask('GET', '/operator/v1/catalogue'));
  await done(ask('PUT', '/operator/v1/catalogue?dry_run=true', { ...document, deployments: [] }));
  const credential = '/operator/v1/credentials/ACME';
  await done(ask('PUT', credential, { value: 'sk-one', base_url: provider.base_url }));
  await done(ask('PUT', credential, { value: 'sk-two' }));
  await done(ask('POST', `${credential}/restore`));
  await done(ask('GET', '/operator/v1/credentials'));
  const server = createServer((_, reply) => reply.end('{"data":[{"id":"llama-8b"}]}'));
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
  const at = `/operator/v1/providers/${provider.id}`;
  await done(ask('PATCH', at, { base_url: `http://127.0.0.1:${port}/v1`, credential_ref: null }));
  const endEnvoy = await startStandInEnvoy(running.probeSocket);
  await done(ask('POST', `${at}/test`));
  await done(ask('GET', `${at}/models`));
  await endEnvoy();
  server.close();
  for (const [kind, id] of entries.toReversed())
    await done(ask('DELETE', `/operator/v1/${kind}/${encodeURIComponent(id)}`));
  await done(ask('DELETE', credential));
}

async function askPolicy(ask: Ask): Promise<void> {
  const path = '/operator/v1/policy';
  const { version } = await done(ask('GET', path));
  await done(ask('GET', `${path}/defaults`));
  const rules = [phrases('one', 'the first phrase')];
  await done(ask('POST', `${path}/versions`, { based_on: version, note: 'a test', rules }));
  await done(ask('GET', `${path}/versions`));
  await done(ask('GET', `${path}/versions/${version}`));
  await done(ask('PATCH', `${path}/rules/one`, { action: 'flag', note: 'a test' }));
  await done(ask('POST', `${path}/dry-run`, { samples: [{ text: 'the first phrase' }, { text: 'another' }] }));
  const account_id = 'acct_demo_audit';
  await done(ask('POST', `${path}/exemptions`, { account_id, rule_id: 'one', reason: 'a test' }));
  await done(ask('GET', `${path}/exemptions`));
  await done(ask('DELETE', `${path}/exemptions/${account_id}/one`));
}

async function askOnboarding(ask: Ask): Promise<void> {
  const { db, now } = running.context;
  const { onboarding, policy } = running.services.customers;
  const flow = {
    clock: { now: now() },
    onboarding,
    post: (url: string, body: unknown) => ask('POST', url, body as object),
    screen: (id: string, settings = synthetic) => screenApplication(id, { db, now, onboarding, policy, settings }),
  };
  await done(ask('GET', '/operator/v1/use-policy'));
  const decisions: readonly Decision[] = ['clear_match', 'reject_match', 'approve_review', 'reject_review'];
  for (const decision of decisions) {
    const [path, body, [stage]] = requests[decision];
    expect(stage).toBeDefined();
    if (stage) await done(ask('POST', `${root}/${await bringTo(flow, stage)}/${path}`, body()));
  }
  await done(ask('GET', `${root}/${await create(flow)}`));
  await done(ask('GET', `${root}/${await bringTo(flow, 'sanctions_screening')}`));
  await done(ask('GET', `${root}/${await bringTo(flow, 'sanctions_match')}`));
  await done(ask('GET', `${root}/${await bringTo(flow, 'complete')}`));
  await done(ask('GET', root));
}

test('each route of the public port replies, and its schema is the one in the public document', async () => {
  const app = buildInternalApp(running.context, running.services, { internalToken });
  const replied = listen(app);
  const accountId = 'acct_replies';
  const caller = {
    publicId: 'RepliesOfAll',
    accountId,
    name: 'a key',
    scopes: ['admin:keys'],
    hash: new Uint8Array(32),
  };
  await running.context.db.account.create({
    data: { id: accountId, name: 'Test', tier: 'audit_plus', state: 'active' },
  });
  await running.context.db.apiKey.create({ data: caller });
  const headers = identified({ 'x-gw-account-id': accountId, 'x-gw-key-id': caller.publicId });
  const ask: Ask = (method, url, payload) => app.inject({ method, url, headers, ...(payload && { payload }) });
  const entry = { ...entryOf({}, accountId), routingTrace: null };
  await running.store(entry);
  const { id } = entry.receipt;
  const reads = ['models', 'models/sim-small', 'regions', 'regions/eu-north', 'use-policy', 'usage', 'audit-log'];
  const documents = [`gw/methodology/${methodologyOf(defaultMethodology).hash}`];
  const receipts = [
    'gw/receipts',
    `gw/receipts/${id}`,
    `gw/receipts/${id}/routing`,
    `gw/receipts/${id}/proof`,
    `gw/lineage/${id}`,
    ...documents,
  ];
  for (const path of [...reads, ...receipts]) await done(ask('GET', `/v1/${path}`));
  await done(ask('POST', '/v1/gw/evidence-pack', { receipt_ids: [id], include_lineage: false }));
  const times = { createdAt: new Date(), changedAt: new Date() };
  const pack = { id: 'pack_1', accountId, request: { asked: {}, from: null, until: null }, format: 'jsonld', ...times };
  await running.context.db.evidencePack.create({ data: pack });
  for (const method of ['GET', 'DELETE'] as const) await done(ask(method, '/v1/gw/evidence-pack/pack_1'));
  await done(ask('GET', '/healthz'));
  await askKeys(ask, '/v1/keys');

  const document = openApiDocument('https://gw.example') as unknown as PublicDocument;
  // Envoy answers by itself what needs no key; it asks for the health.
  const here = publicRoutes.filter(
    ({ handler, path, scope }) => handler === 'control' && (scope !== null || path === '/healthz'),
  );
  const expected = here.map(({ method, path }) => {
    const { responses } = document.paths[path]?.[method.toLowerCase()] ?? { responses: {} };
    const contents = [responses[200], responses[202]].flatMap((response) => Object.values(response?.content ?? {}));
    // A table for spreadsheets has no schema.
    const names = new Set(contents.flatMap(({ schema }) => schema.$ref ?? []));
    return [`${method} ${asPath(path)}`, [...names]];
  });
  const found = [...replied].map(([route, reply]) => [
    route,
    namesOf(reply).map((name) => `#/components/schemas/${name}`),
  ]);
  expect(found.sort()).toEqual(expected.sort());
  await app.close();
});

interface PublicDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
}
type Responses = Readonly<
  Record<
    number,
    { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> } | undefined
  >
>;

/** Returns the names of all replies of a route that may reply in more than one way. */
const namesOf = (reply: z.ZodType | null | undefined): unknown[] =>
  reply instanceof z.ZodUnion
    ? reply.options.map((option) => z.globalRegistry.get(option as z.ZodType)?.id)
    : [reply && z.globalRegistry.get(reply)?.id];
