/** What an `Idempotency-Key` may be, and where it is not taken, since a promise would not be kept. */
import { scopes } from '@gw/contract/access';
import { keyListSchema } from '@gw/contract/keys';
import { afterAll, expect, it } from 'vitest';
import { openTestAccounts } from '../sdk/test-account.ts';
import { chatBody, expectRefusal, invalid, newMarker, reachedProvider, send } from './ask.ts';

const accounts = openTestAccounts();
afterAll(() => accounts.close());

const refusal = invalid('invalid_idempotency_key', 'Idempotency-Key');

it.each([
  ['/v1/chat/completions', chatBody()],
  ['/v1/completions', JSON.stringify({ model: 'sim-small', prompt: 'x' })],
  ['/v1/embeddings', JSON.stringify({ model: 'sim-embed', input: 'x' })],
])('%s asks no provider with a key of another form than 1 to 255 visible characters of ASCII', async (path, body) => {
  for (const value of ['', 'two words', 'a'.repeat(256), 'é', ['once', 'once']]) {
    const marker = newMarker();
    const headers = { 'idempotency-key': value, 'x-sim-marker': marker };
    expectRefusal(await send({ path, body, headers }), refusal);
    expect(await reachedProvider(marker)).toBe(0);
  }
  const marker = newMarker();
  const headers = { 'idempotency-key': `${marker}!~`.padEnd(255, 'a'), 'x-sim-marker': marker };
  expect((await send({ path, body, headers })).status).toBe(200);
  expect(await reachedProvider(marker)).toBe(1);
});

it('no key is made, rotated, revoked or restored', async () => {
  const key = await accounts.create({}, { scopes });
  const headers = { 'idempotency-key': 'once' };
  const id = key.slice(3, 15);
  expectRefusal(await send({ path: '/v1/keys', key, headers, body: '{"name":"another"}' }), refusal);
  for (const action of ['rotate', 'revoke', 'restore'])
    expectRefusal(await send({ path: `/v1/keys/${id}/${action}`, key, headers }), refusal);
  // A read is the same however often it is asked for.
  const listed = await send({ method: 'GET', path: '/v1/keys', key, headers });
  expect(keyListSchema.parse(JSON.parse(listed.text)).data.map((each) => [each.id, each.state])).toEqual([
    [id, 'active'],
  ]);
});
