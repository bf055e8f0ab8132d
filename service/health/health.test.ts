import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { type HealthOptions, serveHealth } from './health.ts';
import { openTroubles } from './troubles.ts';

const log = pino({ level: 'silent' });
const onFreePort = { healthListen: '127.0.0.1:0', metricsListen: null, allowedHosts: [] } as const;

async function serving(options: Partial<HealthOptions> = {}) {
  const troubles = openTroubles(log, () => performance.now());
  const report = () => ({ ok: true, details: {} });
  const endpoint = await serveHealth({ part: 'a-part', listeners: onFreePort, log, report, troubles, ...options });
  onTestFinished(() => endpoint.close());
  const get = async (path: string, port = endpoint.port) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: reply.status, text: await reply.text() };
  };
  return { endpoint, get, troubles };
}

it('tells of health and of what is missing, and gives both as metrics', async () => {
  let redis = true;
  const { get } = await serving({ report: () => ({ ok: redis, details: { redis } }) });
  const well = '{"status":"ok","redis":true,"event_loop":true,"degraded":{}}';
  expect(await get('/healthz')).toEqual({ status: 200, text: well });
  expect(await get('/readyz')).toEqual({ status: 200, text: '{"status":"ok"}' });
  const metrics = await get('/metrics');
  for (const line of ['gw_up{dependency="redis",part="a-part"} 1', 'gw_event_loop_silent_seconds{part="a-part"} '])
    expect(metrics.text).toContain(line);
  redis = false;
  expect(await get('/healthz')).toMatchObject({ status: 503, text: expect.stringContaining('"redis":false') });
  expect(await get('/readyz')).toEqual({ status: 503, text: '{"status":"unavailable"}' });
  expect((await get('/livez')).status).toBe(200);
  const later = await get('/metrics');
  expect(later.text).toContain('gw_up{dependency="redis",part="a-part"} 0');
  expect(later.text).toContain('process_resident_memory_bytes{part="a-part"}');
  expect((await get('/else')).status).toBe(404);
});

it('names what is wrong while the service goes on, until it is over', async () => {
  const { get, troubles } = await serving();
  troubles.tell('clock', 'The clock of this machine is 90 s ahead. Set it.');
  expect(await get('/healthz')).toEqual({
    status: 200,
    text: '{"status":"degraded","event_loop":true,"degraded":{"clock":"The clock of this machine is 90 s ahead. Set it."}}',
  });
  expect((await get('/metrics')).text).toContain('gw_degraded{cause="clock",part="a-part"} 1');
  troubles.over('clock');
  expect((await get('/healthz')).text).toContain('"status":"ok"');
  expect((await get('/metrics')).text).toContain('gw_degraded{cause="clock",part="a-part"} 0');
});

it('shows metrics on a listener of their own, or on loopback alone', async () => {
  const own = await serving({ listeners: { ...onFreePort, metricsListen: '127.0.0.1:0' } });
  expect(await own.get('/metrics')).toMatchObject({ status: 404, text: expect.stringContaining('METRICS_LISTEN') });
  expect((await own.get('/metrics', own.endpoint.metricsPort)).text).toContain('gw_event_loop_silent_seconds');
  for (const path of ['/healthz', '/readyz', '/livez'])
    expect((await own.get(path, own.endpoint.metricsPort)).status).toBe(404);
  const open = await serving({ listeners: { ...onFreePort, healthListen: '0.0.0.0:0' } });
  expect((await open.get('/metrics')).status).toBe(404);
  expect((await open.get('/healthz')).status).toBe(200);
});

it('answers while the event loop stands still, and says that it does', async () => {
  const times = {
    patienceMs: { '/readyz': 50, '/healthz': 50, '/metrics': 50 },
    toldAfterS: 0.2,
    deadAfterS: 0.5,
    lookEveryMs: 50,
  };
  const { endpoint, get } = await serving({ times });
  // Another process asks, since this one stands still.
  const { execFile } = await import('node:child_process');
  const script = `
    const get = async (path) => {
      const reply = await fetch('http://127.0.0.1:${endpoint.port}' + path);
      return [path, reply.status, await reply.text()];
    };
    const all = () => Promise.all(['/livez', '/readyz', '/healthz', '/metrics'].map(get));
    // The service turns for a moment between its pauses.
    let answers = await all();
    while (answers.map(([, status]) => status).join() !== '503,503,503,200') answers = await all();
    console.log(JSON.stringify(answers));`;
  const child = execFile(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
  const said = text(child.stdout ?? Readable.from([]));
  const lock = new Int32Array(new SharedArrayBuffer(4));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  // Long enough for another process to start and to ask, in turns so that its end is seen.
  for (let turns = 0; turns < 8 && !isOver(); turns++) {
    Atomics.wait(lock, 0, 0, 2000);
    await delay(1);
  }
  const answers = JSON.parse(await said) as [string, number, string][];
  expect(answers.map(([path, status]) => [path, status])).toEqual([
    ['/livez', 503],
    ['/readyz', 503],
    ['/healthz', 503],
    ['/metrics', 200],
  ]);
  expect(answers[2]?.[2]).toContain('"event_loop":false');
  expect(answers[2]?.[2]).toContain('has to be started again');
  expect(answers[3]?.[2]).toContain('gw_up{dependency="event_loop",part="a-part"} 0');
  expect(answers[3]?.[2]).toContain('gw_degraded{cause="event_loop",part="a-part"} 1');
  await expect.poll(() => get('/livez')).toEqual({ status: 200, text: '{"status":"ok"}' });
});

it('shows nothing to a page whose name was made to lead here, and lets no browser guess a type', async () => {
  const { endpoint } = await serving({ listeners: { ...onFreePort, allowedHosts: ['part.internal'] } });
  const get = async (path: string, host: string) => {
    const asked = request({ port: endpoint.port, path, headers: { host } }).end();
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    return { status: reply.statusCode, body: await text(reply) };
  };
  for (const path of ['/metrics', '/healthz', '/livez', '/else']) {
    const { body, status } = await get(path, 'evil.example:9101');
    expect([status, body]).toEqual([400, expect.stringContaining('GW_ALLOWED_HOSTS')]);
  }
  for (const host of ['part.internal:9101', '10.0.0.7:9101', 'a-part'])
    expect((await get('/metrics', host)).status, host).toBe(200);
});

it('rejects if a port is taken', async () => {
  const { endpoint } = await serving();
  const listeners = { ...onFreePort, healthListen: `127.0.0.1:${endpoint.port}` };
  await expect(serving({ listeners })).rejects.toThrow('EADDRINUSE');
});
