import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import type { Database } from '@gw/prisma/client';
import { byControlPlaneRole } from '@gw/prisma/roles';
import { openAddressGuard } from '@gw/service/address-guard';
import { type InternalCertificates, openCertificates } from '@gw/service/certificates';
import { openTroubles } from '@gw/service/health/troubles';
import { emptySnapshot, plainDeployment } from '@gw/testing/catalogue';
import { testEntries, testSeals } from '@gw/testing/control-plane/fixtures';
import { memoryObjects } from '@gw/testing/control-plane/memory-objects';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { buildInternalApp } from '../../app.ts';
import { openPackPlaces } from '../../ledger/evidence/pack-places.ts';
import type { Keys } from '../../people/keys/keys.ts';
import type { Catalogue } from '../snapshot/read.ts';

const token = 'a-token-of-the-tests-that-is-long-enough';
const formerToken = 'another-token-of-the-tests-long-enough';
const secret = 'sk-very-secret';

const region = (code: string, preference: number): Catalogue['regions'][number] => ({
  code,
  name: code,
  country: 'x',
  gridZone: 'x',
  status: 'active',
  preference,
});
const deployment = (id: string, provider: string, at: string): Catalogue['deployments'][number] => ({
  ...plainDeployment,
  id,
  provider,
  region: at,
});
const catalogue: Catalogue = {
  version: 1,
  aliases: [],
  prices: [],
  liveGrid: [],
  operationalGrid: [],
  models: [],
  regions: [region('a', 0), region('b', 1)],
  deployments: [deployment('da', 'plain', 'a'), deployment('db', 'paid', 'b')],
  providers: [
    {
      id: 'plain',
      kind: 'simulator',
      baseUrl: 'http://sim:1/v1',
      path: null,
      headers: null,
      healthPath: null,
      ca: null,
      authHeader: null,
      authScheme: null,
      credentialRef: null,
    },
    {
      id: 'paid',
      kind: 'openai',
      baseUrl: 'https://paid/v1',
      path: null,
      headers: null,
      healthPath: null,
      ca: null,
      authHeader: 'authorization',
      authScheme: 'Bearer',
      credentialRef: 'PAID',
    },
  ],
};

/** The stores are never asked: xDS is answered from memory. */
function appWith(
  held: Catalogue | null,
  logged: string[] = [],
  tls: InternalCertificates | null = null,
  retiring: readonly Catalogue[] = [],
  given: ReadonlyMap<string, string> = new Map([
    ['PAID@https://paid', secret],
    ['OTHER@https://other', 'sk-other'],
  ]),
  isRead = true,
  newPlaces: ReadonlySet<string> = new Set(),
  stays = true,
) {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const snapshot = emptySnapshot;
  const addresses = { baseUrl: 'http://gw', statusUrl: '', auditEmail: '', securityEmail: '' };
  const noDatabase = {} as Database;
  return buildInternalApp(
    {
      db: noDatabase,
      databases: byControlPlaneRole(() => noDatabase),
      redis: new Redis({ lazyConnect: true }),
      objects: memoryObjects(),
      log,
      troubles: openTroubles(log, () => 0),
      addresses,
      guard: openAddressGuard(),
      providerGuard: openAddressGuard(),
      currency: 'USD',
      now: () => new Date(0),
    },
    {
      people: { keys: {} as Keys },
      ledger: {
        evidenceKey: signingKeyOf('e1'.repeat(32)),
        packs: { builds: 0, quotaBytes: 1, timestampUrl: null },
        packPlaces: openPackPlaces(),
        seals: testSeals,
        entries: testEntries,
      },
      idempotency: { claim: async () => ({ is: 'unknown' }) },
      catalogue: {
        keeper: {
          current: () => (held === null ? null : { catalogue: held, snapshot }),
          retiring: () => retiring,
          formerPlaces: () => [],
          newPlaces: () => newPlaces,
          asked: () => undefined,
        },
        credentials: {
          find: (name, baseUrl) => given.get(`${name}@${new URL(baseUrl).origin}`) ?? null,
          isRead: () => isRead,
        },
      },
    },
    {
      internalToken: token,
      previousInternalToken: formerToken,
      tls,
      stays: () => stays,
    },
  );
}

const ask = (app: ReturnType<typeof appWith>, path: string, payload: object) =>
  app.inject({
    method: 'POST',
    url: `/v3/discovery:${path}`,
    headers: { 'x-gw-internal-token': `Bearer ${token}` },
    payload: { node: { id: 'envoy' }, ...payload },
  });

test('Envoy may show either of two tokens, and nothing else', async () => {
  const statusFor = async (shown: string) => {
    const headers = { 'x-gw-internal-token': `Bearer ${shown}` };
    return (await appWith(catalogue).inject({ method: 'GET', url: '/healthz', headers })).statusCode;
  };
  expect([await statusFor(token), await statusFor(formerToken), await statusFor(`${token}x`)]).toEqual([200, 200, 401]);
});

test('Envoy is told to rather ask another control plane while this one has no catalogue, or is about to end', async () => {
  const health = async (app: ReturnType<typeof appWith>) => {
    const headers = { 'x-gw-internal-token': `Bearer ${token}` };
    return (await app.inject({ method: 'GET', url: '/healthz', headers })).statusCode;
  };
  expect(await health(appWith(catalogue))).toBe(200);
  expect(await health(appWith(null))).toBe(503);
  const leaving = appWith(catalogue, [], null, [], undefined, true, new Set(), false);
  expect(await health(leaving)).toBe(503);
});

test('Envoy gets a leaf per deployment and the two ways to its listener, then 304 while nothing changes', async () => {
  const app = appWith(catalogue);
  const reply = (
    await ask(app, 'clusters', { type_url: 'type.googleapis.com/envoy.config.cluster.v3.Cluster' })
  ).json();
  expect(reply.type_url).toBe('type.googleapis.com/envoy.config.cluster.v3.Cluster');
  const names = reply.resources.map((resource: { name: string }) => resource.name);
  for (const cluster of ['first-listener:da', 'listener:da', 'first-listener:db', 'listener:db'])
    expect(names).toContain(cluster);
  const again = await ask(app, 'clusters', { version_info: reply.version_info });
  expect([again.statusCode, again.body]).toEqual([304, '']);
  const changed = appWith({ ...catalogue, deployments: catalogue.deployments.slice(0, 1) });
  expect((await ask(changed, 'clusters', { version_info: reply.version_info })).statusCode).toBe(200);
});

test('a deployment that says how many calls it takes at once has that bound, and no other cluster has', async () => {
  const deployments = catalogue.deployments.map((each) =>
    each.id === 'da' ? { ...each, maxConcurrentRequests: 7 } : each,
  );
  const { resources } = (await ask(appWith({ ...catalogue, deployments }), 'clusters', {})).json();
  type Cluster = { name: string; circuit_breakers: { thresholds: { max_requests: number }[] } };
  const bounds = new Map(
    resources.map(({ circuit_breakers: { thresholds }, name }: Cluster) => [name, thresholds[0]?.max_requests]),
  );
  expect(bounds.get('provider:da@http://sim:1')).toBe(7);
  expect(new Set(bounds.values())).toEqual(new Set([7, 100_000]));
  expect(bounds.get('provider:db@https://paid')).toBe(100_000);
  expect(bounds.get('listener:da')).toBe(100_000);
  // Each call that goes on holds one of these until its reply begins.
  for (const { circuit_breakers } of resources) expect(circuit_breakers.thresholds[0].max_retries).toBe(100_000);
});

test('a provider is checked where it says how it is, by its own cluster alone, and only once Envoy has that', async () => {
  const providers = catalogue.providers.map((each) => (each.id === 'paid' ? { ...each, healthPath: '/up' } : each));
  const checked = { ...catalogue, providers };
  const name = 'provider:db@https://paid';
  const given = new Map<string, string>();
  const [settled, fresh] = await Promise.all(
    [new Set<string>(), new Set([name])].map(async (places) =>
      (await ask(appWith(checked, [], null, [], given, true, places), 'clusters', {}))
        .json()
        .resources.filter((each: object) => 'health_checks' in each),
    ),
  );
  expect(fresh).toEqual([]);
  expect(settled).toMatchObject([
    {
      name,
      common_lb_config: { healthy_panic_threshold: { value: 0 } },
      health_checks: [{ unhealthy_threshold: 3, http_health_check: { host: 'paid', path: '/up' } }],
    },
  ]);
  expect(JSON.stringify(settled)).not.toMatch(/authorization|PAID/);
});

test('what services may still name stays, as the newest catalogue has it, with its credential', async () => {
  const [plain, paid] = catalogue.providers;
  const moved = { ...catalogue, deployments: catalogue.deployments.slice(0, 1), providers: plain ? [plain] : [] };
  const older = { ...catalogue, providers: plain && paid ? [{ ...plain, baseUrl: 'http://old:1/v1' }, paid] : [] };
  const app = appWith(moved, [], null, [older]);
  const reply = (await ask(app, 'clusters', {})).json();
  const names = reply.resources.map((resource: { name: string }) => resource.name);
  expect(names).toEqual([...new Set(names)]);
  for (const name of ['provider:da@http://sim:1', 'provider:db@https://paid', 'listener:da', 'listener:db'])
    expect(names).toContain(name);
  const listening = (await ask(app, 'listeners', {})).body;
  expect(listening).toContain('provider:da@http://sim:1');
  expect(listening).not.toContain('http://old');
  const listeners = (await ask(app, 'listeners', {})).json().resources;
  expect(listeners.map(({ name }: { name: string }) => name)).toEqual(['deployment:da', 'deployment:db']);
  expect((await ask(app, 'secrets', { resource_names: ['PAID@https://paid'] })).json().resources).toHaveLength(1);
});

test('every instance answers with the same version', async () => {
  const versions = await Promise.all(
    [appWith(catalogue), appWith(structuredClone(catalogue))].map(
      async (app) => (await ask(app, 'listeners', {})).json().version_info,
    ),
  );
  expect(versions[0]).toBe(versions[1]);
});

test('a secret is in the answer for secrets alone, only if it is asked for and a provider names it, and never in the log', async () => {
  const logged: string[] = [];
  const app = appWith(catalogue, logged);
  const open = await Promise.all(['clusters', 'listeners'].map(async (path) => (await ask(app, path, {})).body));
  expect(open.join()).not.toContain(secret);
  const refused = { error_detail: { message: 'no' } };
  const reply = await ask(app, 'secrets', { resource_names: ['PAID@https://paid'], ...refused });
  for (const other of ['PAID', 'OTHER@https://other', 'NONE', '@https://paid'])
    expect((await ask(app, 'secrets', { resource_names: [other] })).statusCode).toBe(503);
  expect(reply.json().resources.map((resource: { name: string }) => resource.name)).toEqual(['PAID@https://paid']);
  expect(reply.body).toContain(secret);
  expect((await ask(app, 'secrets', { resource_names: [] })).json().resources).toEqual([]);
  expect(logged.join()).toContain('Envoy refused its configuration');
  expect(logged.join()).not.toContain('sk-');
});

test('a secret that is missing is empty; one that no provider here names, and any before all were read, is asked for again', async () => {
  const names = { resource_names: ['PAID@https://paid'] };
  const without = await ask(
    appWith(catalogue, [], null, [], new Map([['PAID@https://elsewhere', secret]])),
    'secrets',
    names,
  );
  const [empty] = without.json().resources;
  expect(empty).toMatchObject({ name: 'PAID@https://paid', generic_secret: { secret: { inline_string: '' } } });
  const unknown = await ask(appWith(catalogue), 'secrets', { resource_names: ['PAID@https://elsewhere'] });
  expect([unknown.statusCode, unknown.body]).toEqual([503, '']);
  const early = await ask(appWith(catalogue, [], null, [], new Map(), false), 'secrets', names);
  expect([early.statusCode, early.body]).toEqual([503, '']);
});

test('an Envoy that has a secret which nobody names any more is told of nothing new: it asks each second until the last listener is gone', async () => {
  const gone = { resource_names: ['PAID@https://gone'], version_info: '5f2b' };
  const reply = await ask(appWith(catalogue), 'secrets', gone);
  expect([reply.statusCode, reply.body]).toEqual([304, '']);
});

test('the listeners are the same whether a credential is there or not, so instances that disagree change nothing', async () => {
  const versions = await Promise.all(
    [new Map(), new Map([['PAID@https://paid', secret]])].map(
      async (given) => (await ask(appWith(catalogue, [], null, [], given), 'listeners', {})).json().version_info,
    ),
  );
  expect(versions[0]).toBe(versions[1]);
});

test('before the catalogue was read Envoy gets a fault and not an empty configuration', async () => {
  expect((await ask(appWith(null), 'clusters', {})).statusCode).toBe(500);
});

test('between machines, only a client with a certificate of the private authority gets as far as the token', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-cp-tls-'));
  const { certificate, key } = makeCertificate('internal');
  const tls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), caFile: join(dir, 'ca.crt') };
  writeFileSync(tls.certFile, certificate);
  writeFileSync(tls.caFile, certificate);
  writeFileSync(tls.keyFile, key);
  const silent = pino({ level: 'silent' });
  const certificates = await openCertificates({ internal: tls, log: silent, troubles: openTroubles(silent, () => 0) });
  const app = appWith(catalogue, [], certificates.internal);
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const ask = (shown: object, headers: Record<string, string> = {}): Promise<number | string> =>
    new Promise((resolve) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/healthz',
        rejectUnauthorized: false,
        agent: false,
        headers,
        ...shown,
      };
      const request = get(options, (reply) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      request.on('error', () => resolve('refused'));
    });
  expect(await ask({})).toBe('refused');
  expect(await ask({ cert: certificate, key })).toBe(401);
  expect(await ask({ cert: certificate, key }, { 'x-gw-internal-token': `Bearer ${token}` })).toBe(200);
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});
