/** Keys from the outside: through Envoy, with the key itself as the only credential. */
import { setTimeout as delay } from 'node:timers/promises';
import { defaultScopes, type Scope, scopes } from '@gw/contract/access';
import { auditListSchema } from '@gw/contract/audit';
import { issuedKeySchema, keyListSchema, keySchema } from '@gw/contract/keys';
import { describe, expect, test } from 'vitest';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();

const idOf = (key: string): string => key.slice(3, 15);

async function ask(key: string, method: 'GET' | 'POST', path: string, body?: unknown) {
  const response = await fetch(`${stack.publicUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/** `200`, or status and code. */
async function outcome(...call: Parameters<typeof ask>): Promise<string> {
  const { status, body } = await ask(...call);
  return body.error ? `${status} ${body.error.code}` : String(status);
}

const chat = (key: string) =>
  outcome(key, 'POST', '/v1/chat/completions', {
    model: 'sim-small',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 1,
  });

const newAccount = (options: Parameters<typeof accounts.create>[0] = {}, held: readonly Scope[] = scopes) =>
  accounts.create(options, { scopes: held });

test('a key from its issue over rotation and revocation to its restoring, and the log tells this story', async () => {
  const admin = await newAccount();
  const first = issuedKeySchema.parse((await ask(admin, 'POST', '/v1/keys', { name: 'one' })).body);
  expect(first.scopes).toEqual(defaultScopes);
  expect(await chat(first.key)).toBe('200');
  const path = `/v1/keys/${first.id}`;
  const second = issuedKeySchema.parse((await ask(admin, 'POST', `${path}/rotate`)).body);
  expect([await chat(first.key), await chat(second.key)]).toEqual(['200', '200']);
  expect(keySchema.parse((await ask(admin, 'POST', `${path}/revoke`)).body).state).toBe('revoked');
  await delay(1000);
  expect([await chat(first.key), await chat(second.key)]).toEqual(['401 revoked_api_key', '200']);
  await ask(admin, 'POST', `${path}/restore`);
  await delay(1000);
  expect(await chat(first.key)).toBe('200');
  const log = auditListSchema.parse((await ask(admin, 'GET', '/v1/audit-log?order=asc')).body);
  const key = `key:${first.id}`;
  // Checkpoints are signed when an hour is over, which can be now.
  const changes = log.data.filter(({ action }) => action !== 'receipt_log.signed');
  expect(changes.map(({ action, target }) => [action, target])).toEqual([
    ['key.created', key],
    ['key.rotated', key],
    ['key.revoked', key],
    ['key.restored', key],
  ]);
  for (const { actor } of changes) expect(actor).toEqual({ kind: 'api_key', id: idOf(admin), name: 'Test' });
  const listed = keyListSchema.parse((await ask(admin, 'GET', '/v1/keys')).body);
  expect(listed.data.map(({ id }) => id).sort()).toEqual([first.id, second.id, idOf(admin)].sort());
  expect(JSON.stringify([log, listed])).not.toContain(first.key.slice(16));
});

test('under 32 connections no call of a revoked key passes later than a second after the reply', async () => {
  const admin = await newAccount();
  const { id, key } = issuedKeySchema.parse((await ask(admin, 'POST', '/v1/keys', { name: 'busy' })).body);
  let repliedAt = Number.POSITIVE_INFINITY;
  const late: string[] = [];
  let passed = 0;
  const call = async () => {
    while (performance.now() < repliedAt + 1500) {
      // Decided after it was sent: only what was sent a second after the reply counts.
      const sentAt = performance.now();
      const answer = await outcome(key, 'GET', '/v1/models');
      if (answer === '200') passed += 1;
      if (sentAt > repliedAt + 1000 && !answer.startsWith('429')) late.push(answer);
    }
  };
  const calls = Array.from({ length: 32 }, call);
  await delay(300);
  expect((await ask(admin, 'POST', `/v1/keys/${id}/revoke`)).status).toBe(200);
  repliedAt = performance.now();
  await Promise.all(calls);
  expect(passed).toBeGreaterThan(0);
  expect(new Set(late)).toEqual(new Set(['401 revoked_api_key']));
});

describe('what stays open', () => {
  test('an account whose day is used up reads its keys, its log and its receipts, and revokes', async () => {
    const admin = await newAccount({ perDay: 1 });
    expect([await chat(admin), await chat(admin)]).toEqual(['200', '429 daily_budget_exceeded']);
    for (const path of ['/v1/keys', `/v1/keys/${idOf(admin)}`, '/v1/audit-log', '/v1/gw/receipts', '/v1/usage'])
      expect(await outcome(admin, 'GET', path), path).toBe('200');
    expect(await outcome(admin, 'POST', `/v1/keys/${idOf(admin)}/revoke`)).toBe('200');
  });

  test('a suspended account reads and revokes, but gets no key', async () => {
    const admin = await newAccount({ state: 'suspended' });
    expect(await chat(admin)).toBe('403 customer_suspended');
    for (const path of ['/v1/keys', '/v1/audit-log', '/v1/gw/receipts'])
      expect(await outcome(admin, 'GET', path), path).toBe('200');
    expect(await outcome(admin, 'POST', '/v1/keys', { name: 'k' })).toBe('403 customer_suspended');
    expect(await outcome(admin, 'POST', `/v1/keys/${idOf(admin)}/rotate`)).toBe('403 customer_suspended');
    expect(await outcome(admin, 'POST', `/v1/keys/${idOf(admin)}/revoke`)).toBe('200');
  });

  test('they have a rate of their own, which the headers show', async () => {
    const { headers } = await ask(await newAccount(), 'GET', '/v1/keys');
    expect(headers.get('x-ratelimit-limit-requests')).toBe('50');
    expect(headers.get('x-ratelimit-limit-day')).toBeNull();
  });
});

test('without admin:keys there are no keys to see, and without a key nothing', async () => {
  const key = await newAccount({}, defaultScopes);
  const calls = [
    ['GET', '/v1/keys'],
    ['POST', '/v1/keys'],
    ['GET', `/v1/keys/${idOf(key)}`],
    ['POST', `/v1/keys/${idOf(key)}/rotate`],
    ['POST', `/v1/keys/${idOf(key)}/revoke`],
    ['POST', `/v1/keys/${idOf(key)}/restore`],
  ] as const;
  for (const [method, path] of calls) {
    expect(await outcome(key, method, path, method === 'POST' ? {} : undefined), path).toBe('403 insufficient_scope');
    expect(await outcome('', method, path), path).toBe('401 invalid_api_key');
  }
  expect(await outcome(key, 'GET', '/v1/audit-log')).toBe('200');
});

test('what belongs to another customer is as unknown as what does not exist', async () => {
  const mine = await newAccount();
  const theirs = await newAccount();
  for (const action of ['', '/rotate', '/revoke', '/restore'])
    for (const id of [idOf(theirs), 'aaaaaaaaaaaa'])
      expect(await outcome(mine, action ? 'POST' : 'GET', `/v1/keys/${id}${action}`), action).toBe('404 key_not_found');
  expect(await chat(theirs)).toBe('200');
});

test('a method that a path does not take is 405 with those that it takes', async () => {
  const response = await fetch(`${stack.publicUrl}/v1/keys`, { method: 'DELETE' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
});
