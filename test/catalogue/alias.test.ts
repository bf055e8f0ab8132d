/**
 * "gpt-4o at Azure, else at OpenAI, else our Llama", under one name: what the documentation tells operators to type decides who is
 * asked, each by its own name for its own model, and the receipt is that of the model that answered.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { modelListSchema } from '@gw/contract/catalogue';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { run } from '../cli/gateway-of-its-own.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, collect, eventually, get, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const alias = 'assistant';
const page = readFileSync(inCheckout('docs/catalogue.md'), 'utf8');
const [, block = ''] = /^```sh\n(\.\/gw admin aliases [\s\S]*?)^```/m.exec(page) ?? [];
const env = { ...process.env, GW_CONTROL_URL: stack.controlUrl, GW_OPERATOR_TOKEN: stack.operatorToken };

async function typed(beginning: string): Promise<string> {
  const line = block.split('\n').find((each) => each.startsWith(`./gw admin aliases ${beginning}`));
  if (line === undefined) throw new Error(`The page has no line ${beginning}.`);
  const { code, err, out } = await run('sh', ['-c', line], env);
  expect(code, `${line}: ${err}`).toBe(0);
  return out;
}

const sites = {
  azure: { region: 'us-east', model: 'gpt-4o', name: 'my-gpt-4o' },
  openai: { region: 'us-east', model: 'gpt-4o', name: 'gpt-4o-2024-11-20' },
  own: { region: 'eu-north', model: 'llama-3', name: 'Llama-3.1-8B-Instruct' },
} as const;
type Site = keyof typeof sites;
const ids = Object.keys(sites) as Site[];

/** Answers with a text, or with `status` and no word. */
function startProvider() {
  const seen: Record<string, unknown>[] = [];
  const fault: { status: number | null } = { status: null };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const body = JSON.parse(text);
    seen.push(body);
    if (fault.status !== null) return void response.writeHead(fault.status).end('{}');
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const head = { id: 'c', created: 1, model: body.model };
    const choice = { index: 0, finish_reason: 'stop', logprobs: null };
    if (body.stream) {
      const chunk = { ...head, object: 'chat.completion.chunk' };
      const said = { ...chunk, choices: [{ ...choice, delta: { role: 'assistant', content: 'Sunny.' } }], usage };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end(`data: ${JSON.stringify(said)}\n\ndata: [DONE]\n\n`);
    }
    const choices = [{ ...choice, message: { role: 'assistant', content: 'Sunny.' } }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
  });
  return { server, seen, fault };
}
const providers = { azure: startProvider(), openai: startProvider(), own: startProvider() };
const accounts = accountsForFile();
const api = apiOf(stack);

const client = openAi(stack.keys.enterprise);
const chat = (more: object = {}, by = client) => by.chat.completions.create({ model: alias, messages, ...more });
/** Who was asked, in turn, by which name for the model. */
const asked = () => ids.flatMap((id) => providers[id].seen.map(({ model }) => [id, model]));

/** An entry that an account is limited to cannot be removed. */
const unlimit = () =>
  accounts.db.$executeRaw`UPDATE accounts SET models = NULL WHERE models @> '["assistant"]' OR models @> '["gpt-4o"]'`;

async function clear(): Promise<void> {
  await unlimit();
  await removeEntries(
    api,
    `aliases/${alias}`,
    ...ids.map((id) => `deployments/${id}`),
    ...Object.values(sites).map(({ model }) => `models/${model}`),
    ...ids.map((id) => `providers/${id}`),
  );
}
beforeAll(async () => {
  await clear();
  for (const id of ids) {
    const { server } = providers[id];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await api.send('POST', '/operator/v1/providers', { id, name: id, base_url: `http://127.0.0.1:${port}/v1` });
  }
  const common = { owned_by: 'test', kind: 'chat' };
  await api.send('POST', '/operator/v1/models', {
    ...common,
    id: 'gpt-4o',
    model_class: 'frontier',
    takes_temperature: false,
  });
  await api.send('POST', '/operator/v1/models', {
    ...common,
    id: 'llama-3',
    total_parameters_b: 8,
    active_parameters_b: 8,
  });
  for (const id of ids) {
    const { model, name, region } = sites[id];
    await api.send('POST', '/operator/v1/deployments', {
      id,
      provider: id,
      region,
      pue: 1.1,
      models: { [model]: name },
    });
  }
  await typed('add');
  await eventually('all to answer', async () => {
    const regions = ['us-east', 'eu-north'].map((region) => chat({ gw: { region } }));
    const tried = await Promise.allSettled([chat(), ...regions]);
    return tried.every(({ status }) => status === 'fulfilled') || null;
  });
});
afterAll(async () => {
  await clear();
  for (const { server } of Object.values(providers)) {
    server.closeAllConnections();
    server.close();
  }
});
const forget = () => {
  for (const { seen } of Object.values(providers)) seen.length = 0;
};
beforeEach(async () => {
  for (const { fault } of Object.values(providers)) fault.status = null;
  // One that has just failed several times rests.
  await eventually('free calls to begin at the first target', async () => {
    forget();
    await chat();
    return providers.azure.seen.length > 0 || null;
  });
  forget();
});

test('the first target is asked, whatever the grids of the others are', async () => {
  const reply = await chat();
  expect(asked()).toEqual([['azure', 'my-gpt-4o']]);
  expect(receiptOf(reply)).toMatchObject({ model: 'gpt-4o', provider: 'azure', region: 'us-east', tier: 'proxy' });
  expect(additionsOf(reply).routing_trace?.decision).toMatch(
    /^The alias assistant was asked for, and gpt-4o at azure was chosen, which comes first\. /,
  );
});

test('where the models before it fail, the last one is asked by its own name, and the receipt is that of it', async () => {
  providers.azure.fault.status = 503;
  providers.openai.fault.status = 503;
  const reply = await chat();
  expect(asked()).toEqual([
    ['azure', 'my-gpt-4o'],
    ['openai', 'gpt-4o-2024-11-20'],
    ['own', 'Llama-3.1-8B-Instruct'],
  ]);
  // Each gets the temperature that its own model takes.
  expect(providers.openai.seen[0]).not.toHaveProperty('temperature');
  expect(providers.own.seen[0]).toHaveProperty('temperature', 1);
  const receipt = receiptOf(reply);
  expect(receipt).toMatchObject({ model: 'llama-3', provider: 'own', region: 'eu-north', tier: 'parametric' });
  const { energy_high_wh, energy_low_wh } = receiptOf(
    await openAi(stack.keys.enterprise).chat.completions.create({ model: 'llama-3', messages }),
  );
  expect(receipt.energy_wh).toBeGreaterThan(Number(energy_low_wh) / 2);
  expect(receipt.energy_wh).toBeLessThan(Number(energy_high_wh) * 2);
  const trace = additionsOf(reply).routing_trace;
  expect(trace).toMatchObject({ region: 'eu-north', deployment: 'own', attempts: { count: 3 } });
  expect(trace?.decision).toMatch(/ gpt-4o did not answer; llama-3 of the same alias did\.$/);
});

test('a stream fails over alike', async () => {
  providers.azure.fault.status = 500;
  const chunks = await collect(await client.chat.completions.create({ model: alias, messages, stream: true }));
  expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('')).toBe('Sunny.');
  expect(asked().map(([id]) => id)).toEqual(['azure', 'openai']);
});

test('a pinned call never leaves its region, and gets what the alias has there', async () => {
  providers.own.fault.status = 503;
  const options = { gw: { region: 'eu-north' } };
  expect(await chat(options).catch(({ code }) => code)).toBe('upstream_error');
  expect(asked()).toEqual([['own', 'Llama-3.1-8B-Instruct']]);
});

test('GET /v1/models shows it to whom it is allowed, and a list that names it allows its targets through it alone', async () => {
  const list = async (key: string) => modelListSchema.parse((await get('/v1/models', key)).body).data;
  const shown = {
    id: alias,
    kind: 'chat',
    owned_by: 'gw',
    regions: ['us-east', 'eu-north'],
    tiers: ['proxy', 'parametric'],
    targets: [{ model: 'gpt-4o', provider: 'azure' }, { model: 'gpt-4o', provider: 'openai' }, { model: 'llama-3' }],
  };
  expect(await list(stack.keys.enterprise)).toContainEqual(expect.objectContaining(shown));
  const [named, other] = [
    await accounts.create({ models: [alias] }),
    await accounts.create({ models: ['gpt-4o', 'llama-3'] }),
  ];
  expect((await list(named)).map(({ id }) => id)).toEqual([alias]);
  expect((await list(other)).map(({ id }) => id)).toEqual(['gpt-4o', 'llama-3']);
  const code = (key: string, model: string) =>
    chat({ model }, openAi(key)).then(
      () => '200',
      (error) => error.code,
    );
  expect([await code(named, alias), await code(named, 'gpt-4o'), await code(other, alias)]).toEqual([
    ...['200', 'invalid_model', 'invalid_model'],
  ]);
  await unlimit();
});

test('what it names is not removed, a change of it takes effect on calls, and once removed it is no model', async () => {
  await api.send('DELETE', '/operator/v1/deployments/openai');
  await expect(api.send('DELETE', '/operator/v1/providers/openai')).rejects.toThrow(`aliases name it: ${alias}`);
  await typed('set');
  await api.send('DELETE', '/operator/v1/providers/openai');
  providers.azure.fault.status = 503;
  await eventually('the new chain', async () => {
    forget();
    await chat().catch(() => undefined);
    const asks = asked().map(([id]) => id);
    return (asks.includes('own') && !asks.includes('openai')) || null;
  });
  await typed('remove');
  await eventually('it to be gone', async () => (await chat().catch(({ code }) => code)) === 'invalid_model' || null);
});
