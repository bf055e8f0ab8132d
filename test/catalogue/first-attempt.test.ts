/**
 * First attempts that go to their provider without the deployment's listener: the provider sees what it always sees, the next deployment
 * sees nothing that was made for the first, and the trace says why that one failed.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openDatabase } from '@gw/prisma/client';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { readFrom } from '../outage/instances.ts';
import { additionsOf, collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'first/attempt';
const ids = ['near', 'far'] as const;
const regions = { near: 'us-east', far: 'eu-north' };

type Answer = (response: ServerResponse, body: Record<string, unknown>) => void;
const answers: Answer = (response, body) => answerChat(response, body, 'Sunny.');

function startProvider() {
  const seen: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
  const now = { answer: answers };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      seen.push({ url: request.url, headers: request.headers });
      now.answer(response, JSON.parse(text));
    });
  });
  return { server, seen, now };
}
const providers = { near: startProvider(), far: startProvider() };
const ports = { near: 0, far: 0 };

const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more }).withResponse();
const operator = apiOf(stack);
const clear = () =>
  removeEntries(
    operator,
    ...ids.map((id) => `deployments/${id}`),
    `models/${model}`,
    ...ids.map((id) => `providers/${id}`),
    ...ids.map((id) => `credentials/${id.toUpperCase()}`),
  );

/** How many attempts went straight to a deployment, by Envoy's count. */
async function straight(id: string): Promise<number> {
  const text = await readFrom(join(stack.sockets, 'envoy-admin.sock'), '/clusters');
  return Number(new RegExp(`^first:${id}@[^@]+::[^:]+:\\d+::rq_total::(\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

beforeAll(async () => {
  await clear();
  const headers = { near: { 'x-near': '1' }, far: null };
  for (const id of ids) {
    await new Promise<void>((resolve) => providers[id].server.listen(0, '127.0.0.1', resolve));
    ports[id] = (providers[id].server.address() as AddressInfo).port;
    const base_url = `http://127.0.0.1:${ports[id]}/v1`;
    await operator.send('PUT', `/operator/v1/credentials/${id.toUpperCase()}`, { value: `secret-${id}`, base_url });
    await operator.send('POST', '/operator/v1/providers', {
      id,
      name: id,
      base_url,
      credential_ref: id.toUpperCase(),
      headers: headers[id],
      ...(id === 'near' ? { auth_header: 'api-key' } : {}),
    });
  }
  await operator.send('POST', '/operator/v1/models', {
    id: model,
    owned_by: 'test',
    kind: 'chat',
    model_class: 'small',
    context_window: 1000,
  });
  for (const id of ids)
    await operator.send('POST', '/operator/v1/deployments', {
      id,
      provider: id,
      region: regions[id],
      pue: 1.1,
      models: { [model]: 'm' },
    });
  await eventually('a call to go straight to each', async () => {
    await Promise.allSettled(ids.map((id) => chat({ gw: { region: regions[id] } })));
    const counts = await Promise.all(ids.map(straight));
    return counts.every((count) => count > 0) || null;
  });
});
afterEach(async () => {
  for (const id of ids) providers[id].now.answer = answers;
  await startAgain();
  // It rests after several failures.
  await eventually('free calls to begin at the near one', async () => {
    providers.near.seen.length = 0;
    await chat();
    return providers.near.seen.length > 0 || null;
  });
  for (const id of ids) providers[id].seen.length = 0;
});
afterAll(async () => {
  await clear();
  for (const { server } of Object.values(providers)) {
    server.closeAllConnections();
    server.close();
  }
});

const stop = () => {
  providers.near.server.closeAllConnections();
  return new Promise((resolve) => providers.near.server.close(resolve));
};
const startAgain = () =>
  new Promise<void>((resolve) => {
    if (providers.near.server.listening) return resolve();
    providers.near.server.listen(ports.near, '127.0.0.1', resolve);
  });

const asked = ['content-type', 'content-length', 'accept', 'accept-encoding', 'user-agent', 'host', 'connection'];

test('the provider gets the allow-list and its own, and the client the id of its call', async () => {
  const before = await straight('near');
  const { data, response } = await chat();
  expect(await straight('near')).toBe(before + 1);
  const [call] = providers.near.seen;
  expect(call?.url).toBe('/v1/chat/completions');
  expect(
    Object.keys(call?.headers ?? {})
      .filter((name) => !asked.includes(name))
      .sort(),
  ).toEqual(['api-key', 'x-near']);
  expect(call?.headers).toMatchObject({ host: `127.0.0.1:${ports.near}`, 'api-key': 'secret-near', 'x-near': '1' });
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const receipt = receiptOf(data);
  expect(receipt).toMatchObject({ region: 'us-east', provider: 'near', status: 'complete' });
  const stored = await client.get<{ request_id: string }>(`/gw/receipts/${receipt?.id}`);
  expect(stored.request_id).toBe(id);
});

const failing: readonly [outcome: string, fail: () => unknown][] = [
  ['server_error', () => (providers.near.now.answer = (response) => void response.writeHead(500).end('{}'))],
  ['rate_limited', () => (providers.near.now.answer = (response) => void response.writeHead(429).end('{}'))],
  ['connection_lost', () => (providers.near.now.answer = (response) => void response.destroy())],
  ['no_connection', stop],
];

test.each(failing)('after %s the next one gets a call of its own, and the trace says why', async (outcome, fail) => {
  const before = await straight('near');
  await fail();
  const { data, response } = await chat();
  expect(additionsOf(data).routing_trace).toMatchObject({
    region: 'eu-north',
    attempts: { count: 2, failed: [{ deployment: 'near', outcome }] },
  });
  expect(receiptOf(data)).toMatchObject({ region: 'eu-north', provider: 'far' });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  if (outcome !== 'no_connection') expect(await straight('near')).toBe(before + 1);
  const [call] = providers.far.seen;
  expect(call?.headers).toMatchObject({ host: `127.0.0.1:${ports.far}`, authorization: 'Bearer secret-far' });
  expect(Object.keys(call?.headers ?? {}).filter((name) => !asked.includes(name))).toEqual(['authorization']);
});

/** Closes the connection of the next call without an answer. */
const closesOnce = (afterMs = 0): void => {
  providers.near.now.answer = (response) => {
    providers.near.now.answer = answers;
    setTimeout(() => response.destroy(), afterMs);
  };
};
const pinned = { gw: { region: 'us-east' } };
const lost = { deployment: 'near', outcome: 'connection_lost' };

test('where no other may be tried, a call whose connection the provider closes is sent once more', async () => {
  const before = await straight('near');
  closesOnce();
  const { data } = await chat(pinned);
  expect(additionsOf(data).routing_trace).toMatchObject({
    deployment: 'near',
    fallback: false,
    attempts: { count: 2, failed: [lost] },
  });
  const receipt = receiptOf(data);
  expect(receipt).toMatchObject({ provider: 'near', status: 'complete', energy_failed_attempts_wh: null });
  expect(receipt?.energy_failed_attempts_high_wh).toBeGreaterThan(0);
  expect(providers.near.seen.map(({ headers }) => headers['api-key'])).toEqual(['secret-near', 'secret-near']);
  expect(await straight('near')).toBe(before + 1);
  closesOnce();
  const chunks = await collect((await chat({ ...pinned, stream: true })).data as never);
  expect(chunks.map((chunk) => JSON.stringify(chunk)).join()).toContain('Sunny.');
});

test('a call that the provider may have worked on is not sent again', async () => {
  closesOnce(400);
  const error = await chat(pinned).catch((thrown) => thrown);
  expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
  expect(providers.near.seen).toHaveLength(1);
  const trace = await client.get(`/gw/receipts/${error.headers.get('x-gw-receipt-id')}/routing`);
  expect(trace).toMatchObject({ routing_trace: { attempts: { count: 1, failed: [lost] } } });
});

test('behind the listener of a deployment it is sent once more, too', async () => {
  const bent = 'first/bent';
  const base_url = `http://127.0.0.1:${ports.near}/v1`;
  onTestFinished(() => removeEntries(operator, 'deployments/bent', `models/${bent}`, 'providers/bent'));
  // Only a listener writes a path.
  await operator.send('POST', '/operator/v1/providers', { id: 'bent', name: 'bent', base_url, path: '{endpoint}' });
  await operator.send('POST', '/operator/v1/models', {
    id: bent,
    owned_by: 'test',
    kind: 'chat',
    model_class: 'small',
  });
  const place = { id: 'bent', provider: 'bent', region: 'us-east', pue: 1.1, models: { [bent]: 'm' } };
  await operator.send('POST', '/operator/v1/deployments', place);
  await eventually('the deployment to answer', () => chat({ model: bent }).catch(() => null));
  providers.near.seen.length = 0;
  closesOnce();
  const { data } = await chat({ model: bent });
  const lostThere = { deployment: 'bent', outcome: 'connection_lost' };
  expect(additionsOf(data).routing_trace).toMatchObject({ attempts: { count: 2, failed: [lostThere] } });
  closesOnce(400);
  expect(await chat({ model: bent }).catch((thrown) => thrown)).toMatchObject({ status: 502, code: 'upstream_error' });
  expect(providers.near.seen).toHaveLength(3);
});

test('where no other may be tried, the client reads what it always reads', async () => {
  providers.near.now.answer = (response) => void response.destroy();
  const error = await chat(pinned).catch((thrown) => thrown);
  expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
  expect(providers.near.seen).toHaveLength(2);
  expect(error.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(error.headers.get('x-gw-receipt-id')).toMatch(/^rcpt_/);
  expect(providers.far.seen).toEqual([]);
});

test('a credential that is taken away while calls go straight is missed, and the provider is not asked', async () => {
  // Operators cannot while a provider names it; a file that it was read from can go.
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  onTestFinished(() => db.$disconnect());
  await db.providerCredential.deleteMany({ where: { name: 'NEAR' } });
  const missing = await eventually('Envoy to have no credential', async () => {
    const error = await chat(pinned).catch((thrown) => thrown);
    return error instanceof Error ? error : null;
  });
  expect(missing).toMatchObject({ status: 502, code: 'upstream_credential_missing' });
  providers.near.seen.length = 0;
  for (let call = 0; call < 3; call += 1) expect(receiptOf((await chat()).data)).toMatchObject({ provider: 'far' });
  expect(await chat(pinned).catch((thrown) => thrown)).toMatchObject({ code: 'upstream_credential_missing' });
  expect(providers.near.seen).toEqual([]);
  const base_url = `http://127.0.0.1:${ports.near}/v1`;
  await operator.send('PUT', '/operator/v1/credentials/NEAR', { value: 'secret-near', base_url });
  await eventually('the credential to be there', async () => {
    await chat(pinned).catch(() => undefined);
    return providers.near.seen.length > 0 || null;
  });
});
