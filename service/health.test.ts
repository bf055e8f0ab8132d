import { afterEach, expect, it } from 'vitest';
import { type HealthEndpoint, serveHealth } from './health.ts';

let endpoint: HealthEndpoint | null = null;
afterEach(async () => endpoint?.close());

it('tells of health and of what is missing, and gives both as metrics', async () => {
  let redis = true;
  endpoint = await serveHealth('a-part', '127.0.0.1:0', () => ({ ok: redis, details: { redis } }));
  const get = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${endpoint?.port}${path}`);
    return { status: reply.status, text: await reply.text() };
  };
  expect(await get('/healthz')).toEqual({ status: 200, text: '{"status":"ok","redis":true}' });
  expect((await get('/metrics')).text).toContain('gw_up{dependency="redis",part="a-part"} 1');
  redis = false;
  expect(await get('/healthz')).toEqual({ status: 503, text: '{"status":"unavailable","redis":false}' });
  const metrics = await get('/metrics');
  expect(metrics.text).toContain('gw_up{dependency="redis",part="a-part"} 0');
  expect(metrics.text).toContain('process_resident_memory_bytes{part="a-part"}');
  expect((await get('/else')).status).toBe(404);
});
