/** How far `/v1/usage` is complete, while a call runs and after it. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { usageSchema } from '@gw/contract/usage';
import { timeOfReceipt } from '@gw/control-plane/internals/ledger/receipts/receipt-id';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { offerIn, withdraw } from '../catalogue/held-provider.ts';
import { collect, eventually, get, messages, openAi } from './gateway.ts';
import { accountsForFile } from './test-account.ts';

const [model, region] = ['complete-until/m', 'complete-until'];
const accounts = accountsForFile();

const chunk = (choices: object[]) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
let open: ServerResponse | null = null;
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk([{ index: 0, delta: { role: 'assistant', content: 'Sunny.' }, finish_reason: null }]));
  open = response;
});

beforeAll(async () => {
  await withdraw(model, [region]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await offerIn(model, [{ region, provider: { base_url }, deployment: {} }]);
});
afterAll(async () => {
  await withdraw(model, [region]);
  server.closeAllConnections();
  server.close();
});

test('it stays at the beginning of a call that runs, and passes it when the call is counted', async () => {
  const key = await accounts.create({ perS: 50 });
  const usage = async () => usageSchema.parse((await get('/v1/usage?interval=total&simulated=include', key)).body);
  const until = async () => Date.parse((await usage()).complete_until ?? '');
  const { data, response } = await eventually('a stream', () =>
    openAi(key, { defaultHeaders: {} })
      .chat.completions.create({ model, messages, stream: true })
      .withResponse()
      .catch(() => null),
  );
  const began = timeOfReceipt(response.headers.get('x-gw-receipt-id') ?? '')?.getTime() ?? 0;
  expect(began).toBeGreaterThan(0);
  await eventually('the call to be the oldest', async () => {
    const at = await until();
    expect(at).toBeLessThanOrEqual(began);
    return at === began || null;
  });
  const end = [{ index: 0, delta: {}, finish_reason: 'stop' }];
  open?.end(`${chunk(end)}data: [DONE]\n\n`);
  await collect(data);
  const { complete_until, total } = await eventually('the call to be counted', async () => {
    const answer = await usage();
    return Date.parse(answer.complete_until ?? '') > began ? answer : null;
  });
  expect([complete_until, total.requests]).toEqual([expect.any(String), 1]);
});
