import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { takeMisfits } from './reply-check.ts';

test('a reply that is not what its route states is noted, and one that is, or that is an error, is not', async () => {
  const app = Fastify();
  const config = { reply: z.strictObject({ id: z.string() }) };
  app.get('/right', { config }, async () => ({ id: 'a' }));
  app.get('/wrong', { config }, async () => ({ id: 1 }));
  app.get('/error', { config }, async (_request, reply) => reply.code(404).send({ error: {} }));
  for (const url of ['/right', '/error']) await app.inject(url);
  expect(takeMisfits()).toEqual([]);
  await app.inject('/wrong');
  expect(takeMisfits()).toEqual([expect.stringContaining('GET /wrong')]);
});
