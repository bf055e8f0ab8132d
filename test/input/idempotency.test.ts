/** Which values an `Idempotency-Key` may have, and how it affects a change of API keys. */
import { scopes } from '@gw/contract/access';
import { issuedKeySchema, keyListSchema } from '@gw/contract/keys';
import { expect, it } from 'vitest';
import { accountsForFile } from '../sdk/test-account.ts';
import { chatBody, expectRefusal, invalid, newMarker, type Reply, reachedProvider, type Sent, send } from './ask.ts';

const accounts = accountsForFile();

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

/** An account whose first key may do everything, and what its keys are. */
async function newAccount() {
  const key = await accounts.create({}, { scopes });
  const ask = (path: string, headers: NonNullable<Sent['headers']>, body?: object) =>
    send({ path, key, headers, ...(body && { body: JSON.stringify(body) }) });
  return {
    id: key.slice(3, 15),
    ask,
    keys: async () => {
      // A read does not look at the header.
      const listed = await send({ method: 'GET', path: '/v1/keys', key, headers: { 'idempotency-key': 'two words' } });
      return keyListSchema.parse(JSON.parse(listed.text)).data.map(({ id }) => id);
    },
  };
}

const replayed = ({ headers }: Reply) => headers['idempotent-replayed'];

it('no key is made, rotated, revoked or restored with an idempotency key of another form', async () => {
  const { ask, id, keys } = await newAccount();
  const headers = { 'idempotency-key': 'two words' };
  expectRefusal(await ask('/v1/keys', headers, { name: 'another' }), refusal);
  for (const action of ['rotate', 'revoke', 'restore'])
    expectRefusal(await ask(`/v1/keys/${id}/${action}`, headers), refusal);
  expect(await keys()).toEqual([id]);
});

it('a key that is asked for twice is one key, and shown twice in the same bytes; it works', async () => {
  const { ask, keys } = await newAccount();
  const headers = { 'idempotency-key': newMarker() };
  const first = await ask('/v1/keys', headers, { name: 'another' });
  const again = await ask('/v1/keys', headers, { name: 'another' });
  expect([first.status, again.status, replayed(first), replayed(again)]).toEqual([200, 200, undefined, 'true']);
  expect(again.text).toBe(first.text);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  const issued = issuedKeySchema.parse(JSON.parse(first.text));
  expect(await keys()).toHaveLength(2);
  expect((await send({ method: 'GET', path: '/v1/models', key: issued.key })).status).toBe(200);
  const reused = await ask('/v1/keys', headers, { name: 'yet another' });
  expectRefusal(reused, invalid('idempotency_key_reused', 'Idempotency-Key'));
});

it('twenty that ask for a key at once get one', async () => {
  const { ask, keys } = await newAccount();
  const headers = { 'idempotency-key': newMarker() };
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask('/v1/keys', headers, { name: 'another' })));
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(replies.map(({ text }) => text))).toHaveLength(1);
  expect(replies.filter((reply) => replayed(reply) === undefined)).toHaveLength(1);
  expect(await keys()).toHaveLength(2);
});

it('a rotation that is sent twice is one, and its successor is shown again', async () => {
  const { ask, id, keys } = await newAccount();
  const headers = { 'idempotency-key': newMarker() };
  const rotate = () => ask(`/v1/keys/${id}/rotate`, headers, { scopes: ['gw:read'] });
  const [first, again] = [await rotate(), await rotate()];
  expect([first.status, again.text, replayed(again)]).toEqual([200, first.text, 'true']);
  expect(await keys()).toHaveLength(2);
});
