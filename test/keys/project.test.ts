/** Calls are charged to the project of their key or to their own, through the whole gateway. */

import { issuedKeySchema } from '@gw/contract/keys';
import type { Receipt } from '@gw/contract/receipt';
import { type UsageRow, usageSchema } from '@gw/contract/usage';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { expect, test } from 'vitest';
import { gw } from '../cli/gateway-of-its-own.ts';
import { accountOf, idOf } from '../limits/limited-call.ts';
import { apiOf, operatorVariables } from '../operator-api.ts';
import { messages, openAi, quick, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();
const operators = apiOf(stack);

const chat = { model: 'sim-small', messages, max_tokens: 5 };
const receiptOf = (reply: object): Receipt => receiptInReply.parse((reply as { gw: unknown }).gw);
const keyPath = (key: string) => `/operator/v1/accounts/${accountOf(key)}/keys/${idOf(key)}`;

test('a call is charged to what it names in its metadata, on each endpoint, and in its ledger and sums', async () => {
  const key = await accounts.create();
  const client = openAi(key, { defaultHeaders: quick });
  const metadata = { project: 'Köln 1', ticket: '7' };
  const replies = [
    await client.chat.completions.create({ ...chat, metadata }),
    await client.completions.create({ model: 'sim-small', prompt: 'Hi', max_tokens: 5, metadata } as never),
    await client.embeddings.create({ model: 'sim-embed', input: 'Hi', metadata } as never),
  ].map(receiptOf);
  expect(replies.map(({ project }) => project)).toEqual(['Köln 1', 'Köln 1', 'Köln 1']);
  const stream = await client.chat.completions.create({ ...chat, metadata, stream: true });
  const streamed: Receipt[] = [];
  for await (const chunk of stream) if ('gw' in chunk) streamed.push(receiptOf(chunk));
  expect(streamed[0]?.project).toBe('Köln 1');
  expect(receiptOf(await client.chat.completions.create(chat)).project).toBeNull();
  const headers = { authorization: `Bearer ${key}` };
  const read = async (path: string) => (await fetch(`${stack.publicUrl}${path}`, { headers })).json();
  const listed = async () =>
    ((await read('/v1/gw/receipts?project=K%C3%B6ln%201')) as { data: Receipt[] }).data.map(({ id }) => id).sort();
  await expect
    .poll(listed, { timeout: 20_000 })
    .toEqual([...replies, ...streamed.slice(0, 1)].map(({ id }) => id).sort());
  const rows = async () =>
    usageSchema
      .parse(await read('/v1/usage?interval=total&group_by=project'))
      .data.map(({ project, requests }: UsageRow) => [project, requests]);
  await expect.poll(rows, { timeout: 20_000 }).toEqual([
    ['Köln 1', 4],
    [null, 1],
  ]);
});

test('a key that is for a project charges that one, whatever its calls name, a second after it was told so', async () => {
  const key = await accounts.create();
  const client = openAi(key, { defaultHeaders: quick });
  const charged = async (metadata?: Record<string, string>) =>
    receiptOf(await client.chat.completions.create({ ...chat, ...(metadata && { metadata }) })).project;
  expect(await charged({ project: 'named' })).toBe('named');
  await operators.send('PATCH', keyPath(key), { project: 'of the key' });
  await expect.poll(() => charged({ project: 'named' }), { timeout: 1000 }).toBe('of the key');
  expect(await charged()).toBe('of the key');
  await operators.send('PATCH', keyPath(key), { project: null });
  await expect.poll(() => charged({ project: 'named' }), { timeout: 1000 }).toBe('named');
});

test('the shell issues keys for a project and changes it', async () => {
  const key = await accounts.create();
  const keys = async (...args: string[]): Promise<unknown> => {
    const { code, err, out } = await gw(['admin', 'keys', ...args, '--json'], {
      ...process.env,
      ...operatorVariables(stack),
    });
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  };
  const issued = issuedKeySchema.parse(await keys('create', accountOf(key), '--name', 'k', '--project', 'Köln 1'));
  expect(issued.project).toBe('Köln 1');
  expect(await keys('change', accountOf(key), issued.id, '--project', 'two')).toMatchObject({ project: 'two' });
  expect(await keys('change', accountOf(key), issued.id, '--project', 'none')).toMatchObject({ project: null });
});
