/**
 * A provider that takes a credential gets it in its own header, and nobody else ever sees it; and a provider that does
 * not answer is given up in time.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Database, openDatabase } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { type Stack, startStack } from '@gw/stack/stack';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { call, expectCompletion, expectRefusal, send, upstream } from './ask.ts';

const credentials = { PAID: 'sk-paid-0123456789abcdef', CLOUD: 'cloud-fedcba9876543210' };
const parent = process.env.GW_TEST_DIR ?? inCheckout('.gw');
mkdirSync(parent, { recursive: true });
const dir = mkdtempSync(join(parent, 'test-credential-'));
let gateway: Stack;
let db: Database;

/** The simulator stands for both, each under a path of its own. */
async function addProvider(id: string, authHeader: string, authScheme: string | null): Promise<void> {
  const baseUrl = `${gateway.simulatorUrl}/${id}/v1`;
  const access = { baseUrl, authHeader, authScheme, credentialRef: id.toUpperCase() };
  await db.provider.create({ data: { id, name: id, kind: 'openai', ...access } });
  await db.region.create({ data: { code: id, name: id, country: 'FR', gridZone: 'FRA', preference: 9 } });
  await db.model.create({
    data: { id: `${id}/chat`, ownedBy: id, kind: 'chat', modalities: ['text'], modelClass: 'small' },
  });
  await db.deployment.create({
    data: { id, providerId: id, regionCode: id, models: { [`${id}/chat`]: 'sim-small' }, pue: 1.2 },
  });
}

beforeAll(async () => {
  const env = {
    'control-plane': { GW_CREDENTIAL_PAID: credentials.PAID, GW_CREDENTIAL_CLOUD: credentials.CLOUD },
    'receipt-sidecar': { GW_UPSTREAM_TIMEOUT_S: '1' },
  };
  gateway = await startStack({ dir, durable: false, env, log: () => undefined });
  db = openDatabase(gateway.databaseUrl, { connections: 1 });
  await addProvider('paid', 'authorization', 'Bearer');
  await addProvider('cloud', 'api-key', null);
});
afterAll(async () => {
  await db?.$disconnect();
  await gateway?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const ask = (fields: object, headers: Record<string, string> = {}) =>
  call(fields, headers, { url: gateway.publicUrl, key: gateway.keys.enterprise });

const log = z.object({
  requests: z.array(z.looseObject({ path: z.string(), headers: z.record(z.string(), z.unknown()) })),
});

async function seenBy(id: string) {
  const reply = await fetch(`${gateway.simulatorUrl}/sim/requests?limit=100`);
  return log.parse(await reply.json()).requests.filter(({ path }) => path === `/${id}/v1/chat/completions`);
}

it.each([
  ['paid', 'authorization', `Bearer ${credentials.PAID}`],
  ['cloud', 'api-key', credentials.CLOUD],
])('%s gets its credential in %s, and no directive for a simulator', async (id, header, value) => {
  const model = `${id}/chat`;
  await expect.poll(async () => (await ask({ model })).status, { timeout: 20_000, interval: 200 }).toBe(200);
  const reply = expectCompletion(await ask({ model }, { 'api-key': 'mine', 'x-sim-fault': 'status-500' }));
  expect(reply.routing_trace).toMatchObject({ region: id, deployment: id });
  const seen = (await seenBy(id)).at(-1);
  expect(Object.keys(seen?.headers ?? {}).sort()).toEqual(
    ['accept-encoding', header, 'content-length', 'content-type', 'host'].sort(),
  );
  expect(seen?.headers[header]).toBe(value);
});

it('the simulated provider gets no credential', async () => {
  const reply = await ask({}, { 'x-sim-echo-headers': '1' });
  for (const secret of Object.values(credentials)) expect(reply.text).not.toContain(secret);
  expect(reply.text).not.toContain('"authorization"');
});

function admin(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: join(gateway.sockets, 'envoy-admin.sock'), path }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('end', () => resolve(text));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

it('a credential is in no configuration dump, log, file or argument', async () => {
  const dump = await admin('/config_dump?include_eds');
  // The dump is the one that knows of these secrets; it shows their names alone.
  expect(dump).toContain('PAID');
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/postgres|valkey/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.join()).toContain('control-plane.log');
  const processes = Object.values(gateway.pids()).map((pid) => `/proc/${pid}/cmdline`);
  const texts = [
    dump,
    await admin('/clusters'),
    await admin('/stats'),
    ...files.map((file) => readFileSync(file, 'utf8')),
    ...(process.platform === 'linux' ? processes.map((file) => readFileSync(file, 'utf8')) : []),
  ];
  for (const text of texts) for (const secret of Object.values(credentials)) expect(text.includes(secret)).toBe(false);
});

it.each(['stall', 'stall-mid'])('a provider that does not finish is given up in time: %s', async (error) => {
  const reply = await ask({}, { 'x-sim-fault': error });
  expectRefusal(reply, upstream('upstream_timeout'));
  const path = `/v1/gw/receipts/${reply.headers['x-gw-receipt-id']}`;
  const read = () => send({ method: 'GET', path, url: gateway.publicUrl, key: gateway.keys.enterprise });
  await expect.poll(async () => (await read()).status, { timeout: 10_000, interval: 200 }).toBe(200);
  expect(JSON.parse((await read()).text)).toMatchObject({ status: 'upstream_error', tier: 'degraded' });
});
