/** Web pages of configured origins, on a running Envoy without any other part. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '@gw/contract/openapi';
import { vocabularyPath } from '@gw/contract/pack/context';
import { vocabulary } from '@gw/contract/pack/vocabulary';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-cors-'));
let port = 0;
let envoy: Child;

const ask = (path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);

beforeAll(async () => {
  const command = await envoyBinary(() => undefined);
  [port = 0] = await freePorts(1);
  writeEnvoyConfig(
    testSettings(dir, { publicPort: port, corsOrigins: ['https://app.example.com'] }),
    join(dir, 'envoy.json'),
  );
  const args = ['-c', join(dir, 'envoy.json'), '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  envoy = await startChild({ command, args, env: {}, logFile: join(dir, 'envoy.log') });
  const answers = () =>
    ask('/healthz', {}).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
}, 60_000);

afterAll(async () => {
  await envoy?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const preflight = (origin: string) =>
  ask('/v1/chat/completions', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

it('answers the preflight of a configured origin, without a key', async () => {
  const reply = await preflight('https://app.example.com');
  expect(reply.status).toBe(200);
  expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  expect(reply.headers.get('access-control-allow-headers')).toContain('authorization');
  expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
});

it('knows no other origin', async () => {
  for (const origin of [
    'https://evil.example.com',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'null',
  ]) {
    const reply = await preflight(origin);
    expect(reply.status, origin).toBe(405);
    expect(reply.headers.get('allow'), origin).toBe('POST');
    expect(await reply.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
    expect(reply.headers.get('access-control-allow-origin'), origin).toBeNull();
  }
});

it('shows the page of a configured origin the reply, refusals too, and the headers that belong to it', async () => {
  // Without ext-authz the call fails, which is a reply like any other.
  const reply = await ask('/v1/models', { headers: { origin: 'https://app.example.com' } });
  expect(reply.status).toBe(503);
  expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  expect(reply.headers.get('access-control-expose-headers')).toContain('x-gw-receipt-id');
});

it('the document of the API needs no other part, and the page of a configured origin may read it', async () => {
  const reply = await ask('/openapi.json', { headers: { origin: 'https://app.example.com' } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await reply.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument('https://gw.example.com'))));
  expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
});

it('the vocabulary of evidence packs needs no key and no other part', async () => {
  const reply = await ask(vocabularyPath, { headers: { origin: 'https://app.example.com' } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/ld+json']);
  expect(await reply.json()).toEqual(vocabulary);
  expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
});

it('the pages about errors need no other part', async () => {
  const reply = await ask('/errors/internal_error', {});
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await reply.text()).toContain('<h1>internal_error</h1>');
  expect((await ask('/errors/nothing', {})).status).toBe(404);
});
