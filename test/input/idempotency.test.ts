/** A promise that is not kept is not taken: an `Idempotency-Key` is refused, wherever it would mean something. */
import { scopes } from '@gw/contract/access';
import { keyListSchema } from '@gw/contract/keys';
import { afterAll, expect, it } from 'vitest';
import { openTestAccounts } from '../sdk/test-account.ts';
import { chatBody, expectRefusal, invalid, newMarker, reachedProvider, send } from './ask.ts';

const accounts = openTestAccounts();
afterAll(() => accounts.close());

const refusal = invalid('invalid_idempotency_key', 'Idempotency-Key');

it.each([
  ['/v1/chat/completions', (marker: string) => chatBody({ messages: [{ role: 'user', content: marker }] })],
  ['/v1/completions', (marker: string) => JSON.stringify({ model: 'sim-small', prompt: marker })],
  ['/v1/embeddings', (marker: string) => JSON.stringify({ model: 'sim-embed', input: marker })],
])('%s asks no provider', async (path, body) => {
  for (const value of ['once', '']) {
    const marker = newMarker();
    expectRefusal(await send({ path, body: body(marker), headers: { 'idempotency-key': value } }), refusal);
    expect(await reachedProvider(marker)).toBe(0);
  }
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
