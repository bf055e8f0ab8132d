/**
 * Calls of every kind by the official SDK, with its usual retries, over all Envoys in turn; and what came back of each
 * HTTP request, byte for byte.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { type Random, randomOf } from './random.ts';

/** One HTTP request; a call of the SDK makes up to three of them. */
export interface Attempt {
  /** The provider is told it (`x-sim-marker`). */
  readonly marker: string;
  readonly kind: string;
  readonly url: string;
  readonly idempotencyKey: string | null;
  readonly beganMs: number;
  endedMs: number;
  /** Null where the connection broke before the headers. */
  status: number | null;
  headers: Headers;
  text: string;
  /** False if the body broke off, or its client left. */
  whole: boolean;
  aborted: boolean;
  fault: string | null;
}

export const isReplay = ({ headers }: Attempt): boolean => headers.get('idempotent-replayed') === 'true';

export interface Traffic {
  readonly attempts: readonly Attempt[];
  /** Resolves when all calls have ended. */
  stop(): Promise<void>;
}

export interface TrafficOptions {
  /** Without `/v1`. */
  readonly publicUrls: readonly string[];
  readonly apiKey: string;
  readonly seed: number;
}

const messages = [{ role: 'user' as const, content: 'What stays standing when everything shakes?' }];
/** The SDK hands on what broke a stream as it comes from `fetch`; the attempt says whether that was to be. */
const isExpected = (error: unknown) => error instanceof OpenAI.APIError || error instanceof TypeError;

/** Calls at once; those with an idempotency key are up to three. */
export const connections = 16;

export function startTraffic({ publicUrls, apiKey, seed }: TrafficOptions): Traffic {
  const attempts: Attempt[] = [];
  let stopped = false;
  const work = async (connection: number): Promise<void> => {
    const random = randomOf(seed * 1000 + connection);
    while (!stopped) {
      const kind = random.pick(kinds);
      const record = recorder(attempts, { kind: kind.name, publicUrls, random });
      const client = new OpenAI({ baseURL: `${publicUrls[0]}/v1`, apiKey, fetch: record, timeout: 60_000 });
      try {
        await kind(client, random);
      } catch (error) {
        if (!isExpected(error)) attempts.push(unexpected(kind.name, error));
        // As long as a client that was told to try again later, without its patience.
        await delay(random.between(20, 200));
      }
    }
  };
  const working = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
  return {
    attempts,
    stop: async () => {
      stopped = true;
      await working;
    },
  };
}

type Kind = (client: OpenAI, random: Random) => Promise<void>;

const sim = (random: Random): Record<string, string> => ({
  'x-sim-delay-ms': String(random.between(0, 300)),
  'x-sim-tokens': String(random.between(10, 120)),
  'x-sim-tokens-per-second': String(random.between(40, 400)),
});
const small = { model: 'sim-small', messages };
async function read(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

const kinds: readonly Kind[] = [
  async function chat(client, random) {
    await client.chat.completions.create(small, { headers: sim(random) });
  },
  async function pinned(client, random) {
    const body = { ...small, gw: { region: random.pick(['eu-north', 'us-east', 'eu-west']) } };
    await client.chat.completions.create(body, { headers: sim(random) });
  },
  async function chatStream(client, random) {
    await read(await client.chat.completions.create({ ...small, stream: true }, { headers: sim(random) }));
  },
  async function chatStreamToo(client, random) {
    await read(await client.chat.completions.create({ ...small, stream: true }, { headers: sim(random) }));
  },
  async function completionStream(client, random) {
    const body = { model: 'sim-small', prompt: 'Stand', stream: true as const };
    await read(await client.completions.create(body, { headers: sim(random) }));
  },
  async function embedding(client, random) {
    await client.embeddings.create({ model: 'sim-embed', input: 'Stand' }, { headers: sim(random) });
  },
  async function keyed(client, random) {
    const headers = { ...sim(random), 'idempotency-key': randomUUID() };
    const stream = random.chance(0.5);
    const once = async () => {
      if (stream) await read(await client.chat.completions.create({ ...small, stream: true }, { headers }));
      else await client.chat.completions.create(small, { headers });
    };
    const all = await Promise.allSettled(Array.from({ length: random.between(1, 3) }, once));
    const failed = all.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    await once();
  },
  async function left(client, random) {
    const signal = AbortSignal.timeout(random.between(1, 500));
    await client.chat.completions.create(small, { headers: sim(random), signal });
  },
  async function leftStream(client, random) {
    const signal = AbortSignal.timeout(random.between(1, 1500));
    await read(await client.chat.completions.create({ ...small, stream: true }, { headers: sim(random), signal }));
  },
  async function refusedByProvider(client, random) {
    const fault = random.pick(['status-429', 'status-500', 'status-503', 'reset', 'malformed']);
    await client.chat.completions.create(small, { headers: { ...sim(random), 'x-sim-fault': fault } });
  },
  async function cutByProvider(client, random) {
    const headers = { ...sim(random), 'x-sim-fault': random.pick(['cut', 'no-done', 'error-event']) };
    await read(await client.chat.completions.create({ ...small, stream: true }, { headers }));
  },
];

function unexpected(kind: string, error: unknown): Attempt {
  const now = Date.now();
  const fault = `the SDK failed: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  const nothing = { status: null, headers: new Headers(), text: '', whole: false, aborted: false };
  return { marker: '', kind, url: '', idempotencyKey: null, beganMs: now, endedMs: now, ...nothing, fault };
}

interface Recorded {
  readonly kind: string;
  readonly publicUrls: readonly string[];
  readonly random: Random;
}

/** A `fetch` that goes to any of the Envoys, as a load balancer would, and writes down what came. */
function recorder(attempts: Attempt[], { kind, publicUrls, random }: Recorded): typeof fetch {
  return async (input, init) => {
    const origin = random.pick(publicUrls);
    const { pathname } = new URL(String(input));
    const headers = new Headers(init?.headers);
    const marker = randomUUID();
    headers.set('x-sim-marker', marker);
    const idempotencyKey = headers.get('idempotency-key');
    const attempt: Attempt = {
      marker,
      kind,
      url: origin,
      idempotencyKey,
      beganMs: Date.now(),
      endedMs: Number.POSITIVE_INFINITY,
      status: null,
      headers: new Headers(),
      text: '',
      whole: false,
      aborted: false,
      fault: null,
    };
    attempts.push(attempt);
    const end = (fault: unknown) => {
      attempt.endedMs = Date.now();
      attempt.aborted = init?.signal?.aborted === true;
      attempt.fault = fault instanceof Error ? String(fault.cause ?? fault.message) : null;
    };
    try {
      const response = await fetch(`${origin}${pathname}`, { ...init, headers });
      Object.assign(attempt, { status: response.status, headers: response.headers });
      return new Response(response.body && recorded(response.body, attempt, end), response);
    } catch (error) {
      end(error);
      throw error;
    }
  };
}

function recorded(
  body: ReadableStream<Uint8Array>,
  attempt: Attempt,
  end: (fault: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        attempt.text += decoder.decode(value, { stream: !done });
        if (done) {
          attempt.whole = true;
          end(null);
          controller.close();
        } else controller.enqueue(value);
      } catch (error) {
        end(error);
        controller.error(error);
      }
    },
    cancel: async (reason) => {
      end(null);
      await reader.cancel(reason);
    },
  });
}
