/**
 * Requests that an official client would not send, and what a refusal has to look like.
 *
 * Invariant: nothing here mends a request on its way, so what a test writes is what Envoy reads.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { routingTraceSchema } from '@gw/contract/routing-trace';
import { readRunFile } from '@gw/stack/run-file';
import { expect } from 'vitest';
import { z } from 'zod';
import { stack } from '../shared-stack.ts';

export { stack };

export const chatPath = '/v1/chat/completions';
export const messages = [{ role: 'user', content: 'hi' }];
export const chatBody = (fields: object = {}): string => JSON.stringify({ model: 'sim-small', messages, ...fields });

/** Simulated replies at once, and short. */
export const quick = { 'x-sim-tokens-per-second': '0', 'x-sim-delay-ms': '0', 'x-sim-tokens': '8' };

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** Null sends none. Default: Enterprise, whose limits are out of reach. */
  readonly key?: string | null;
  /** Null takes a header away that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly body?: string | Uint8Array;
  /** Without a length: in chunks. */
  readonly chunked?: boolean;
  /** Default: the shared stack. */
  readonly url?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** True if the connection broke before the reply was whole. */
  readonly broken: boolean;
}

/** On a connection of its own. Rejects if no reply began. */
export function send(sent: Sent = {}): Promise<Reply> {
  const { method = 'POST', path = chatPath, key = stack.keys.enterprise, body, chunked = false } = sent;
  const wanted: Record<string, string | readonly string[] | null> = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...(chunked ? { 'transfer-encoding': 'chunked' } : {}),
    ...sent.headers,
  };
  const headers = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
  const { hostname, port } = new URL(sent.url ?? stack.publicUrl);
  const options = { hostname, port, method, path, headers: headers as OutgoingHttpHeaders, agent: false };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', () => undefined);
      incoming.on('close', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, broken: !incoming.complete });
      });
    });
    outgoing.on('error', reject);
    if (body !== undefined) outgoing.write(body);
    outgoing.end();
  });
}

/** A call of an inference endpoint, answered as fast as the simulator can. */
export const call = (fields: object = {}, headers: Sent['headers'] = {}, sent: Sent = {}): Promise<Reply> =>
  send({ ...sent, body: chatBody(fields), headers: { ...quick, ...headers } });

export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

export const invalid = (code: string, param: string | null = null): Refusal => ({
  status: 400,
  type: 'validation_error',
  code,
  param,
});
export const unknownPath: Refusal = { ...invalid('unknown_endpoint'), status: 404 };
export const wrongMethod: Refusal = { ...invalid('method_not_allowed'), status: 405 };
export const badKey = (code: string): Refusal => ({ status: 401, type: 'auth_error', code, param: null });
export const upstream = (code: string): Refusal => ({ status: 502, type: 'inference_error', code, param: null });

const errorObject = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    type: z.string(),
    message: z.string().min(1),
    param: z.string().nullable(),
    doc_url: z.string().regex(/^https?:\/\/[^/]+\/errors\/[a-z_]+$/),
  }),
});

/** The paths of Anthropic's API have errors in a form of their own, with its word for the type; all else of them is the same. */
function ofEitherForm(text: string, ownType: string): z.infer<typeof errorObject>['error'] {
  const body = z.looseObject({ type: z.string().optional(), error: z.looseObject({}) }).parse(JSON.parse(text));
  if (body.type === undefined) return errorObject.parse(body).error;
  expect(body).toMatchObject({ type: 'error', error: { type: expect.stringMatching(/_error$|^request_too_large$/) } });
  return errorObject.parse({ error: { ...body.error, type: ownType } }).error;
}

/** The error object and nothing else, with the headers that belong to it. Returns its message. */
export function expectRefusal(reply: Pick<Reply, 'status' | 'headers' | 'text'>, refusal: Refusal): string {
  const { code, type, param, message } = ofEitherForm(reply.text, refusal.type);
  expect({ status: reply.status, type, code, param }).toEqual(refusal);
  expect(reply.headers['content-type']).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(reply.headers['www-authenticate']).toBe(refusal.status === 401 ? 'Bearer' : undefined);
  return message;
}

const completion = z.looseObject({
  choices: z.array(z.unknown()).min(1),
  gw: z.looseObject({ id: z.string(), tier: z.string(), status: z.string(), degraded_reason: z.string().optional() }),
  routing_trace: routingTraceSchema,
});
export type Completion = z.infer<typeof completion>;

export function expectCompletion(reply: Reply): Completion {
  expect(reply.status, reply.text.slice(0, 500)).toBe(200);
  return completion.parse(JSON.parse(reply.text));
}

/** For `x-sim-marker`: names the requests of one test at the provider. */
export const newMarker = (): string => `marker-${randomUUID()}`;

/** How many requests with this marker have reached the provider. */
export async function reachedProvider(marker: string): Promise<number> {
  const reply = await fetch(`${stack.simulatorUrl}/sim/count?marker=${marker}`);
  return z.object({ count: z.number() }).parse(await reply.json()).count;
}

/** Part → process id, at this moment. */
export function processIds(): Record<string, number> {
  const run = readRunFile(stack.dir);
  if (!run) throw new Error('The stack has no run file.');
  return run.pids;
}
