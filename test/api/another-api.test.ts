/** An API that the gateway has never heard of is one folder beside the others: planted, its calls pass through every part. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiptSchema } from '@gw/contract/receipt';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { plantApi } from './planted-checkout.ts';

/** This process knows nothing of the API. */
const plantedReceipt = receiptSchema.extend({ api: z.literal('telepathy') });

const effort = { heard: 5, thought: 3 };
const answer = 'Yes, I hear you.';
const event = (name: string, value: object) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;

/** The request that the provider received last. */
let asked: Record<string, unknown> = {};
let provider: Server;
let own: OwnGateway;
let planted: Awaited<ReturnType<typeof plantApi>>;

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    asked = { path: request.url, ...JSON.parse(Buffer.concat(chunks).toString()) };
    if (asked.stream !== true) {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ answer, effort }));
    }
    response.setHeader('content-type', 'text/event-stream');
    response.write(event('thought', { answer: 'Yes, ' }) + event('thought', { answer: 'I hear you.' }));
    response.end(event('silence', { effort }));
  }).listen(0, '127.0.0.1');
  const module = inCheckout('test', 'api', 'telepathy.ts');
  planted = await plantApi({ path: '/v1/telepathy', module, shape: 'telepathy' });
  const speaks = /^(?:envoy|ext-authz|receipt-sidecar)/;
  own = await startOwnGateway({ checkoutOf: (part) => (speaks.test(part) ? planted.dir : checkout) });
  const operator = apiOf(own.stack);
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const facts = { owned_by: 't', kind: 'chat', active_parameters_b: 8, total_parameters_b: 8, model_class: 'small' };
  const site = { provider: 'medium', region: 'us-east', models: { 'medium/m': 'inner' }, pue: 1.1 };
  await operator.send('POST', '/operator/v1/providers', {
    id: 'medium',
    name: 'Medium',
    kind: 'openai',
    base_url: url,
  });
  await operator.send('POST', '/operator/v1/models', { id: 'medium/m', ...facts });
  await operator.send('POST', '/operator/v1/deployments', { id: 'medium', ...site });
  await vi.waitUntil(async () => (await think({})).status === 200, { timeout: 20_000, interval: 200 });
});
afterAll(async () => {
  await own?.stop();
  provider?.close();
  planted?.remove();
});

const think = (fields: object) =>
  fetch(`${own.stack.publicUrl}/v1/telepathy`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.stack.keys.enterprise}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'medium/m', thought: 'Do you hear me?', ...fields }),
  });

const counts = { prompt_tokens: 5, completion_tokens: 3, usage_source: 'provider', status: 'complete' };

test('a reply in its own words carries a receipt of what the provider counted, and the ledger has it', async () => {
  const reply = await think({ gw: { boundary: 'narrow' } });
  const { gw, routing_trace: trace, ...rest } = (await reply.json()) as Record<string, unknown>;
  expect(rest).toEqual({ answer, effort });
  const receipt = plantedReceipt.parse(gw);
  expect(receipt).toMatchObject({ ...counts, boundary: 'narrow', tier: 'parametric' });
  expect(trace).toMatchObject({ region: 'us-east' });
  // A path of the provider's own, its own name of the model, and nothing that belongs to the gateway.
  expect(asked).toEqual({ path: '/v1/telepathy', model: 'inner', thought: 'Do you hear me?' });
  const stored = await own.ledger.receipts([receipt.id]);
  expect(stored.get(receipt.id)).toEqual(gw);
});

test('a stream keeps its named events, and the last of them carries the receipt', async () => {
  const reply = await think({ stream: true });
  const text = await reply.text();
  const [first, second, last, rest] = text.split('\n\n');
  expect([first, second]).toEqual([
    'event: thought\ndata: {"answer":"Yes, "}',
    'event: thought\ndata: {"answer":"I hear you."}',
  ]);
  expect(last).toMatch(/^event: silence\ndata: \{"effort":\{"heard":5,"thought":3\},"gw":/);
  expect(rest).toBe('');
  const { gw } = JSON.parse((last ?? '').split('data: ')[1] ?? '');
  expect(plantedReceipt.parse(gw)).toMatchObject(counts);
  expect(asked).toMatchObject({ stream: true, with_effort: true });
});

test('its requests are validated and screened as any other, in its own words', async () => {
  const refused = async (fields: object) => {
    const reply = await think(fields);
    return { status: reply.status, ...((await reply.json()) as { error: object }).error };
  };
  expect(await refused({ thought: 1 })).toMatchObject({ status: 400, param: 'thought' });
  expect(await refused({ thought: '' })).toMatchObject({ status: 400, code: 'invalid_thought' });
  expect(await refused({ base_url: 'http://127.0.0.1/' })).toMatchObject({ code: 'unsupported_field' });
});
