/** The receipt of a reply is the one that the ledger keeps, from the first moment on and for good. */
import { receiptListSchema } from '@gw/contract/catalogue';
import { receiptKey } from '@gw/contract/internal/redis';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { describe, expect, test } from 'vitest';
import { collect, eventually, get, messages, openAi, quick, receiptOf } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();
const { redis } = accounts;

type Call = (key: string) => Promise<unknown>;
const chat = { model: 'sim-small', messages };
const lastChunk = async <T>(stream: AsyncIterable<T>) => (await collect(stream)).at(-1);

const calls: readonly (readonly [string, Call])[] = [
  ['a chat completion', (key) => openAi(key).chat.completions.create(chat)],
  ['a legacy completion', (key) => openAi(key).completions.create({ model: 'sim-large', prompt: 'Once' })],
  ['an embedding', (key) => openAi(key).embeddings.create({ model: 'sim-embed', input: 'One' })],
  [
    'a narrow receipt',
    (key) => {
      const request = { ...chat, gw: { boundary: 'narrow' as const } };
      return openAi(key).chat.completions.create(request);
    },
  ],
  ['a stream', async (key) => lastChunk(await openAi(key).chat.completions.create({ ...chat, stream: true }))],
  [
    'a stream with usage',
    async (key) => {
      const request = { ...chat, stream: true as const, stream_options: { include_usage: true } };
      return lastChunk(await openAi(key).chat.completions.create(request));
    },
  ],
  [
    'a stream of a legacy completion',
    async (key) => {
      const request = { model: 'sim-small', prompt: 'Once', stream: true as const };
      return lastChunk(await openAi(key).completions.create(request));
    },
  ],
  [
    'a degraded receipt',
    (key) => {
      const headers = { ...quick, 'x-sim-usage': '{"prompt_tokens":1e15,"completion_tokens":1}' };
      return openAi(key).chat.completions.create(chat, { headers });
    },
  ],
];

const path = (id: string): string => `/v1/gw/receipts/${id}`;

/** Redis may have let it go already, since Postgres has it. */
const forget = (id: string): Promise<number> => redis.del(receiptKey(id));

/** From the list, which Postgres alone answers. */
const ingested = (key: string, id: string): Promise<Receipt> =>
  eventually(`the ingestion of ${id}`, async () => {
    const { body } = await get('/v1/gw/receipts?limit=5', key);
    return receiptListSchema.parse(body).data.find((receipt) => receipt.id === id);
  });

describe.each(calls)('the receipt of %s', (_, call) => {
  test('is read by its id at once, from the ledger once it is ingested, and from Postgres when Redis has let it go', async () => {
    const key = await accounts.create();
    const seen = receiptOf(await call(key));
    const atOnce = await get(path(seen.id), key);
    expect(atOnce.status).toBe(200);
    expect(receiptSchema.parse(atOnce.body)).toEqual(seen);
    expect(await ingested(key, seen.id)).toEqual(seen);
    await forget(seen.id);
    const stored = await get(path(seen.id), key);
    expect(stored.status).toBe(200);
    expect(stored.text).toBe(atOnce.text);
    expect((await get(`${path(seen.id)}?version=1`, key)).body).toEqual(seen);
    expect((await get(`${path(seen.id)}?version=2`, key)).status).toBe(404);
  });

  test('is not there for another account, whether Redis or Postgres has it', async () => {
    const [mine, theirs] = [await accounts.create(), await accounts.create()];
    const { id } = receiptOf(await call(mine));
    const refused = { error: expect.objectContaining({ code: 'receipt_not_found', param: 'receipt_id' }) };
    expect(await get(path(id), theirs)).toMatchObject({ status: 404, body: refused });
    await ingested(mine, id);
    await forget(id);
    expect(await get(path(id), theirs)).toMatchObject({ status: 404, body: refused });
    expect((await get(path(id), mine)).status).toBe(200);
  });
});

test('the id of a receipt holds the time of its call', async () => {
  const before = Date.now();
  const { id, created_at: createdAt } = receiptOf(await openAi().chat.completions.create(chat));
  expect(Number.parseInt(id.replace('rcpt_', '').replace('-', '').slice(0, 12), 16)).toBe(Date.parse(createdAt));
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
});
