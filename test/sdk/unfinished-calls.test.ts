/** Calls that are under way, or that somebody broke off: each has a receipt that says so. */
import { randomUUID } from 'node:crypto';
import { receiptListSchema } from '@gw/contract/catalogue';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { verify } from '@gw/methodology/recompute';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { collect, eventually, finishedReceipt, get, messages, openAi, receiptOf, stack } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const accounts = accountsForFile();

/** A stream and its receipt id, which is in the headers from the start. */
async function openStream(headers: Record<string, string>, key?: string) {
  const request = { model: 'sim-small', messages, stream: true as const };
  const opened = await openAi(key).chat.completions.create(request, { headers }).withResponse();
  return { stream: opened.data, id: opened.response.headers.get('x-gw-receipt-id') ?? '' };
}

const countSchema = z.object({ count: z.number(), open: z.number() });

async function atProvider(marker: string) {
  const response = await fetch(`${stack.simulatorUrl}/sim/count?marker=${marker}`);
  return countSchema.parse(await response.json());
}

/** The provider does not go on for a client that is no longer there. */
const providerIsDone = (marker: string): Promise<true> =>
  eventually('the end at the provider', async () => ((await atProvider(marker)).open === 0 ? true : null));

/** Not every provider stops when its connection is closed: receipt and lineage say so, and agree. */
async function expectLowerBound(receipt: Receipt): Promise<void> {
  expect(receipt.boundary_excludes).toContain('undelivered_output');
  expect(receipt.tier_reason).toContain('lower bounds');
  const { lineage } = z.object({ lineage: z.any() }).parse((await get(`/v1/gw/lineage/${receipt.id}`)).body);
  expect(verify(lineage, receipt)).toMatchObject({ ok: true });
  expect(lineage.boundary_excludes).toContain('undelivered_output');
}

const onlyReceipt = (key: string): Promise<Receipt> =>
  eventually('the receipt of the only call', async () => {
    const { body } = await get('/v1/gw/receipts', key);
    const { data } = receiptListSchema.parse(body);
    expect(data.length).toBeLessThanOrEqual(1);
    return data[0];
  });

test('while a stream runs its receipt is pending with 202, and afterwards it is what the stream said', async () => {
  const marker = randomUUID();
  const held = { 'x-sim-tokens': '30', 'x-sim-tokens-per-second': '0', 'x-sim-hold': 'middle', 'x-sim-marker': marker };
  const { stream, id } = await openStream(held);
  let last: unknown;
  let during: Awaited<ReturnType<typeof get>> | null = null;
  for await (const chunk of stream) {
    if (during === null) {
      during = await get(`/v1/gw/receipts/${id}`);
      await fetch(`${stack.simulatorUrl}/sim/release?marker=${marker}`);
    }
    last = chunk;
  }
  expect(during?.status).toBe(202);
  expect(receiptSchema.parse(during?.body)).toMatchObject({ id, status: 'pending', energy_wh: null });
  const after = await get(`/v1/gw/receipts/${id}`);
  expect(after.status).toBe(200);
  expect(after.body).toEqual(receiptOf(last));
  expect(after.body).toMatchObject({ id, status: 'complete', completion_tokens: 30 });
  expect(receiptSchema.parse(after.body).boundary_excludes).not.toContain('undelivered_output');
});

/** A stream of each API, and where its events have the text. */
const streams = [
  ['/v1/chat/completions', { messages }, /"delta":\{"content":"(.+?)"\}/],
  ['/v1/responses', { input: 'Hello' }, /"response\.output_text\.delta".*?"delta":"(.+?)"/],
  ['/v1/messages', { messages, max_tokens: 4000 }, /"text_delta","text":"(.+?)"/],
] as const;

test.each(streams)(
  'a client that leaves a stream of %s is charged for what it was sent, as an estimate',
  async (path, fields, text) => {
    const marker = randomUUID();
    const leaving = new AbortController();
    const reply = await fetch(`${stack.publicUrl}${path}`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${stack.keys.auditPlus}`,
        'content-type': 'application/json',
        'x-sim-tokens': '2000',
        'x-sim-tokens-per-second': '50',
        'x-sim-marker': marker,
      },
      body: JSON.stringify({ model: 'sim-small', stream: true, ...fields }),
    });
    const id = reply.headers.get('x-gw-receipt-id') ?? '';
    let read = '';
    const said = () => [...read.matchAll(new RegExp(text, 'g'))].map(([, words = '']) => words);
    for await (const bytes of reply.body ?? []) {
      read += Buffer.from(bytes).toString();
      if (said().length >= 10) break;
    }
    leaving.abort();
    const receipt = await finishedReceipt(id, stack.keys.auditPlus);
    expect(receipt).toMatchObject({ status: 'client_aborted', usage_source: 'estimated', tier: 'parametric' });
    expect(receipt.completion_tokens).toBeGreaterThanOrEqual(Math.ceil(Buffer.byteLength(said().join('')) / 4));
    expect(receipt.completion_tokens).toBeLessThan(1000);
    expect(receipt.prompt_tokens).toBeGreaterThan(0);
    expect(receipt.energy_wh).toBeGreaterThan(0);
    await expectLowerBound(receipt);
    await providerIsDone(marker);
  },
);

test('a provider that cuts a stream leaves a broken stream and a receipt of what came', async () => {
  const { stream, id } = await openStream({
    'x-sim-tokens': '40',
    'x-sim-tokens-per-second': '200',
    'x-sim-fault': 'cut',
  });
  let [seen, bytes] = [0, 0];
  const reading = async () => {
    for await (const { choices } of stream) {
      const content = choices[0]?.delta.content ?? '';
      if (content) seen += 1;
      bytes += Buffer.byteLength(content);
    }
  };
  await expect(reading()).rejects.toThrow();
  // The provider sent 20 of 40. What travels at the moment of the cut may be counted and still not arrive.
  expect(seen).toBeGreaterThan(10);
  const receipt = await finishedReceipt(id);
  expect(receipt).toMatchObject({ status: 'upstream_error', usage_source: 'estimated', tier: 'parametric' });
  expect(receipt.completion_tokens).toBeGreaterThanOrEqual(Math.ceil(bytes / 4));
  expect(receipt.completion_tokens).toBeLessThanOrEqual(Math.ceil((bytes * 20) / seen / 2));
  expect(receipt.energy_wh).toBeGreaterThan(0);
  await expectLowerBound(receipt);
});

test('a provider that reports an error inside a stream leaves a receipt of what came', async () => {
  const { stream, id } = await openStream({
    'x-sim-tokens': '10',
    'x-sim-tokens-per-second': '0',
    'x-sim-fault': 'error-event',
  });
  await expect(collect(stream)).rejects.toBeInstanceOf(OpenAI.APIError);
  const receipt = await finishedReceipt(id);
  expect(receipt).toMatchObject({ status: 'upstream_error', usage_source: 'estimated' });
  // Five words.
  expect(receipt.completion_tokens).toBeGreaterThanOrEqual(5);
  expect(receipt.completion_tokens).toBeLessThanOrEqual(15);
});

test('an abandoned JSON call has a degraded receipt, since nobody knows what was generated', async () => {
  const key = await accounts.create();
  const marker = randomUUID();
  const leaving = new AbortController();
  const headers = { 'x-sim-delay-ms': '60000', 'x-sim-marker': marker };
  const call = openAi(key)
    .chat.completions.create({ model: 'sim-small', messages }, { headers, signal: leaving.signal })
    .catch((error: unknown) => error);
  await eventually('the call at the provider', async () => ((await atProvider(marker)).open === 1 ? true : null));
  leaving.abort();
  expect(await call).toBeInstanceOf(OpenAI.APIUserAbortError);
  expect(await onlyReceipt(key)).toMatchObject({
    status: 'client_aborted',
    tier: 'degraded',
    degraded_reason: 'client_aborted_unmeasured',
    energy_wh: null,
    usage_source: null,
  });
  await providerIsDone(marker);
});

test('a JSON call that the provider failed has a degraded receipt under the id that the error came with', async () => {
  const headers = { 'x-sim-fault': 'status-500' };
  const failed = await openAi()
    .chat.completions.create({ model: 'sim-small', messages }, { headers })
    .catch((error: unknown) => error);
  if (!(failed instanceof OpenAI.InternalServerError)) throw failed;
  expect(await finishedReceipt(failed.headers?.get('x-gw-receipt-id') ?? '')).toMatchObject({
    status: 'upstream_error',
    tier: 'degraded',
    degraded_reason: 'upstream_error_unmeasured',
    request_id: failed.requestID,
  });
});

test('a call that was refused before it reached a provider has no receipt', async () => {
  const key = await accounts.create();
  const refused = { model: 'sim-small', messages, temperature: 9 };
  await expect(openAi(key).chat.completions.create(refused)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  const reply = await openAi(key).chat.completions.create({ model: 'sim-small', messages });
  expect((await onlyReceipt(key)).id).toBe(receiptOf(reply).id);
});
