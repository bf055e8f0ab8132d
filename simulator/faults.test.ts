/** Each fault on a real socket, because most of them are about what happens to bytes and connections. */
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { ask, HELLO, readJson, startSimulator } from './start-for-test.ts';

const simulator = forFile(startSimulator);

const json = { model: 'sim-small', messages: HELLO };
const stream = { ...json, stream: true };
const withFault = (fault: string, body: object, headers: Record<string, string> = {}) =>
  ask(simulator.url, { body, headers: { 'x-sim-fault': fault, ...headers } });
const textOf = async (fault: string, body: object, headers: Record<string, string> = {}) =>
  (await withFault(fault, body, headers)).text();
const plain = async (body: object) => (await ask(simulator.url, { body })).text();

/** The bytes as they came, without any decoding, and whether the body was whole. */
function rawReply(fault: string, body: object): Promise<{ chunks: Buffer[]; encoding: unknown; whole: boolean }> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-sim-fault': fault, 'x-sim-tokens-per-second': '0', 'x-sim-text': 'unicode' };
    const req = request(`${simulator.url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', () => undefined);
      res.on('close', () => resolve({ chunks, encoding: res.headers['content-encoding'], whole: res.complete }));
    });
    req.on('error', reject);
    req.end(JSON.stringify(body));
  });
}

test.each([400, 401, 403, 404, 413, 422, 429, 500, 503])(
  'status-%i answers that status with an error object',
  async (status) => {
    const reply = await withFault(`status-${status}`, stream);
    expect(reply.status).toBe(status);
    expect((await readJson(reply)).error.message).toContain(String(status));
    expect(reply.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
  },
);

test('reset breaks the connection before any header', async () => {
  for (const body of [json, stream]) await expect(withFault('reset', body)).rejects.toThrow('fetch failed');
});

test('stall never answers, and stall-mid never ends', async () => {
  const opened: string[] = [];
  for (const [fault, body] of [
    ['stall', json],
    ['stall-mid', json],
    ['stall-mid', stream],
  ] as const) {
    const marker = `stalled-${opened.length}`;
    opened.push(marker);
    const abort = new AbortController();
    const headers = { 'x-sim-fault': fault, 'x-sim-marker': marker, 'x-sim-tokens-per-second': '0' };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: abort.signal };
    const reply = fetch(`${simulator.url}/v1/chat/completions`, init);
    reply.catch(() => undefined);
    if (fault === 'stall-mid') await (await reply).body?.getReader().read();
    const count = async () => (await fetch(`${simulator.url}/sim/count?marker=${marker}`)).json();
    await expect.poll(count).toEqual({ count: 1, open: 1 });
    abort.abort();
    await expect.poll(count).toEqual({ count: 1, open: 0 });
  }
});

test('stall-end says everything but that it is over', async () => {
  const abort = new AbortController();
  const headers = { 'x-sim-fault': 'stall-end', 'x-sim-tokens-per-second': '0' };
  const body = JSON.stringify({ ...stream, stream_options: { include_usage: true } });
  const reply = await fetch(`${simulator.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body,
    signal: abort.signal,
  });
  const first = await reply.body?.getReader().read();
  const text = Buffer.from(first?.value ?? []).toString();
  expect(text).toContain('"finish_reason":"stop"');
  expect(text.endsWith('\n\n')).toBe(true);
  expect(text).not.toContain('prompt_tokens');
  expect(text).not.toContain('[DONE]');
  abort.abort();
});

test('own-headers claims what only a gateway may say, and leaves the body as it is', async () => {
  for (const body of [json, stream]) {
    const reply = await withFault('own-headers', body);
    expect(reply.headers.get('x-gw-receipt-id')).toBe('rcpt_forged');
    expect(reply.headers.get('set-cookie')).toContain('sim_session');
    expect(await reply.text()).toBe(await plain(body));
  }
});

test('malformed is a whole reply with broken JSON, or a stream with one broken event', async () => {
  const body = await textOf('malformed', json);
  expect(() => JSON.parse(body)).toThrow();
  const events = (await textOf('malformed', stream)).split('\n\n').slice(0, -2);
  const broken = events.filter((event) => {
    try {
      JSON.parse(event.slice('data: '.length));
      return false;
    } catch {
      return true;
    }
  });
  expect(broken).toHaveLength(1);
});

test('cut breaks the connection in the middle of the body, in a stream in the middle of an event', async () => {
  for (const body of [json, stream]) {
    const reply = await rawReply('cut', body);
    expect(reply.whole).toBe(false);
    expect(Buffer.concat(reply.chunks).length).toBeGreaterThan(0);
  }
  const text = Buffer.concat((await rawReply('cut', stream)).chunks).toString();
  expect(text.endsWith('\n\n')).toBe(false);
});

test('usage is whatever was asked for, and running-usage counts in the first chunk with words alone', async () => {
  const usage = { prompt_tokens: -1, completion_tokens: 1e15 };
  const headers = { 'x-sim-usage': JSON.stringify(usage), 'x-sim-tokens-per-second': '0' };
  expect((await readJson(await ask(simulator.url, { body: json, headers }))).usage).toEqual(usage);
  const asked = { ...stream, stream_options: { include_usage: true } };
  expect(await (await ask(simulator.url, { body: asked, headers })).text()).toContain(JSON.stringify(usage));
  const text = await textOf('running-usage', asked);
  expect(text.match(/"usage":\{"prompt_tokens":1,"completion_tokens":1\}/g)).toHaveLength(1);
  expect(text.indexOf('"usage":{')).toBeLessThan(text.length / 2);
  expect(text.match(/"prompt_tokens"/g)).toHaveLength(1);
});

test('no-usage, no-energy and no-done leave out just that', async () => {
  const measured = { ...json, model: 'sim-measured' };
  expect(await textOf('no-usage', measured)).not.toContain('"usage"');
  expect(await textOf('no-usage', measured)).toContain('"energy"');
  expect(await textOf('no-energy', measured)).not.toContain('energy');
  const asked = { ...stream, stream_options: { include_usage: true } };
  expect(await textOf('no-usage', asked)).not.toContain('prompt_tokens');
  expect(await textOf('no-done', stream)).toBe((await plain(stream)).replace('data: [DONE]\n\n', ''));
});

test('own-gw claims a receipt before and after the honest fields, in every event of a stream', async () => {
  const text = await textOf('own-gw', json);
  expect(text.match(/"gw":/g)).toHaveLength(2);
  expect(JSON.parse(text)).toMatchObject({ object: 'chat.completion', gw: { id: 'rcpt_forged' } });
  const events = (await textOf('own-gw', stream)).split('\n\n').slice(0, -2);
  for (const event of events) expect(JSON.parse(event.slice(6)).gw.id).toBe('rcpt_forged');
});

test('error-event ends a stream with an error and no [DONE]; as JSON it is an error with status 200', async () => {
  const text = await textOf('error-event', stream);
  expect(text).not.toContain('[DONE]');
  expect(JSON.parse(text.split('\n\n').at(-2)?.slice(6) ?? '').error.type).toBe('server_error');
  const reply = await withFault('error-event', json);
  expect([reply.status, Object.keys(await readJson(reply))]).toEqual([200, ['error']]);
});

test('split sends the same bytes in small pieces that cut events and characters', async () => {
  const { chunks } = await rawReply('split', stream);
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1000);
  expect(chunks.length).toBeGreaterThan(20);
  const headers = { 'x-sim-text': 'unicode' };
  expect(Buffer.concat(chunks).toString()).toBe(await (await ask(simulator.url, { body: stream, headers })).text());
  expect(chunks.some((chunk) => !chunk.equals(Buffer.from(chunk.toString())))).toBe(true);
});

test('gzip is sent although nobody asked for it', async () => {
  for (const body of [json, stream]) {
    const { chunks, encoding } = await rawReply('gzip', body);
    expect(encoding).toBe('gzip');
    expect(gunzipSync(Buffer.concat(chunks)).toString()).toContain('chat.completion');
  }
});

test('html and empty are not JSON at all', async () => {
  const html = await withFault('html', stream);
  expect([html.status, html.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8']);
  for (const body of [json, stream]) {
    const reply = await withFault('empty', body);
    expect([reply.status, await reply.text()]).toEqual([200, '']);
  }
});

test('big makes a JSON reply, or one event, exactly as large as asked', async () => {
  const headers = { 'x-sim-bytes': '3000000' };
  const text = await textOf('big', json, headers);
  expect(Buffer.byteLength(text)).toBe(3_000_000);
  expect(JSON.parse(text).object).toBe('chat.completion');
  const events = (await textOf('big', stream, headers)).split('\n\n');
  expect(Math.max(...events.map((event) => event.length + 2))).toBe(3_000_000);
});

test('a fault can be meant for one site only, and several hold together', async () => {
  const at = (site: string) =>
    ask(simulator.url, {
      path: `/${site}/v1/chat/completions`,
      headers: { 'x-sim-fault': 'paris:status-503, oslo:no-usage, own-gw' },
    });
  expect((await at('paris')).status).toBe(503);
  const oslo = await readJson(at('oslo'));
  expect([oslo.usage, oslo.gw.id]).toEqual([undefined, 'rcpt_forged']);
  expect((await readJson(at('rome'))).usage).toBeDefined();
});

test('a prompt can be blocked by a safety filter', async () => {
  const reply = await withFault('content-filter', stream);
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('"code":"content_filter"')]);
});

test('a prompt that is too long is refused in the ways of three servers, and in the first event of a stream', async () => {
  for (const [fault, status] of [
    ['too-long-openai', 400],
    ['too-long-vllm', 400],
    ['too-long-tgi', 422],
  ] as const) {
    for (const body of [json, stream]) {
      const reply = await withFault(fault, body);
      expect(reply.status).toBe(status);
      expect(await reply.text()).toContain('130112');
    }
  }
  const events = (await textOf('too-long-event', stream)).trim().split('\n\n');
  expect(events).toEqual([expect.stringMatching(/^data: \{"error":.*context_length_exceeded/)]);
});
