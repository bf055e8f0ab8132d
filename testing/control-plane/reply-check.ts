/**
 * Holds every reply of the control plane to the schema of its route, whatever a test is about: one during which a reply did
 * not fit fails. It is loaded before each file of tests (vitest.config.ts).
 */
import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect } from 'vitest';

const misfits: string[] = [];

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onSend', async ({ method, routeOptions, url }, { statusCode }, payload) => {
    const schema = routeOptions.config?.reply;
    if (!schema || method === 'HEAD' || statusCode < 200 || statusCode > 299) return;
    const result = schema.safeParse(typeof payload === 'string' ? JSON.parse(payload) : payload);
    if (!result.success) misfits.push(`${method} ${url}: ${result.error.message}`);
  });
});

afterEach(() => expect(misfits.splice(0), 'replies that are not what their routes state').toEqual([]));
