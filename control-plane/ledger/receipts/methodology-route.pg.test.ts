import { createHash } from 'node:crypto';
import { defaultMethodology, methodologyIds, methodologyOf } from '@gw/methodology/methodologies';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf, type OwnStores, startOwnStores } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';

let stores: OwnStores;
let running: TestApp;
beforeAll(async () => {
  stores = await startOwnStores();
  running = await startTestApp(undefined, stores);
}, 120_000);
afterAll(() => running?.stop());

const read = (hash: string, headers = {}) => running.get(`/v1/gw/methodology/${hash}`, headers);
const sha256 = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

test('the hash of a receipt leads to the bytes that it is the hash of', async () => {
  const { hash, version } = methodologyOf(defaultMethodology);
  const entry = entryOf({ methodology: defaultMethodology, methodology_version: version, methodology_hash: hash });
  await running.store(entry);
  const receipt = (await running.get(`/v1/gw/receipts/${entry.receipt.id}`)).json();
  const reply = await read(receipt.methodology_hash);
  expect(reply.statusCode).toBe(200);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(sha256(reply.rawPayload)).toBe(receipt.methodology_hash);
  expect(reply.json()).toMatchObject({ id: receipt.methodology, version: receipt.methodology_version });
});

test.each(methodologyIds)(
  '%s is served for good: by its hash with and without the name of the function',
  async (id) => {
    const { hash } = methodologyOf(id);
    const digits = hash.slice('sha256:'.length);
    for (const name of [hash, digits, `sha256%3A${digits}`]) {
      const reply = await read(name);
      expect(sha256(reply.rawPayload)).toBe(hash);
      expect(reply.headers).toMatchObject({
        etag: `"${hash}"`,
        'cache-control': 'private, max-age=31536000, immutable',
      });
    }
  },
);

test('a client that holds it gets 304 and no body, one that holds another gets the document', async () => {
  const { hash } = methodologyOf('ecologits-0.11.3');
  for (const held of [`"${hash}"`, `W/"${hash}"`, `"other", "${hash}"`, '*']) {
    const reply = await read(hash, { 'if-none-match': held });
    expect([reply.statusCode, reply.body, reply.headers.etag]).toEqual([304, '', `"${hash}"`]);
  }
  const other = await read(hash, { 'if-none-match': `"${methodologyOf('gw-2.0').hash}"` });
  expect([other.statusCode, sha256(other.rawPayload)]).toEqual([200, hash]);
});

test('a hash that no methodology has, and what is no hash, is 404 and says so', async () => {
  const { hash } = methodologyOf('ecologits-0.11.3');
  const names = [
    `sha256:${'0'.repeat(64)}`,
    hash.slice(0, -1),
    hash.replace('sha256', 'sha512'),
    `sha256:${hash}`,
    'ecologits-0.11.3',
    '__proto__',
  ];
  for (const name of names) {
    const reply = await read(name);
    expect(reply.statusCode, name).toBe(404);
    expect(reply.json().error).toMatchObject({ code: 'methodology_not_found', param: 'methodology_hash' });
    expect(reply.headers).not.toHaveProperty('etag');
  }
});

test('it is answered while Postgres and Redis are away', async () => {
  const { hash } = methodologyOf(defaultMethodology);
  await stores.postgres.kill();
  await stores.stopRedis();
  expect(sha256((await read(hash)).rawPayload)).toBe(hash);
  await stores.startRedis();
  await stores.postgres.start();
});
