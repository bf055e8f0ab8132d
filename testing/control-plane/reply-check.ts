/**
 * Holds every reply of the control plane to the schema of its route, whatever a test is about: one during which a reply did
 * not fit fails. It is loaded before each file of tests (vitest.config.ts) of the projects `fast` and `stores`.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, expect } from 'vitest';

const channel = 'fastify.initialization';
const misfits: string[] = [];

/** The replies that did not fit since the last question. */
export const takeMisfits = (): readonly string[] => misfits.splice(0);

function check(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onSend', async ({ method, routeOptions, url }, reply, payload) => {
    const schema = routeOptions.config?.reply;
    const { statusCode } = reply;
    if (!schema || method === 'HEAD' || statusCode < 200 || statusCode > 299) return;
    // Bytes that pass are not held to be looked at.
    if (payload instanceof Readable) return;
    // A table for spreadsheets says what the JSON says.
    if (String(reply.getHeader('content-type')).startsWith('text/csv')) return;
    const result = schema.safeParse(typeof payload === 'string' ? JSON.parse(payload) : payload);
    if (!result.success) misfits.push(`${method} ${url}: ${result.error.message}`);
  });
}

const expectNone = () => expect(takeMisfits(), 'replies that are not what their routes state').toEqual([]);

subscribe(channel, check);
afterEach(expectNone);
// The files of a worker share its process.
afterAll(() => {
  unsubscribe(channel, check);
  expectNone();
});
