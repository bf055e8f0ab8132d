/** A running gateway does what docs/budgets.md, docs/api.md and OpenAPI say of budgets, and official clients can read it. */
import { readFileSync } from 'node:fs';
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import { inCheckout } from '@gw/stack/checkout';
import { hearCommands } from '@gw/testing/commands';
import { Redis } from 'ioredis';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { run } from '../cli/gateway-of-its-own.ts';
import { apiOf, operatorVariables, removeEntries } from '../operator-api.ts';
import { collect, messages, openAi, stack } from '../sdk/gateway.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';

const page = readFileSync(inCheckout('docs/budgets.md'), 'utf8');
const blocks = [...page.matchAll(/(?:^ {4}\S.*\n)+/gm)].map(([text]) => text.replace(/^ {4}/gm, ''));
const blockWith = (marker: string): string => {
  const found = blocks.find((text) => text.includes(marker));
  if (found === undefined) throw new Error(`docs/budgets.md shows nothing with ${marker}.`);
  return found;
};

const header = 'x-gw-budget';
let api: OperatorApi;
let accounts: TestAccounts;
let apiKey: string;
let client: OpenAI;
beforeAll(() => {
  api = apiOf(stack);
  accounts = openTestAccounts(stack);
});
afterAll(() => accounts.close());
/** Each test has an account of its own. */
beforeEach(async () => {
  apiKey = await accounts.create();
  client = openAi(apiKey);
});

const accountId = () => `acct_test_${apiKey.split('_')[1]}`;
const path = () => `/operator/v1/accounts/${accountId()}/budgets`;
const set = (unit: string, amount: number, kind: string) =>
  api.send('POST', path(), { scope: 'account', unit, amount, kind });
const remove = async () => {
  const { data } = (await api.get(path())) as { readonly data: readonly { readonly id: string }[] };
  await removeEntries(api, ...data.map(({ id }) => `accounts/${accountId()}/budgets/${id}`));
};
afterEach(remove);

const chat = { model: 'sim-small', messages, max_tokens: 50 };
const asked = (fields: object = {}) => client.chat.completions.create({ ...chat, ...fields }).withResponse();
/** The schema of the header in OpenAPI. */
async function documented() {
  const { components, paths } = (await (await fetch(`${stack.publicUrl}/openapi.json`)).json()) as {
    components: {
      headers: Record<string, { schema: { pattern: string } }>;
      responses: Record<string, { headers: object }>;
    };
    paths: Record<string, Record<string, { responses: Record<string, { headers: object }> }>>;
  };
  const pattern = new RegExp(components.headers[header]?.schema.pattern ?? '^nothing$');
  return { components, paths, pattern };
}

test('the commands of the documentation set, show, change and remove budgets, and set, show and remove a webhook', async () => {
  const commands = blocks
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('./gw admin budgets'));
  expect(commands).toHaveLength(8);
  const env = { ...process.env, ...operatorVariables(stack) };
  let id = '';
  for (const command of commands) {
    const words = command.replace('acct_demo_audit', accountId()).replace('bud_…', id);
    const { code, err, out } = await run('sh', ['-c', words.replace('https://example.com', 'http://127.0.0.1:9')], env);
    expect([command, code, err]).toEqual([command, 0, '']);
    id ||= /bud_[\w-]+/.exec(out)?.[0] ?? '';
  }
  const { data } = (await api.get(path())) as { readonly data: readonly object[] };
  expect(data).toMatchObject([{ scope: 'project', name: 'chatbot', unit: 'tokens', amount: 1_000_000, kind: 'soft' }]);
}, 240_000);

test('the header of the documentation has the grammar of OpenAPI, and so has what official clients read, of JSON and of streams', async () => {
  const { pattern } = await documented();
  const [, shown = ''] = /^x-gw-budget: (.*)$/m.exec(blockWith('x-gw-budget: ')) ?? [];
  expect(shown).toMatch(pattern);
  expect(readFileSync(inCheckout('docs/api.md'), 'utf8')).toContain(`x-gw-budget: ${shown.split(', ')[0]}`);
  await set('tokens', 1, 'soft');
  await set('energy_wh', 1e-5, 'soft');
  await set('carbon_g', 1e9, 'hard');
  // Which of the first two is told first is not said.
  await expect.poll(async () => (await asked()).response.headers.get(header)).toMatch(pattern);
  const { response } = await asked();
  const items =
    response.headers
      .get(header)
      ?.split(', ')
      .map((item) => item.replace(/used=.*/, '')) ?? [];
  expect(items.sort()).toEqual(['energy_wh;scope=account;kind=soft;', 'tokens;scope=account;kind=soft;']);
  const stream = await client.chat.completions.create({ ...chat, stream: true }).withResponse();
  await collect(stream.data);
  expect(stream.response.headers.get(header)).toMatch(pattern);
});

test('OpenAPI has the header at the replies that carry it: of the inference endpoints, and of errors behind the provider', async () => {
  const { components, paths } = await documented();
  const carrying = Object.entries(paths).flatMap(([at, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      header in (responses['200']?.headers ?? {}) ? `${method} ${at}` : [],
    ),
  );
  expect(carrying.sort()).toEqual(
    ['chat/completions', 'completions', 'embeddings', 'messages', 'responses'].map((name) => `post /v1/${name}`),
  );
  await set('tokens', 1, 'soft');
  await expect.poll(async () => (await asked()).response.headers.has(header)).toBe(true);
  for (const fault of ['status-400', 'status-429', 'status-500', 'malformed']) {
    const call = client.chat.completions.create(chat, { headers: { 'x-sim-fault': fault } });
    const error = await call.then(
      () => null,
      (cause: unknown) => cause,
    );
    if (!(error instanceof OpenAI.APIError)) throw error;
    expect(error.headers?.get(header), fault).toMatch(/^tokens;/);
    expect(components.responses[`Error${error.status}`]?.headers, fault).toHaveProperty(header);
  }
});

test('a call below 80 % of its budgets, and one without any, have no such header', async () => {
  expect((await asked()).response.headers.has(header)).toBe(false);
  await set('tokens', 1e9, 'hard');
  await set('energy_wh', 1e9, 'soft');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect((await asked()).response.headers.has(header)).toBe(false);
});

test('a refusal reads as the documentation shows it, and says when to come again', async () => {
  await set('carbon_g', 1e-6, 'hard');
  const refused = async () =>
    asked().then(
      () => null,
      (error: unknown) => error,
    );
  await expect.poll(refused).toBeInstanceOf(OpenAI.RateLimitError);
  const error = (await refused()) as InstanceType<typeof OpenAI.RateLimitError>;
  expect(error).toMatchObject({ code: 'carbon_budget_exceeded', status: 429 });
  const [, shown = ''] = /^> (The carbon budget .*)$/m.exec(page) ?? [];
  const form = (text: string): string =>
    text.replace(/\d{4}-\d\d(-\d\dT\d\d:\d\dZ)?/g, 'T').replace(/\d[\d.e-]*(?= g)/g, 'N');
  expect(form(error.message.replace(/^429 /, ''))).toBe(form(shown));
  expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0);
  expect([error.headers?.get('x-should-retry'), error.headers?.has(header)]).toEqual(['false', false]);
});

test('an answer that the client has not bounded ends where a hard budget does, and the next call has no room', async () => {
  const { max_tokens: _, ...unbounded } = chat;
  await set('tokens', 600, 'hard');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const long = { headers: { 'x-sim-tokens': '2000', 'x-sim-tokens-per-second': '0' } };
  const { choices, usage } = await client.chat.completions.create(unbounded, long);
  expect(choices[0]?.finish_reason).toBe('length');
  expect(usage?.total_tokens).toBeGreaterThan(590);
  expect(usage?.total_tokens).toBeLessThanOrEqual(600);
  await expect(asked()).rejects.toMatchObject({ code: 'token_budget_exceeded' });
});

test('ten calls at once without a limit take no more than a hard budget has, and each tells its bound', async () => {
  const { max_tokens: _, ...unbounded } = chat;
  await set('tokens', 5000, 'hard');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const long = { headers: { 'x-sim-tokens': '20000', 'x-sim-tokens-per-second': '0' } };
  const calls = Array.from({ length: 10 }, () => client.chat.completions.create(unbounded, long));
  const ends = await Promise.allSettled(calls);
  const answers = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? end.reason.code : []));
  expect(new Set(refusals)).toEqual(new Set(['token_budget_exceeded']));
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0)).toBeLessThanOrEqual(5000);
  for (const { usage, ...answer } of answers)
    expect(answer).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      routing_trace: { answer_bound: { tokens: usage?.completion_tokens, set_by: 'hard_budget' } },
    });
});

test('a short call is not refused below three times what it takes, and no answer takes more than its ceiling', async () => {
  const { max_tokens: _, ...unbounded } = chat;
  const ask = async (max_carbon_g: number, tokens: number, fields: object = {}) => {
    const headers = { 'x-sim-tokens': String(tokens), 'x-sim-tokens-per-second': '0' };
    const body = { ...unbounded, ...fields, gw: { max_carbon_g, region: 'eu-north' } };
    const { choices, usage, ...answer } = await client.chat.completions.create(body, { headers });
    const { gw, routing_trace } = answer as unknown as {
      readonly gw: { readonly carbon_g: number };
      readonly routing_trace: { readonly answer_bound?: object };
    };
    const [{ finish_reason } = {}] = choices;
    return { bound: routing_trace.answer_bound, grams: gw.carbon_g, tokens: usage?.completion_tokens, finish_reason };
  };
  const ceiling = 3 * (await ask(1000, 10)).grams;
  for (const fields of [{}, { max_tokens: 2000 }]) {
    const long = await ask(ceiling, 1500, fields);
    expect(long).toMatchObject({ bound: { tokens: long.tokens, set_by: 'max_carbon_g' }, finish_reason: 'length' });
    expect(long.grams).toBeLessThanOrEqual(ceiling);
  }
});

test('a budget of money refuses by the prices in force; without a price it counts nothing and refuses nothing', async () => {
  await set('cost', 0.001, 'hard');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect((await asked()).response.status).toBe(200);
  const valid_from = `${new Date().toISOString().slice(0, 13)}:00:00Z`;
  const price = (await api.send('POST', '/operator/v1/prices', {
    provider: 'simulator',
    model: 'sim-small',
    valid_from,
    input_per_mtok: '1000',
    output_per_mtok: '1000',
    source: 'a test',
  })) as { readonly id: string };
  try {
    const code = async () =>
      asked().then(
        () => null,
        (error: { readonly code: string }) => error.code,
      );
    await expect.poll(code, { timeout: 10_000 }).toBe('cost_budget_exceeded');
  } finally {
    await removeEntries(api, `prices/${encodeURIComponent(price.id)}`);
  }
});

test('a call without budgets asks Valkey nothing of them; one with some asks once before it goes out, and tells it once afterwards', async () => {
  const redis = new Redis(stack.redisUrl);
  const { seen, stop } = await hearCommands(stack.redisUrl);
  /** Counts the commands of the sidecars in `calls` calls; the control plane asks for sums beside them. */
  const commandsOf = async (calls: number) => {
    seen.length = 0;
    for (let call = 0; call < calls; call += 1) await asked();
    // Earlier commands on this connection have arrived; commands that nobody waits for may still be on their way.
    await expect
      .poll(async () => (await redis.ping()) && seen.filter((words) => /^ping/i.test(words)).length > 0)
      .toBe(true);
    return () =>
      seen.filter((words) => /^eval/i.test(words) && words.includes(`gw:budget`) && words.includes(accountId()));
  };
  try {
    const without = await commandsOf(5);
    expect(without()).toEqual([]);
    expect(seen.some((words) => words.includes(accountId()))).toBe(true);
    await set('tokens', 1e9, 'hard');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const having = await commandsOf(5);
    // `rcpt_…` is an argument of a reservation and of a settlement alone; a new base names its turn first.
    await expect
      .poll(() => having().filter((words) => / rcpt_[\w-]+ /.test(words) && !/ gw:\S+ \d+ \d+ bud_/.test(words)).length)
      .toBe(10);
  } finally {
    stop();
    redis.disconnect();
  }
});
