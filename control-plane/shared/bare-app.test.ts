import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { heldBodyBytes } from '@gw/contract/access';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { bareApp } from './bare-app.ts';
import type { Context } from './context.ts';

const addresses = { docs: 'https://docs.example', support: 'https://support.example' };

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
