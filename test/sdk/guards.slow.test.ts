/** Idempotency keys, limits, slots of streams, budgets and late cancels hold for each API, whether its calls are translated or not. */
import { randomUUID } from 'node:crypto';
import { defined } from '@gw/contract/internal/defined';
import { slotsKey } from '@gw/contract/internal/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBudget, removeBudget, setBudget } from '../budgets/spend.ts';
import { apiOf } from '../operator-api.ts';
import { finishedReceipt, quick, stack } from './gateway.ts';
import { accountsForFile } from './test-account.ts';
import {
  addProviders,
  apis,
  clients,
  codeOf,
  modelBehind,
  removeProviders,
  send as sendTo,
} from './translated-clients.ts';

const accounts = accountsForFile();
const api = apiOf(stack);
beforeAll(() => addProviders());
afterAll(() => removeProviders());

const accountOf = (key: string): string => `acct_test_${key.split('_')[1]}`;
const thrown = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    (error: unknown) => error as Error,
  );
/** One token a second: it is open until somebody ends it. */
const endless = { 'x-sim-tokens': '10000', 'x-sim-tokens-per-second': '1' };

describe.each(apis.flatMap((from) => apis.map((to) => [from, to] as const)))('%s at a provider of %s', (from, to) => {
  const client = clients[from];
  const model = modelBehind(to);
  const send = (fields: object, headers: Record<string, string>, key?: string) =>
    sendTo(stack, from, { model, tools: true, headers }, { fields, ...(key && { key }) });

  test.each([{}, { stream: true }])('replays a reply of an idempotency key byte by byte: %j', async (fields) => {
    const headers = { 'idempotency-key': randomUUID(), ...quick };
    const call = async () => {
      const reply = await send(fields, headers);
      return { status: reply.status, text: await reply.text(), replayed: reply.headers.get('idempotent-replayed') };
    };
    const first = await call();
    expect([first.status, first.replayed]).toEqual([200, null]);
    expect(await call()).toEqual({ ...first, replayed: 'true' });
    const other = await send({ ...fields, temperature: 0.5 }, headers);
    expect([other.status, await other.text()]).toEqual([400, expect.stringContaining('idempotency_key_reused')]);
  });

  test('has one receipt of what was said where the client goes amid its stream', async () => {
    const pace = { 'x-sim-tokens': '400', 'x-sim-tokens-per-second': '100' };
    const reply = await send(
      { ...client.body({ model }), tools: undefined, tool_choice: undefined, stream: true },
      pace,
    );
    const reader = defined(reply.body, 'A body').getReader();
    let read = '';
    while (!read.includes('This')) read += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    const receipt = await finishedReceipt(String(reply.headers.get('x-gw-receipt-id')));
    expect(receipt).toMatchObject({ status: 'client_aborted', model, usage_source: 'estimated' });
    expect(receipt.completion_tokens).toBeGreaterThan(0);
    expect(receipt.completion_tokens).toBeLessThan(100);
  });

  test('has as many streams open as were agreed, and one more once one has ended', async () => {
    const key = await accounts.create({ streams: 1 });
    const first = await send({ stream: true }, endless, key);
    expect(first.status).toBe(200);
    const error = await thrown(client.stream({ model }, key));
    expect([error?.constructor.name, codeOf(error)]).toEqual(['RateLimitError', 'concurrent_streams_exceeded']);
    await first.body?.cancel();
    await expect.poll(() => accounts.redis.zcard(slotsKey(accountOf(key))), { timeout: 10_000 }).toBe(0);
    expect((await client.stream({ model }, key)).end).toBe('end');
  });

  test('is refused above the limit of calls', async () => {
    const key = await accounts.create({ perDay: 1 });
    expect((await client.ask({ model }, key)).end).toBe('end');
    const error = await thrown(client.ask({ model }, key));
    expect([error?.constructor.name, codeOf(error)]).toEqual(['RateLimitError', 'daily_budget_exceeded']);
  });

  test('counts what it has used against a budget, as JSON and as a stream, and is refused above it', async () => {
    const key = await accounts.create();
    const account = accountOf(key);
    const { id } = await setBudget(api, account, 100_000);
    const used = [await client.ask({ model, max: 50 }, key), await client.stream({ model, max: 50 }, key)];
    const tokens = used.reduce((sum, { usage }) => sum + usage.prompt + usage.completion, 0);
    await expect.poll(() => readBudget(api, account, id)).toMatchObject({ used: tokens, reserved: 0 });
    await removeBudget(api, account, id);
    const small = await setBudget(api, account, 1);
    const refused = async () => {
      const error = await thrown(client.ask({ model, max: 50 }, key));
      return [error?.constructor.name, codeOf(error)];
    };
    await expect.poll(refused).toEqual(['RateLimitError', 'token_budget_exceeded']);
    await removeBudget(api, account, small.id);
  });
});
