import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { heldBodyBytes } from '@gw/contract/access';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bareApp } from './bare-app.ts';
import type { Context } from './context.ts';

const addresses = { docs: 'https://docs.example', support: 'https://support.example' };

test('as much as Envoy holds of a body is read before it is refused, so that who still writes reads the refusal', async () => {
  const app = bareApp({ log: pino({ level: 'silent' }), addresses } as unknown as Context);
  app.put('/things/:thing_id', async () => ({}));
  app.post('/things', async () => ({}));
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const outgoing = request(new URL('/things', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': heldBodyBytes },
  });
  const replied = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.write(Buffer.alloc(heldBodyBytes - 1, 0x20));
  expect(await Promise.race([replied, setTimeout(300, 'nothing yet')])).toBe('nothing yet');
  outgoing.end(' ');
  const [reply] = await replied;
  expect(reply.statusCode).toBe(400);
  reply.resume();
  await app.close();
});

describe('a request', () => {
  const app = bareApp({ log: pino({ level: 'silent' }), addresses } as unknown as Context);
  app.delete('/things/:thing_id', async (_request, reply) => reply.code(204).send());
  app.put('/things/:thing_id', async () => ({}));
  app.post('/things', async ({ body }) => ({ body: body ?? null }));
  const at = z.iso.datetime({ offset: true });
  app.get(
    '/sums',
    { schema: { querystring: z.object({ from: at.optional(), name: z.string().optional() }) } },
    async ({ query }) => query as object,
  );
  const jsonType = { 'content-type': 'application/json' };
  afterAll(() => app.close());

  test.each([
    ['application/json', {}],
    ['application/json; charset=utf-8', { 'content-length': '0' }],
    ['application/json', { 'transfer-encoding': 'chunked' }],
    ['application/x-www-form-urlencoded', { 'content-length': '0' }],
    ['text/plain', {}],
  ])('without a body may state the type of one: %s, %j', async (type, headers) => {
    const asked = { headers: { 'content-type': type, ...headers } };
    expect((await app.inject({ method: 'DELETE', url: '/things/1', ...asked })).statusCode).toBe(204);
    expect((await app.inject({ method: 'POST', url: '/things', ...asked })).json()).toEqual({ body: null });
  });

  test('may have a body that begins with a mark, and none that is no JSON or another type', async () => {
    const send = (payload: string, type = 'application/json') =>
      app.inject({ method: 'POST', url: '/things', payload, headers: { 'content-type': type } });
    expect((await send('\ufeff{"a":1}')).json()).toEqual({ body: { a: 1 } });
    for (const bad of ['{', ' ', '{"__proto__":{}}']) expect((await send(bad)).statusCode, bad).toBe(400);
    expect((await send('a=1', 'application/x-www-form-urlencoded')).json().error.code).toBe('invalid_content_type');
  });

  test.each([
    ['/things/', '/things'],
    ['//things', '/things'],
    ['/things/1/', '/things/{thing_id}'],
    ['//things//1//', '/things/{thing_id}'],
    ['/sums/?from=2026-01-01T00:00:00Z', '/sums'],
  ])('to a path with an extra slash is told the right one: %s', async (url, path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      const reply = await app.inject({ method, url });
      expect([reply.statusCode, reply.json().error.code]).toEqual([404, 'unknown_endpoint']);
      expect(reply.json().error.message).toContain(`the path has an extra slash. Use ${path}.`);
    }
  });

  test.each(['/nothing/', '/things/1/2/', '/things-', '/'])('to an unknown path is told none: %s', async (url) => {
    expect((await app.inject({ url })).json().error.message).not.toContain('slash');
  });

  test('may have an offset in a time whose plus sign is not encoded', async () => {
    const from = async (query: string) => (await app.inject({ url: `/sums?${query}`, headers: jsonType })).json();
    for (const sign of ['+', '%2B', '%2b', '%20'])
      expect(await from(`from=2026-01-01T00:00:00${sign}02:00`)).toEqual({ from: '2026-01-01T00:00:00+02:00' });
    expect(await from('from=2026-01-01T00:00:00.123-02:00')).toEqual({ from: '2026-01-01T00:00:00.123-02:00' });
    expect(await from('name=a+b')).toEqual({ name: 'a b' });
    expect((await from('from=2026-01-01+02:00')).error.code).toBe('invalid_from');
  });
});
