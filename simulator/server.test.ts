import { cases } from '@gw/testing/cases';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyHash } from './seed.ts';
import { ask, HELLO, readJson, startSimulator } from './start-for-test.ts';

const simulator = forFile(startSimulator);

const get = (path: string) => readJson(fetch(simulator.url + path));

test('the same request gives the same bytes, another message gives others', async () => {
  for (const stream of [false, true]) {
    const body = { model: 'sim-measured', messages: HELLO, stream };
    const first = await (await ask(simulator.url, { body })).text();
    expect(await (await ask(simulator.url, { body })).text()).toBe(first);
    const other = { ...body, messages: [{ role: 'user', content: 'Bye' }] };
    expect(await (await ask(simulator.url, { body: other })).text()).not.toBe(first);
  }
});

test('a stream is a role chunk, token chunks, an end, usage if asked for, and [DONE]', async () => {
  const body = { model: 'sim-small', messages: HELLO, stream: true, stream_options: { include_usage: true } };
  const reply = await ask(simulator.url, { body, headers: { 'x-sim-tokens': '3' } });
  expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = (await reply.text()).split('\n\n').slice(0, -1);
  expect(events.at(-1)).toBe('data: [DONE]');
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta ?? chunk.usage.completion_tokens)).toEqual([
    { role: 'assistant', content: '', refusal: null },
    { content: 'This' },
    { content: ' is ' },
    { content: 'a si' },
    {},
    3,
  ]);
  expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? null)).toEqual([
    null,
    null,
    null,
    null,
    'stop',
    null,
  ]);
});

test('measured energy is in the body, in a stream it is a comment before [DONE], and joules and kWh agree', async () => {
  const body = { model: 'sim-measured', messages: HELLO };
  const { energy } = await readJson(ask(simulator.url, { body }));
  expect(energy.energy_joules).toBeGreaterThan(0);
  expect(energy.energy_kwh * 3.6e6).toBeCloseTo(energy.energy_joules, 9);
  const stream = await (await ask(simulator.url, { body: { ...body, stream: true } })).text();
  expect(stream).toContain(`: energy ${JSON.stringify(energy)}\n\ndata: [DONE]\n\n`);
});

test('a reply echoes path, headers and body on request, also on the first event of a stream', async () => {
  const headers = { 'x-sim-echo-headers': '1', 'x-sim-echo-body': '1', authorization: 'Bearer provider-credential' };
  for (const stream of [false, true]) {
    const body = JSON.stringify({ model: 'sim-small', stream, messages: HELLO });
    const text = await (await ask(simulator.url, { body, headers, path: '/paris/v1/chat/completions' })).text();
    const reply = JSON.parse(stream ? (text.split('\n\n')[0] ?? '').slice('data: '.length) : text);
    expect(reply.sim_path).toBe('/paris/v1/chat/completions');
    expect(reply.sim_headers.authorization).toBe('Bearer provider-credential');
    expect(reply.sim_body).toBe(body);
  }
});

test('the log shows what arrived and how it ended, and counts by marker', async () => {
  const marker = 'log-test';
  const headers = { 'x-sim-marker': marker };
  const before = await get('/sim/count');
  const body = JSON.stringify({ model: 'sim-small', messages: HELLO });
  await (await ask(simulator.url, { body, headers })).text();
  await ask(simulator.url, { body, headers: { ...headers, 'x-sim-fault': 'reset' } }).catch(() => null);
  expect((await get('/sim/count')).count).toBe(before.count + 2);
  expect((await get(`/sim/count?marker=${marker}`)).count).toBe(2);
  expect(await get('/sim/count?marker=never-sent')).toEqual({ count: 0, open: 0 });
  const { requests } = await get(`/sim/requests?limit=2&marker=${marker}`);
  expect(requests).toMatchObject([
    { method: 'POST', body_sha256: bodyHash(Buffer.from(body)), outcome: 'complete', status: 200 },
    { headers: { 'x-sim-fault': 'reset' }, outcome: 'broken_by_simulator', status: null },
  ]);
});

test('the log keeps the last requests in order when older ones fall out', async () => {
  const { createRequestLog } = await import('./request-log.ts');
  const log = createRequestLog();
  for (let index = 0; index < 5000; index++) log.add('GET', `/v1/${index}`, []);
  expect(log.last(2, null)).toMatchObject([{ path: '/v1/4998' }, { path: '/v1/4999' }]);
  expect(log.last(10_000, null)).toHaveLength(4096);
  expect(log.count(null).count).toBe(5000);
});

test('when the client goes away, the stream ends and the log says so', async () => {
  const marker = 'abort-test';
  const abort = new AbortController();
  const reply = await fetch(`${simulator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-sim-marker': marker, 'x-sim-tokens': '1000', 'x-sim-delay-ms': '0' },
    body: JSON.stringify({ model: 'sim-small', messages: HELLO, stream: true }),
    signal: abort.signal,
  });
  const reader = reply.body?.getReader();
  await reader?.read();
  expect((await get(`/sim/count?marker=${marker}`)).open).toBe(1);
  abort.abort();
  await expect.poll(() => get(`/sim/count?marker=${marker}`)).toEqual({ count: 1, open: 0 });
  expect((await get(`/sim/requests?marker=${marker}`)).requests[0]?.outcome).toBe('closed_by_client');
});

test('a directive with a typing error is refused and named', async () => {
  for (const [header, value] of [
    ['x-sim-fault', 'status-4290'],
    ['x-sim-tokens', 'many'],
    ['x-sim-text', 'latin'],
    ['x-sim-usage', '{'],
    ['x-sim-bytes', '999999999999'],
    ['x-sim-fualt', 'reset'],
  ] as const) {
    const reply = await ask(simulator.url, { headers: { [header]: value } });
    expect([reply.status, (await readJson(reply)).error.param]).toEqual([400, header]);
  }
});

test('wrong paths, methods and fields get an error object', async () => {
  const status = async (path: string, method: string) => (await fetch(simulator.url + path, { method })).status;
  expect(await status('/v1/nothing', 'POST')).toBe(404);
  expect(await status('/elsewhere', 'GET')).toBe(404);
  expect(await status('/v1/chat/completions', 'GET')).toBe(405);
  expect(await status('/v1/models', 'DELETE')).toBe(405);
  expect(await status('/healthz', 'GET')).toBe(200);
  const wrong = (path: string, body: object) => readJson(ask(simulator.url, { path, body }));
  expect((await wrong('/v1/chat/completions', { model: 'sim-small' })).error.param).toBe('messages');
  expect((await wrong('/v1/completions', { model: 'sim-small' })).error.param).toBe('prompt');
  expect((await wrong('/v1/embeddings', { model: 'sim-embed', input: [] })).error.param).toBe('input');
  expect((await wrong('/v1/embeddings', { model: 'sim-small', input: 'x' })).error.param).toBe('model');
});

test('any body gets an answer with an object, never silence', async () => {
  const path = fc.constantFrom('/v1/chat/completions', '/v1/completions', '/v1/embeddings');
  const field = fc.oneof(fc.json(), fc.constant('[1,2]'), fc.constant('["a"]'), fc.constant(`${'['.repeat(50_000)}`));
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ model: fc.constantFrom('sim-small', 'sim-embed'), messages: field })
      .map(
        (fields) =>
          `{"model":"${fields.model}","messages":${fields.messages},"prompt":${fields.messages},"input":${fields.messages}}`,
      ),
  );
  await fc.assert(
    fc.asyncProperty(path, body, async (where, text) => {
      const reply = await ask(simulator.url, { path: where, body: text });
      expect(await reply.json()).toBeTypeOf('object');
      expect([200, 400, 404]).toContain(reply.status);
    }),
    { numRuns: cases(100) },
  );
});
