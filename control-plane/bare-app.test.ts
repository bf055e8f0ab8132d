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
