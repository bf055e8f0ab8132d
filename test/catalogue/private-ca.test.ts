/** A provider behind https with a CA of its own: it is asked where its certificate comes from that CA, and never otherwise. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { apiOf } from '../operator-api.ts';
import { collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, withdraw } from './held-provider.ts';

const [model, region] = ['private-ca/m', 'private-ca'];
const [own, another] = [makeCertificate('own'), makeCertificate('another')];
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = () => client.chat.completions.create({ model, messages });

let asked = 0;
const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
  let text = '';
  request.on('data', (piece) => {
    text += piece;
  });
  request.on('end', () => {
    asked += 1;
    answerChat(response, JSON.parse(text), 'Sunny.');
  });
});
const trust = (ca: string) => apiOf(stack).send('PATCH', `/operator/v1/providers/${region}`, { ca });

beforeAll(async () => {
  await withdraw(model, [region]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await offerIn(model, [{ region, provider: { base_url, ca: own.certificate }, deployment: {} }]);
  await eventually('an answer', () => chat().catch(() => null));
});
afterAll(async () => {
  await withdraw(model, [region]);
  server.closeAllConnections();
  server.close();
});

test('JSON and streams come from it, with receipts', async () => {
  const reply = await chat();
  expect(reply.choices[0]?.message.content).toBe('Sunny.');
  expect(receiptOf(reply)).toMatchObject({ status: 'complete', region });
  const chunks = await collect(await client.chat.completions.create({ model, messages, stream: true }));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Sunny.');
  expect(receiptOf(chunks.at(-1))).toMatchObject({ status: 'complete', region });
});

test('another CA ends that, and the right one begins it again', async () => {
  await trust(another.certificate);
  await eventually('a refusal', () =>
    chat().then(
      () => null,
      (error: unknown) => error ?? null,
    ),
  );
  server.closeAllConnections();
  asked = 0;
  await expect(chat()).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
  expect(asked).toBe(0);
  await trust(own.certificate);
  await eventually('an answer', () => chat().catch(() => null));
});
