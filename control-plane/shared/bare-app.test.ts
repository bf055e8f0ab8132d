import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { heldBodyBytes } from '@gw/contract/access';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { bareApp } from './bare-app.ts';
import type { Context } from './context.ts';

const addresses = { docs: 'https://docs.example', support: 'https://support.example' };

test('an Idempotency-Key is refused wherever something is made, and no handler runs', async () => {
  const app = bareApp({ log: pino({ level: 'silent' }), addresses } as unknown as Context);
  let made = 0;
  app.post('/things', async () => ({ made: ++made }));
  app.get('/things', async () => ({ made }));
  const ask = (method: 'GET' | 'POST', url: string) =>
    app.inject({ method, url, headers: { 'idempotency-key': 'once' } });
  const refused = await ask('POST', '/things');
  expect([refused.statusCode, refused.json().error]).toMatchObject([
    400,
    { code: 'invalid_idempotency_key', param: 'Idempotency-Key' },
  ]);
  expect((await ask('GET', '/things')).json()).toEqual({ made: 0 });
  expect((await ask('POST', '/nothing')).statusCode).toBe(404);
  await app.close();
});

test('as much as Envoy holds of a body is read before it is refused, so that who still writes reads the refusal', async () => {
  const app = bareApp({ log: pino({ level: 'silent' }), addresses } as unknown as Context);
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
