/**
 * Calls that a client leaves in their middle, each at another place.
 *
 * Invariant: a call is in that middle when its promise resolves, so that leaving it afterwards means what its name says.
 */
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { connect, constants } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

export interface CallPlace {
  readonly publicUrl: string;
  readonly simulatorUrl: string;
  readonly key: string;
}

/** Breaks the call off. */
export type Leave = () => void;
export type Call = (place: CallPlace) => Promise<Leave>;

const messages = [{ role: 'user', content: 'hello' }];
const chat = (fields: object = {}) => JSON.stringify({ model: 'sim-large', messages, ...fields });
/** For longer than any test looks at it. */
const talking = { 'x-sim-tokens': '400', 'x-sim-tokens-per-second': '2' };
const silent = { 'x-sim-delay-ms': '300000' };

interface RequestOptions {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const headersOf = ({ key }: CallPlace, { headers }: RequestOptions) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  ...headers,
});

function begin(place: CallPlace, asked: RequestOptions): ClientRequest {
  const { path = '/v1/chat/completions', method = 'POST', body } = asked;
  const headers = { ...headersOf(place, asked), ...(body !== undefined && { 'content-length': body.length }) };
  return request(`${place.publicUrl}${path}`, { method, headers, agent: false });
}

/** Left while its reply comes, after so many events. */
const duringReply =
  (asked: RequestOptions, events = 1): Call =>
  (place) =>
    new Promise((resolve, reject) => {
      const call = begin(place, asked);
      call.on('error', reject);
      call.on('response', (reply) => {
        reply.on('error', () => undefined);
        if (reply.statusCode !== 200) reject(new Error(`The call was refused with ${reply.statusCode}.`));
        let text = '';
        reply.on('data', (bytes: Buffer) => {
          text += bytes;
          if (text.split('\n\n').length > events) resolve(() => call.destroy());
        });
      });
      call.end(asked.body);
    });

async function timesAsked({ simulatorUrl }: CallPlace, marker: string): Promise<number> {
  const reply = await fetch(`${simulatorUrl}/sim/count?marker=${marker}`);
  return z.object({ count: z.number() }).parse(await reply.json()).count;
}

/** Left while the provider has it and says nothing. */
const beforeReply =
  (asked: RequestOptions): Call =>
  async (place) => {
    const marker = randomUUID();
    const call = begin(place, { ...asked, headers: { ...asked.headers, 'x-sim-marker': marker } });
    call.on('error', () => undefined);
    call.end(asked.body);
    for (const deadline = Date.now() + 20_000; (await timesAsked(place, marker)) === 0; await delay(20))
      if (Date.now() > deadline) throw new Error('The call did not reach the provider.');
    return () => call.destroy();
  };

/** Left while Envoy waits for the rest of the body: it has answered the expectation. */
const duringUpload: Call = (place) =>
  new Promise((resolve, reject) => {
    const call = begin(place, { headers: { 'content-length': '1000000', expect: '100-continue' } });
    call.on('error', reject);
    call.on('continue', () => call.write('x'.repeat(500_000), () => resolve(() => call.destroy())));
    call.flushHeaders();
  });

/** Left as soon as the request is on its way. */
const atOnce =
  (asked: RequestOptions): Call =>
  (place) =>
    new Promise((resolve) => {
      const call = begin(place, asked);
      call.on('error', () => undefined);
      call.on('finish', () => resolve(() => call.destroy()));
      call.end(asked.body);
    });

/** One stream of a connection is reset; the connection stays for a while, as that of a client library. */
const resetOverHttp2 =
  (asked: RequestOptions): Call =>
  (place) =>
    new Promise((resolve, reject) => {
      const session = connect(place.publicUrl);
      session.on('error', reject);
      const call = session.request({
        ':method': 'POST',
        ':path': '/v1/chat/completions',
        ...headersOf(place, asked),
      });
      call.on('error', () => undefined);
      call.once('data', () =>
        resolve(() => {
          call.close(constants.NGHTTP2_CANCEL);
          session.close();
        }),
      );
      call.end(asked.body);
    });

export const stream = duringReply({ body: chat({ stream: true }), headers: talking });

export const calls = {
  'a stream': stream,
  'a stream over HTTP/2': resetOverHttp2({ body: chat({ stream: true }), headers: talking }),
  'a stream of completions': duringReply({
    path: '/v1/completions',
    body: JSON.stringify({ model: 'sim-large', prompt: 'hello', stream: true }),
    headers: talking,
  }),
  'a stream before its first event': beforeReply({ body: chat({ stream: true }), headers: silent }),
  'a stream whose end the sidecar waits for': duringReply(
    {
      body: chat({ stream: true }),
      headers: { 'x-sim-tokens': '3', 'x-sim-tokens-per-second': '20', 'x-sim-fault': 'stall-end' },
    },
    // The role and three words; what ends the stream is held.
    4,
  ),
  'a JSON call before its reply': beforeReply({ body: chat(), headers: silent }),
  'embeddings before the reply': beforeReply({
    path: '/v1/embeddings',
    body: JSON.stringify({ model: 'sim-embed', input: 'hello' }),
    headers: silent,
  }),
  'an upload half sent': duringUpload,
  'a call as soon as it is sent': atOnce({ body: chat() }),
  'a route of the control plane': atOnce({ path: '/v1/usage', method: 'GET' }),
} as const satisfies Readonly<Record<string, Call>>;
export type CallName = keyof typeof calls;
export const callNames = Object.keys(calls) as CallName[];
/** These calls have not reached the sidecar when their clients leave. */
export const withoutSidecar = ['an upload half sent', 'a route of the control plane'] as const satisfies CallName[];
