/** The ledger of an account page by page, and what its usage adds up to. */
import { receiptListSchema } from '@gw/contract/catalogue';
import type { Receipt } from '@gw/contract/receipt';
import { usageSchema } from '@gw/contract/usage';
import { beforeAll, expect, test } from 'vitest';
import { collect, eventually, get, openAi, quick, receiptOf } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();
let key: string;
/** In the order in which they were made. */
const made: Receipt[] = [];

const page = async (query: string, of: string = key) =>
  receiptListSchema.parse((await get(`/v1/gw/receipts?${query}`, of)).body);
const ids = (receipts: readonly Receipt[]): string[] => receipts.map((receipt) => receipt.id);

beforeAll(async () => {
  key = await accounts.create();
  const client = openAi(key);
  const chat = (content: string) => ({ model: 'sim-small', messages: [{ role: 'user' as const, content }] });
  const inRegion = { ...chat('one'), gw: { region: 'eu-west' } };
  const degraded = { headers: { ...quick, 'x-sim-usage': '{"prompt_tokens":1e15,"completion_tokens":1}' } };
  made.push(receiptOf(await client.chat.completions.create(inRegion)));
  made.push(receiptOf(await client.completions.create({ model: 'sim-large', prompt: 'two' })));
  made.push(receiptOf(await client.embeddings.create({ model: 'sim-embed', input: 'three' })));
  made.push(receiptOf((await collect(await client.chat.completions.create({ ...chat('four'), stream: true }))).at(-1)));
  made.push(receiptOf(await client.chat.completions.create(chat('five'), degraded)));
  await eventually('the ingestion of five receipts', async () => ((await page('')).data.length === 5 ? true : null));
});

test('the newest come first, and order turns the list round', async () => {
  const newestFirst = await page('');
  expect(newestFirst.data).toEqual(made.toReversed());
  expect(newestFirst).toMatchObject({ has_more: false, first_id: made[4]?.id, last_id: made[0]?.id });
  expect((await page('order=asc')).data).toEqual(made);
});

test.each(['asc', 'desc'])('pages of two, %s, hold every receipt once', async (order) => {
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const {
      data,
      has_more: hasMore,
      last_id: last,
    } = await page(`limit=2&order=${order}${after === null ? '' : `&after=${after}`}`);
    seen.push(...ids(data));
    sizes.push(data.length);
    after = last;
    more = hasMore;
  }
  expect(sizes).toEqual([2, 2, 1]);
  expect(seen).toEqual(order === 'asc' ? ids(made) : ids(made).toReversed());
});

test('a page after the last receipt is empty', async () => {
  const empty = await page(`order=asc&after=${made[4]?.id}`);
  expect(empty).toEqual({ object: 'list', data: [], has_more: false, first_id: null, last_id: null });
});

test('the list can be narrowed to a model or a region', async () => {
  expect(ids((await page('model=sim-small&order=asc')).data)).toEqual([made[0], made[3], made[4]].map((r) => r?.id));
  expect(ids((await page('region=eu-west')).data)).toContain(made[0]?.id);
  expect((await page('model=sim-none')).data).toEqual([]);
});

test("another account sees none of it, not even by this account's cursor", async () => {
  const other = await accounts.create();
  expect((await page('', other)).data).toEqual([]);
  expect((await page(`order=asc&after=${made[0]?.id}`, other)).data).toEqual([]);
  expect(usageSchema.parse((await get('/v1/usage', other)).body).data).toEqual([]);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=ten', 'limit'],
  ['order=up', 'order'],
  ['after=rcpt_1', 'after'],
  ['version=2', 'version'],
])('a wrong question is refused by name: %s', async (query, param) => {
  expect(await get(`/v1/gw/receipts?${query}`, key)).toMatchObject({
    status: 400,
    body: { error: { type: 'validation_error', code: `invalid_${param}`, param } },
  });
});

const total = (receipts: readonly Receipt[], field: 'energy_wh' | 'carbon_g' | 'prompt_tokens' | 'completion_tokens') =>
  receipts.reduce((sum, receipt) => sum + (receipt[field] ?? 0), 0);

test('usage is the sum of the receipts, by day and model', async () => {
  const usage = usageSchema.parse((await get('/v1/usage', key)).body);
  const rowOf = (receipt: Receipt) => `${receipt.created_at.slice(0, 10)} ${receipt.model}`;
  expect(usage.data.map((row) => `${row.date} ${row.model}`)).toEqual([...new Set(made.map(rowOf))].sort());
  for (const row of usage.data) {
    const receipts = made.filter((receipt) => rowOf(receipt) === `${row.date} ${row.model}`);
    expect(row).toMatchObject({
      requests: receipts.length,
      requests_degraded: receipts.filter((receipt) => receipt.tier === 'degraded').length,
      prompt_tokens: total(receipts, 'prompt_tokens'),
      completion_tokens: total(receipts, 'completion_tokens'),
    });
    expect(row.energy_wh).toBeCloseTo(total(receipts, 'energy_wh'), 12);
    expect(row.carbon_g).toBeCloseTo(total(receipts, 'carbon_g'), 12);
  }
});

test('without any restatement the ledger and usage are the same as issued', async () => {
  for (const path of ['/v1/gw/receipts', '/v1/usage']) {
    const [issued, restated] = [await get(`${path}?version=issued`, key), await get(`${path}?version=restated`, key)];
    expect(issued.body).toMatchObject({ data: (restated.body as { data: unknown[] }).data });
  }
});

test('usage can be cut to a half-open time, at a receipt', async () => {
  const [, , third, , fifth] = made;
  const query = `from=${third?.created_at}&to=${fifth?.created_at}`;
  const { data } = usageSchema.parse((await get(`/v1/usage?${query}`, key)).body);
  expect(data.map((row) => [row.model, row.requests])).toEqual([
    ['sim-embed', 1],
    ['sim-small', 1],
  ]);
});
