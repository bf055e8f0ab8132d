/** Who may not: each reason has its code, and the key is looked at before the body. */
import { setTimeout as delay } from 'node:timers/promises';
import { leaseLifeMs } from '@gw/contract/internal/lease';
import { expect, it } from 'vitest';
import { accountsForFile } from '../sdk/test-account.ts';
import { badKey, call, chatBody, expectCompletion, expectRefusal, send, stack } from './ask.ts';

const accounts = accountsForFile();

const past = new Date(Date.now() - 1000);
const good = stack.keys.enterprise;
const lastChanged = good.slice(0, -1) + (good.endsWith('x') ? 'y' : 'x');

it.each([
  ['none', {}],
  ['an empty header', { authorization: '' }],
  ['a scheme alone', { authorization: 'Bearer' }],
  ['another scheme', { authorization: `Basic ${Buffer.from(`user:${good}`).toString('base64')}` }],
  ['no scheme', { authorization: good }],
  ['a checksum that is wrong', { authorization: `Bearer ${lastChanged}` }],
  ['a short one', { authorization: `Bearer ${good.slice(0, 40)}` }],
  ['one with something behind it', { authorization: `Bearer ${good}x` }],
  ['one in quotes', { authorization: `Bearer "${good}"` }],
  ['one of another service', { authorization: 'Bearer sk-proj-abcdefghijklmnopqrstuvwxyz' }],
  ['letters that are none', { authorization: `Bearer gw_${'\u00e9'.repeat(60)}` }],
  ['a very long one', { authorization: `Bearer gw_${'a'.repeat(20_000)}` }],
  ['two of them', { authorization: [`Bearer ${good}`, `Bearer ${good}`] }],
  ['another header', { 'x-api-key': good, 'api-key': good, cookie: `key=${good}` }],
])('a key that is missing or malformed is invalid_api_key: %s', async (_name, headers) => {
  expectRefusal(await send({ key: null, headers, body: chatBody() }), badKey('invalid_api_key'));
});

it('a key in the query is no key', async () => {
  const path = `/v1/models?api_key=${good}&access_token=${good}`;
  expectRefusal(await send({ method: 'GET', path, key: null }), badKey('invalid_api_key'));
});

it('a well-formed key that nobody issued is invalid_api_key', async () => {
  const key = await accounts.create();
  await accounts.db.apiKey.deleteMany({ where: { publicId: key.slice(3, 15) } });
  expectRefusal(await send({ key, body: chatBody() }), badKey('invalid_api_key'));
});

it('the scheme may be written in any case', async () => {
  for (const scheme of ['bearer', 'BEARER'])
    expectCompletion(await call({}, { authorization: `${scheme} ${good}` }, { key: null }));
});

it('a revoked key says so, and whom to ask', async () => {
  const reply = await send({ key: await accounts.create({}, { revokedAt: past }), body: chatBody() });
  expect(expectRefusal(reply, badKey('revoked_api_key'))).toContain('@');
});

it('an expired key says so; revoked wins over expired', async () => {
  const expired = await accounts.create({}, { expiresAt: past });
  expectRefusal(await send({ key: expired, body: chatBody() }), badKey('expired_api_key'));
  const both = await accounts.create({}, { expiresAt: past, revokedAt: past });
  expectRefusal(await send({ key: both, body: chatBody() }), badKey('revoked_api_key'));
});

it('a key that was in use is refused soon after its revocation', async () => {
  const key = await accounts.create();
  expectCompletion(await call({}, {}, { key }));
  await accounts.db.apiKey.update({ where: { publicId: key.slice(3, 15) }, data: { revokedAt: new Date() } });
  await expect.poll(async () => (await call({}, {}, { key })).status, { timeout: 5000 }).toBe(401);
  // Another worker of Envoy may have a lease from just before.
  await delay(leaseLifeMs);
  expectRefusal(await call({}, {}, { key }), badKey('revoked_api_key'));
});

it('a key that lacks the scope of an endpoint is told which one', async () => {
  const refusal = { status: 403, type: 'auth_error', code: 'insufficient_scope', param: null };
  const reads = await accounts.create({}, { scopes: ['inference:read'] });
  for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'])
    expect(expectRefusal(await send({ path, key: reads, body: '{' }), refusal)).toContain('inference:write');
  const writes = await accounts.create({}, { scopes: ['inference:write'] });
  for (const [path, scope] of [
    ['/v1/models', 'inference:read'],
    ['/v1/models/sim-small', 'inference:read'],
    ['/v1/regions', 'inference:read'],
    ['/v1/gw/receipts', 'gw:read'],
    ['/v1/usage', 'gw:read'],
  ] as const)
    expect(expectRefusal(await send({ method: 'GET', path, key: writes }), refusal)).toContain(scope);
});

it('a suspended account may read but not infer', async () => {
  const key = await accounts.create({ state: 'suspended' });
  const refusal = { status: 403, type: 'policy_error', code: 'customer_suspended', param: null };
  for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'])
    expectRefusal(await send({ path, key, body: chatBody() }), refusal);
  for (const path of ['/v1/models', '/v1/gw/receipts'])
    expect((await send({ method: 'GET', path, key })).status).toBe(200);
});

it('an account with an allow-list does not see other models', async () => {
  const key = await accounts.create({ models: ['sim-large'] });
  expectRefusal(await call({}, {}, { key }), {
    status: 400,
    type: 'validation_error',
    code: 'invalid_model',
    param: 'model',
  });
  const one = await send({ method: 'GET', path: '/v1/models/sim-small', key });
  expectRefusal(one, { status: 404, type: 'validation_error', code: 'invalid_model', param: 'model' });
});

it('the path comes before the key, and the key before the body', async () => {
  expect((await send({ path: '/v1/nothing', key: null, body: '{' })).status).toBe(404);
  expect((await send({ method: 'GET', key: null })).status).toBe(405);
  expect((await send({ key: null, body: '{' })).status).toBe(401);
});
