/** Only what the allow-lists name passes between client and provider, in both directions. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { chatBody, expectCompletion, quick, type Reply, send, stack } from './ask.ts';

const echoed = z.looseObject({
  sim_path: z.string(),
  sim_headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  sim_body: z.string(),
});

const echo = { ...quick, 'x-sim-echo-headers': '1', 'x-sim-echo-body': '1' };
const mine = {
  accept: 'application/json',
  'user-agent': 'someone/1.0',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};
const personal = {
  cookie: 'session=secret',
  'x-forwarded-for': '10.0.0.1',
  'x-forwarded-host': 'inside.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-client-cert': 'By=me',
  'x-real-ip': '10.0.0.1',
  forwarded: 'for=10.0.0.1',
  via: '1.1 inside',
  'x-gw-account-id': 'forged',
  'x-gw-cluster': 'forged',
  'x-envoy-max-retries': '7',
  'x-request-id': 'mine',
  'x-client-trace-id': 'mine',
  'x-api-key': 'secret',
  'api-key': 'secret',
  'proxy-authorization': 'Basic c2VjcmV0',
  'openai-organization': 'org-secret',
  'openai-project': 'proj-secret',
  'accept-encoding': 'gzip, br',
  'accept-language': 'de',
  origin: 'https://inside.example',
  referer: 'https://inside.example/page',
  range: 'bytes=0-1',
  te: 'trailers',
  tracestate: 'a=b',
  baggage: 'user=secret',
  'x-anything': 'secret',
};

const chat = (stream: boolean) =>
  chatBody({ stream, gw: { tier: 'auto' }, extra_body: { gw: { tier: 'auto' }, vendor: 1 } });
const calls: [string, string, string][] = [
  ['a chat', '/v1/chat/completions', chat(false)],
  ['a stream', '/v1/chat/completions', chat(true)],
  ['a completion', '/v1/completions', JSON.stringify({ model: 'sim-small', prompt: 'hi', gw: {} })],
  ['an embedding', '/v1/embeddings', JSON.stringify({ model: 'sim-embed', input: 'hi', gw: {} })],
];

/** The receipt of a JSON reply, or of the first event of a stream. */
const echoOf = (reply: Reply) => echoed.parse(JSON.parse((reply.text.split('\n')[0] ?? '').replace(/^data: /, '')));

it.each(calls)('%s reaches the provider with the headers of the allow-list and no other', async (_name, path, body) => {
  const reply = await send({ path: `${path}?api-version=secret`, body, headers: { ...personal, ...mine, ...echo } });
  expect(reply.status).toBe(200);
  const { sim_headers: headers, sim_path } = echoOf(reply);
  const { 'content-length': length, ...rest } = headers;
  expect(rest).toEqual({
    ...mine,
    ...echo,
    host: new URL(stack.simulatorUrl).host,
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  });
  expect(Number(length)).toBeGreaterThan(0);
  expect(sim_path).toBe(path);
  expect(JSON.stringify(headers)).not.toContain(stack.keys.enterprise.slice(16, 40));
});

it.each(calls)('%s reaches the provider without gw and extra_body', async (_name, path, body) => {
  const sent = JSON.parse(echoOf(await send({ path, body, headers: echo })).sim_body);
  const { gw: _gw, extra_body: extra = {}, ...asked } = JSON.parse(body);
  const { gw: _ours, ...beside } = extra;
  const added = {
    ...(path === '/v1/embeddings' ? {} : { temperature: 1 }),
    ...(asked.stream ? { stream_options: { include_usage: true } } : {}),
  };
  expect(sent).toEqual({ ...asked, ...beside, ...added });
});

it('the provider reads what was validated, each value as the client wrote it', async () => {
  const body =
    ' {\n"temperature":1.0e0 ,"model" : "sim\\u002dsmall","messages":[{"role":"user","content":"\\u0068i \\ud83d\\ude00\\/"}], "vendor":{"a":[1.50,-0]}}\t';
  const reply = echoOf(await send({ body, headers: echo }));
  expect(reply.sim_body).toBe(
    '{"model":"sim-small","temperature":1.0e0,"messages":[{"role":"user","content":"\\u0068i \\ud83d\\ude00\\/"}],"vendor":{"a":[1.50,-0]}}',
  );
  expect(reply.sim_headers['content-length']).toBe(String(Buffer.byteLength(reply.sim_body)));
});

const limits = ['limit', 'remaining', 'reset'].flatMap((name) => [
  `x-ratelimit-${name}-requests`,
  `x-ratelimit-${name}-day`,
]);

it.each([
  ['a JSON reply', {}, 'own-headers', 200, ['cache-control', 'content-length', 'x-gw-overhead-ms']],
  ['a stream', { stream: true }, 'own-headers', 200, ['cache-control', 'transfer-encoding', 'x-gw-overhead-ms']],
  ['an error of the provider', {}, 'own-headers,status-429', 502, ['cache-control', 'content-length', 'retry-after']],
])('%s brings no header of the provider but the allow-list', async (_name, fields, error, status, more) => {
  const reply = await send({ body: chatBody(fields), headers: { ...quick, 'x-sim-fault': error } });
  const ours = ['content-type', 'x-content-type-options', 'x-gw-receipt-id', 'x-request-id', 'date', 'server'];
  expect(reply.status).toBe(status);
  expect(Object.keys(reply.headers).sort()).toEqual([...ours, 'connection', ...limits, ...more].sort());
  expect(JSON.stringify(reply.headers)).not.toContain('forged');
  expect(JSON.stringify(reply.headers)).not.toContain('987654');
  expect(reply.headers.server).toBe('gw');
  expect(reply.headers['cache-control']).toBe('no-store');
  expect(reply.headers['x-gw-receipt-id']).toMatch(/^rcpt_[0-9a-f-]{36}$/);
  if (error === 'own-headers' && status === 200 && !reply.text.startsWith('data:'))
    expect(expectCompletion(reply).routing_trace.deployment).toBe('sim-us-east');
});
