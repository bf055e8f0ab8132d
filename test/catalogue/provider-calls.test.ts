/**
 * Providers that are not called as OpenAI is: another path, header, name of the model and of fields. A call that fails over from one
 * to the other is made anew for each, and neither sees what is meant for the other.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'two-ways/gpt';
const ids = ['usual', 'azure'] as const;
const { auth_header, path } = must(knownProviders['azure-openai']);
const names = { usual: 'gpt-x', azure: 'gpt x/prod·é' };

/** As the list says. */
function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The list has no such provider.');
  return value;
}

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

function startProvider() {
  const seen: Seen[] = [];
  const fault: { status: number | null } = { status: null };
  const reply = (text: string, response: ServerResponse, request: IncomingMessage) => {
    const body = JSON.parse(text);
    seen.push({ url: request.url ?? '', headers: request.headers, body });
    const refusal = { error: { message: `I cannot serve ${body.model}`, type: 'invalid_request_error' } };
    if (fault.status !== null) return void response.writeHead(fault.status).end(JSON.stringify(refusal));
    answerChat(response, body, 'Sunny.');
  };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => reply(text, response, request));
  });
  return { server, seen, fault };
}
const providers = { usual: startProvider(), azure: startProvider() };
const origins = { usual: '', azure: '' };

const client = openAi(stack.keys.enterprise);
const chat = (more: object = {}) =>
  client.chat.completions.create({ model, messages, max_completion_tokens: 7, seed: 4, ...more });

const operator = apiOf(stack);
const each = (kind: string) => ids.map((id) => `${kind}/${kind === 'credentials' ? id.toUpperCase() : id}`);
const clear = () =>
  removeEntries(operator, ...each('deployments'), `models/${model}`, ...each('providers'), ...each('credentials'));

beforeAll(async () => {
  await clear();
  for (const id of ids) {
    const { server } = providers[id];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origins[id] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await operator.send('PUT', `/operator/v1/credentials/${id.toUpperCase()}`, {
      value: `secret-${id}`,
      base_url: origins[id],
    });
  }
  await operator.send('POST', '/operator/v1/providers', {
    id: 'usual',
    name: 'Usual',
    base_url: `${origins.usual}/api/v1`,
    credential_ref: 'USUAL',
  });
  await operator.send('POST', '/operator/v1/providers', {
    id: 'azure',
    name: 'Azure',
    base_url: origins.azure,
    credential_ref: 'AZURE',
    auth_header,
    path,
    headers: { 'x-region': 'sweden central' },
    request_fields: { max_completion_tokens: 'max_tokens', seed: null },
  });
  await operator.send('POST', '/operator/v1/models', {
    id: model,
    owned_by: 'test',
    kind: 'chat',
    model_class: 'small',
  });
  for (const [id, region] of [
    ['usual', 'us-east'],
    ['azure', 'eu-north'],
  ] as const)
    await operator.send('POST', '/operator/v1/deployments', {
      id,
      provider: id,
      region,
      pue: 1.1,
      models: { [model]: names[id] },
    });
  await eventually('both to answer', async () => {
    const tried = await Promise.allSettled(['us-east', 'eu-north'].map((region) => chat({ gw: { region } })));
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
beforeEach(async () => {
  for (const { fault } of Object.values(providers)) fault.status = null;
  // One that has just failed several times rests.
  await eventually('free calls to begin at the usual one', async () => {
    for (const { seen } of Object.values(providers)) seen.length = 0;
    await chat();
    return providers.usual.seen.length > 0 || null;
  });
  for (const { seen } of Object.values(providers)) seen.length = 0;
});

const usual = {
  url: '/api/v1/chat/completions',
  headers: { authorization: 'Bearer secret-usual' },
  body: { model: names.usual, max_completion_tokens: 7, seed: 4 },
};
const azure = {
  url: '/openai/deployments/gpt%20x%2Fprod%C2%B7%C3%A9/chat/completions?api-version=2024-10-21',
  headers: { 'api-key': 'secret-azure', 'x-region': 'sweden central' },
  body: { model: names.azure, max_tokens: 7 },
};

/** Each was called as it wants to be, and saw nothing that is meant for the other, or for the gateway. */
function expectSeen(id: (typeof ids)[number], { headers, body, ...call }: Seen | undefined = {} as Seen): void {
  const wanted = { usual, azure }[id];
  expect({ ...call, headers, body }).toMatchObject(wanted);
  expect(headers.host).toBe(new URL(origins[id]).host);
  const others = id === 'usual' ? ['api-key', 'x-region'] : ['authorization'];
  for (const name of Object.keys(headers)) {
    expect(others).not.toContain(name);
    expect(name).not.toMatch(/^x-(gw|envoy|forwarded|request-id)/);
  }
  if (id === 'azure') {
    expect(body).not.toHaveProperty('seed');
    expect(body).not.toHaveProperty('max_completion_tokens');
  }
  expect(JSON.stringify(body)).not.toContain('secret');
}

test('each is called by its own path, headers, name of the model and fields', async () => {
  expect(receiptOf(await chat({ gw: { region: 'us-east' } }))).toMatchObject({ region: 'us-east' });
  expectSeen('usual', providers.usual.seen[0]);
  expect(receiptOf(await chat({ gw: { region: 'eu-north' } }))).toMatchObject({ region: 'eu-north' });
  expectSeen('azure', providers.azure.seen[0]);
});

test.each([
  [503, 'server_error', 'an error of the provider'],
  [429, 'rate_limited', 'rate limited'],
])('after %d a free call is made anew for the next, and says why', async (status, outcome, words) => {
  providers.usual.fault.status = status;
  const reply = await chat();
  expectSeen('usual', providers.usual.seen[0]);
  expectSeen('azure', providers.azure.seen[0]);
  const trace = additionsOf(reply).routing_trace;
  expect(trace).toMatchObject({
    region: 'eu-north',
    attempts: { count: 2, failed: [{ deployment: 'usual', outcome }] },
  });
  expect(trace?.decision).toContain(`us-east (${words}) failed, and eu-north, which comes next, answered.`);
  expect(receiptOf(reply)).toMatchObject({ region: 'eu-north', provider: 'azure', model });
});

test('so is a stream', async () => {
  providers.usual.fault.status = 500;
  const chunks = await collect(await client.chat.completions.create({ model, messages, seed: 4, stream: true }));
  expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('')).toBe('Sunny.');
  expect(providers.azure.seen[0]?.body).toMatchObject({ model: names.azure, stream: true, messages });
  expect(providers.azure.seen[0]?.body).not.toHaveProperty('seed');
});

test('and a body of 5 MiB, which a thread reads', async () => {
  providers.usual.fault.status = 500;
  const content = 'é'.repeat(2.5 * 1024 * 1024);
  await chat({ messages: [{ role: 'user', content }] });
  for (const id of ids) {
    const { body } = providers[id].seen[0] as Seen;
    expect(body.messages).toEqual([{ role: 'user', content }]);
    expect(body.model).toBe(names[id]);
  }
});

test('an error of the one that answered last is told by the name that the client knows', async () => {
  providers.usual.fault.status = 503;
  providers.azure.fault.status = 400;
  const error = await chat().catch((thrown) => thrown);
  expect(error).toMatchObject({ status: 400, code: 'upstream_rejected_request' });
  expect(error.message).toContain(`cannot serve ${model}`);
});
