/**
 * After all kinds of calls, good and bad, with every log at its most talkative and a store that was away: no secret is in
 * any place where somebody could read it.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@gw/contract/internal/api-key';
import { issuedKeySchema } from '@gw/contract/keys';
import type { Child } from '@gw/stack/child';
import { loadSecrets } from '@gw/stack/secrets';
import { urlAs } from '@gw/stack/services/postgres';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { readFrom } from '../outage/instances.ts';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { Browser } from './people.ts';
import { startSecond } from './second-ext-authz.ts';

/** Name → a text that nobody may read. */
const secrets = new Map<string, string>();
const made = (name: string, secret: string): string => {
  secrets.set(`${name} ${secrets.size}`, secret);
  return secret;
};
/** Every reply, but for those that show a secret to the one who is meant to have it. */
const replies: string[] = [];

const audience = 'acct_demo_audit_plus';
const accountPath = `/operator/v1/accounts/${audience}`;
const settings = {
  GW_LOG_LEVEL: 'debug',
  GW_KEY_PEPPER_PREVIOUS: made('previous pepper', randomBytes(32).toString('hex')),
  GW_KEY_PEPPER_PREVIOUS_VERSION: '2',
};
const providerCredential = made('credential of a provider', randomBytes(20).toString('hex'));

let gateway: OwnGateway;
let second: Child;
let redis: Redis;

beforeAll(async () => {
  gateway = await startOwnGateway({
    instances: 2,
    env: {
      'control-plane': { ...settings, GW_CREDENTIAL_SIM: providerCredential },
      'ext-authz': settings,
      'receipt-sidecar': { GW_LOG_LEVEL: 'debug' },
    },
  });
  const { dir, stack } = gateway;
  for (const [name, secret] of Object.entries(loadSecrets(dir))) made(name, secret);
  for (const [name, key] of Object.entries(stack.keys)) made(`demo key ${name}`, key);
  // The server trusts its own socket and asks for none; whoever reads the address finds it there all the same.
  const password = made('password of the database', randomBytes(16).toString('hex'));
  const GW_DATABASE_URL = urlAs(stack.databaseUrl, 'ext_authz').replace('@', `:${password}@`);
  second = await startSecond(gateway, { ...settings, GW_DATABASE_URL });
  await gateway.db.provider.update({
    where: { id: 'simulator' },
    data: { credentialRef: 'SIM', authHeader: 'authorization', authScheme: 'Bearer' },
  });
  redis = new Redis(stack.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
  await second?.stop();
  await gateway?.stop();
});

async function call(key: string, method: string, path: string, body?: unknown): Promise<string> {
  const reply = await fetch(`${gateway.stack.publicUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  return `${reply.status} ${JSON.stringify([...reply.headers])} ${text}`;
}
const noted = async (reply: Promise<string>): Promise<void> => void replies.push(await reply);

const chat = { model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 3 };

async function useKey(key: string): Promise<void> {
  await noted(call(key, 'POST', '/v1/chat/completions', chat));
  await noted(call(key, 'POST', '/v1/chat/completions', { ...chat, stream: true }));
  await noted(call(key, 'POST', '/v1/chat/completions', { ...chat, model: 'none' }));
  await noted(call(key, 'POST', '/v1/chat/completions', '{"model":'));
  for (const path of ['/v1/models', '/v1/keys', '/v1/audit-log', '/v1/usage', '/v1/gw/receipts', '/v1/none'])
    await noted(call(key, 'GET', path));
}

async function liveWithKeys(): Promise<void> {
  const { keys } = gateway.stack;
  const api = apiOf(gateway.stack);
  const issue = async (path: string, body: object) => {
    const { id, key } = issuedKeySchema.parse(await api.send('POST', path, body));
    return { id, key: made('issued key', key) };
  };
  const one = await issue(`${accountPath}/keys`, { name: 'one', scopes: ['inference:write', 'admin:keys', 'gw:read'] });
  const two = await issue(`${accountPath}/keys/${one.id}/rotate`, {});
  const byKey = await call(one.key, 'POST', '/v1/keys', { name: 'three' });
  const three = issuedKeySchema.parse(JSON.parse(byKey.slice(byKey.lastIndexOf(' {"id"'))));
  made('key issued by a key', three.key);
  for (const key of [one.key, two.key, three.key, keys.admin, keys.audit]) await useKey(key);
  replies.push(JSON.stringify(await api.send('POST', `${accountPath}/keys/${two.id}/revoke`)));
  await delay(1000);
  const unknown = generateApiKey(randomBytes).plaintext;
  // Right but for its secret: whoever mistypes a key all but shows it.
  const forged = `${one.key.slice(0, 16)}${unknown.slice(16)}`;
  for (const wrong of [two.key, made('unknown key', unknown), made('forged key', forged)]) await useKey(wrong);
  replies.push(JSON.stringify(await api.get(`${accountPath}/keys`)));
}

const withCredential = z.object({ id: z.string(), credential: z.string() });

async function logInAndOut(): Promise<void> {
  const api = apiOf(gateway.stack);
  const person = async (path: string, fields: object) => {
    const shown = withCredential.parse(await api.send('POST', path, fields));
    return { id: shown.id, credential: made('credential', shown.credential) };
  };
  const olga = { name: 'Olga', email: 'olga@ops.example' };
  const otto = { name: 'Otto', email: 'otto@customer.example' };
  const operator = await person('/operator/v1/operators', { ...olga, role: 'viewer' });
  const admin = await person(`${accountPath}/admins`, otto);
  const token = await api.send('POST', '/operator/v1/operators/op_first/tokens', { name: 'script' });
  made('operator token', z.object({ token: z.string() }).parse(token).token);
  for (const [email, credential, as] of [
    [olga.email, operator.credential, 'operator'],
    [otto.email, admin.credential, 'organisation_admin'],
    [olga.email, made('wrong credential', `wrong-${randomBytes(12).toString('hex')}`), 'operator'],
    [otto.email, operator.credential, 'organisation_admin'],
    ['nobody@ops.example', made('wrong credential', `wrong-${randomBytes(12).toString('hex')}`), 'operator'],
  ] as const) {
    const browser = new Browser(gateway.stack);
    replies.push((await browser.logIn(email, credential, as)).text);
    if (browser.session) made('session', browser.session);
    for (const path of ['/session', '/operator/v1/accounts', '/organisation/v1/keys', '/operator/v1/audit'])
      replies.push((await browser.call('GET', path)).text);
    const issued = await browser.call('POST', '/organisation/v1/keys', { name: 'k' });
    if (issued.status === 200) made('key issued by a person', issuedKeySchema.parse(JSON.parse(issued.text)).key);
    replies.push((await browser.call('POST', '/organisation/v1/keys', { name: 7 })).text);
  }
  const again = await api.send('POST', `/operator/v1/operators/${operator.id}/reset-credential`);
  made('credential', withCredential.parse(again).credential);
  replies.push(JSON.stringify(await api.get('/operator/v1/operators')));
}

/** A secret as it is, and as it would look in other clothes. Of a key the half behind the public id is enough. */
function formsOf(secret: string): string[] {
  const core = /^gw_[0-9A-Za-z]{12}_/.test(secret) ? secret.slice(16, 59) : secret.replace(/^gwop_/, '');
  const bytes = Buffer.from(core);
  return [core, bytes.toString('hex'), bytes.toString('base64').replace(/.{0,3}=*$/, ''), encodeURIComponent(core)];
}

function expectNone(place: string, text: string): void {
  const found = [...secrets].filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)));
  expect(
    found.map(([name]) => name),
    place,
  ).toEqual([]);
}

test('calls with keys and logins of all kinds, even while a store is away', async () => {
  await liveWithKeys();
  await logInAndOut();
  gateway.kill('postgres');
  await useKey(gateway.stack.keys.enterprise);
  await useKey(generateApiKey(randomBytes).plaintext);
  gateway.kill('receipt-sidecar');
  await useKey(gateway.stack.keys.enterprise);
  await gateway.whole();
  // So that what is written by jobs is written.
  await delay(6000);
  expect(secrets.size).toBeGreaterThan(20);
});

test('no reply shows a secret, but those that are meant to', () => {
  expect(replies.length).toBeGreaterThan(80);
  for (const reply of replies) expectNone(reply.slice(0, 200), reply);
});

test('no log does', async () => {
  const { logs } = gateway.stack;
  const files = readdirSync(logs);
  expect(files).toEqual(
    expect.arrayContaining(['access.log', 'control-plane.log', 'ext-authz.log', 'ext-authz-2.log']),
  );
  // Envoy writes its access log every ten seconds.
  const lines = () => readFileSync(join(logs, 'access.log'), 'utf8');
  await vi.waitFor(() => expect(lines()).toContain('/v1/audit-log'), { timeout: 20_000, interval: 200 });
  for (const file of files) expectNone(file, readFileSync(join(logs, file), 'utf8'));
});

test('no page of metrics, and nothing that Envoy tells of itself', async () => {
  const { controlUrl, healthUrls, sockets } = gateway.stack;
  for (const url of [controlUrl, ...Object.values(healthUrls)])
    for (const path of ['/metrics', '/healthz']) expectNone(url + path, await (await fetch(url + path)).text());
  const admin = join(sockets, 'envoy-admin.sock');
  for (const path of ['/config_dump?include_eds', '/clusters', '/listeners', '/stats', '/server_info', '/certs'])
    expectNone(path, await readFrom(admin, path));
  const dump = await readFrom(admin, '/config_dump?include_eds');
  // The provider's credential is there, and hidden.
  expect(dump).toContain('[redacted]');
});

test('no row of any table, the audit log among them', async () => {
  const { owner } = gateway;
  const tables = await owner.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
  const rowsOf = async (name: string) => {
    const rows = await owner.$queryRawUnsafe<{ row: string }[]>(`SELECT t::text AS row FROM "${name}" t`);
    return rows.map(({ row }) => row).join('\n');
  };
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['audit', 'api_keys', 'operators', 'sessions']),
  );
  for (const { name } of tables) expectNone(name, await rowsOf(name));
  const audit = await rowsOf('audit');
  for (const action of ['key.created', 'key.rotated', 'key.revoked', 'session.started', 'operator_token.created'])
    expect(audit).toContain(action);
});

test('nothing in Redis, where nothing is left for long', async () => {
  const read: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrangebyscore(key, '-inf', '+inf'),
    list: (key) => redis.lrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const keys = await redis.keys('*');
  expect(keys.length).toBeGreaterThan(5);
  for (const key of keys) {
    const value = await read[await redis.type(key)]?.(key);
    expectNone(key, `${key} ${JSON.stringify(value)}`);
  }
});

test('no argument of any process', () => {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    });
  expect(lines.some((line) => line.includes('ext-authz.js'))).toBe(true);
  expectNone('arguments', lines.join('\n'));
});
