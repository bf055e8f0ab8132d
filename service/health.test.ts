import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { type HealthEndpoint, serveHealth } from './health.ts';

let endpoint: HealthEndpoint | null = null;
afterEach(async () => endpoint?.close());

it('tells of health and of what is missing, and gives both as metrics', async () => {
  let redis = true;
  endpoint = await serveHealth('a-part', '127.0.0.1:0', () => ({
    ok: redis,
    details: { redis },
    degraded: redis ? { disk: 'It is full.' } : {},
  }));
  const get = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${endpoint?.port}${path}`);
    return { status: reply.status, text: await reply.text() };
  };
  expect(await get('/healthz')).toEqual({
    status: 200,
    text: '{"status":"degraded","redis":true,"degraded":{"disk":"It is full."}}',
  });
  expect((await get('/metrics')).text).toContain('gw_up{dependency="redis",part="a-part"} 1');
  redis = false;
  expect(await get('/healthz')).toEqual({ status: 503, text: '{"status":"unavailable","redis":false,"degraded":{}}' });
  const metrics = await get('/metrics');
  expect(metrics.text).toContain('gw_up{dependency="redis",part="a-part"} 0');
  expect(metrics.text).toContain('process_resident_memory_bytes{part="a-part"}');
  expect((await get('/else')).status).toBe(404);
});

it('shows nothing to a page whose name was made to lead here, and lets no browser guess a type', async () => {
  const report = () => ({ ok: true, details: {}, degraded: {} });
  endpoint = await serveHealth('a-part', '127.0.0.1:0', report, undefined, ['part.internal']);
  const get = async (path: string, host: string) => {
    const asked = request({ port: endpoint?.port, path, headers: { host } }).end();
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    return { status: reply.statusCode, body: await text(reply) };
  };
  for (const path of ['/metrics', '/healthz', '/else']) {
    const { body, status } = await get(path, 'evil.example:9101');
    expect([status, body]).toEqual([400, expect.stringContaining('GW_ALLOWED_HOSTS')]);
  }
  for (const host of ['part.internal:9101', '10.0.0.7:9101', 'a-part'])
    expect((await get('/metrics', host)).status, host).toBe(200);
});
