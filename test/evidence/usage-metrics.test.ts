/** The counters of usage, after calls through the gateway: what they rose by is what the receipts of the calls say. */

import type { Receipt } from '@gw/contract/receipt';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { afterAll, expect, test } from 'vitest';
import { accountOf } from '../limits/limited-call.ts';
import { messages, openAi, quick, stack } from '../sdk/gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';

const accounts = openTestAccounts();
afterAll(() => accounts.close());

test('what the counters rise by is what the receipts of the calls say', async () => {
  const key = await accounts.create();
  const client = openAi(key, { defaultHeaders: quick });
  const receiptOf = (reply: object): Receipt => receiptInReply.parse((reply as { gw: unknown }).gw);
  const receipts: Receipt[] = [];
  for (const model of ['sim-small', 'sim-measured', 'sim-small'])
    receipts.push(receiptOf(await client.chat.completions.create({ model, messages, max_tokens: 20 })));
  receipts.push(receiptOf(await client.embeddings.create({ model: 'sim-embed', input: 'Hi' })));
  const stream = await client.chat.completions.create({ model: 'sim-small', messages, stream: true });
  for await (const chunk of stream) if ('gw' in chunk) receipts.push(receiptOf(chunk));
  const ids = new Set(receipts.map(({ id }) => id));
  const own = receipts.filter(({ id }, at) => receipts.findIndex((other) => other.id === id) === at);
  const sumOf = (field: 'energy_wh' | 'carbon_g' | 'water_ml' | 'prompt_tokens' | 'completion_tokens') =>
    own.reduce((sum, receipt) => sum + (receipt[field] ?? 0), 0);
  const counted = async (name: string, type = ''): Promise<number> => {
    const text = await (await fetch(`${stack.healthUrls['receipt-sidecar']}/metrics`)).text();
    const series = new RegExp(`^${name}\\{account="${accountOf(key)}".*simulated="true"${type}.*\\} (\\S+)$`, 'gm');
    return [...text.matchAll(series)].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  await expect.poll(() => counted('gw_usage_calls_total'), { timeout: 10_000 }).toBe(ids.size);
  expect(await counted('gw_usage_energy_wh_total')).toBeCloseTo(sumOf('energy_wh'), 9);
  expect(await counted('gw_usage_carbon_grams_total')).toBeCloseTo(sumOf('carbon_g'), 9);
  expect(await counted('gw_usage_water_ml_total')).toBeCloseTo(sumOf('water_ml'), 9);
  expect(await counted('gw_usage_tokens_total', ',type="prompt"')).toBe(sumOf('prompt_tokens'));
  expect(await counted('gw_usage_tokens_total', ',type="completion"')).toBe(sumOf('completion_tokens'));
});
