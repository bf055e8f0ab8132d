/** A change of a key or of its account, while 32 connections call. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@gw/stack/stack';

const connections = 32;
/** Within it a change holds everywhere, ms after the reply to it. */
const promisedMs = 1000;

export interface LoadedCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export const listModels: LoadedCall = { method: 'GET', path: '/v1/models' };
export const complete: LoadedCall = {
  method: 'POST',
  path: '/v1/chat/completions',
  body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 }),
};

export interface LoadedChange {
  readonly call: LoadedCall;
  readonly key: string;
  readonly change: () => Promise<unknown>;
  /** The part of a reply that counts; default: `200`, or status and code. */
  readonly view?: (reply: LoadedReply) => string;
  /** How long after the promised second the calls go on, ms. */
  readonly forMs?: number;
  /** The pause of each connection between two calls, ms. Default: none, so the load is as much as the machine can take. */
  readonly pauseMs?: number;
}

export interface LoadedReply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

export interface Seen {
  /** The calls that were answered before the change began. */
  readonly before: ReadonlySet<string>;
  /** The calls that were sent more than a second after the reply to the change. */
  readonly late: ReadonlySet<string>;
  readonly calls: number;
}

export const outcomeOf = ({ status, text }: LoadedReply): string =>
  status === 200 ? '200' : `${status} ${JSON.parse(text).error.code}`;

export async function underLoad(
  { publicUrl }: Pick<Stack, 'publicUrl'>,
  { call, change, forMs = 400, pauseMs = 0, key, view = outcomeOf }: LoadedChange,
): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const before = new Set<string>();
  const late = new Set<string>();
  let calls = 0;
  let allAnswered = (): void => {};
  /** As many as there are connections: the calls flow, and what was known before is seen. */
  const answered = new Promise<void>((resolve) => {
    allAnswered = resolve;
  });
  let begunAt = Number.POSITIVE_INFINITY;
  let repliedAt = Number.POSITIVE_INFINITY;
  const work = async (): Promise<void> => {
    let isLate = false;
    // Each connection calls at least once after the promised second, however long a call takes on a busy machine.
    while (!isLate || performance.now() < repliedAt + promisedMs + forMs) {
      const sentAt = performance.now();
      const seen = view(await send(agent, publicUrl, key, call));
      calls += 1;
      if (performance.now() < begunAt) before.add(seen);
      if (calls === connections) allAnswered();
      isLate = sentAt > repliedAt + promisedMs;
      if (isLate) late.add(seen);
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const working = Promise.all(Array.from({ length: connections }, work));
  await Promise.race([answered, working]);
  begunAt = performance.now();
  await change();
  repliedAt = performance.now();
  await working;
  agent.destroy();
  return { before, late, calls };
}

function send(agent: Agent, publicUrl: string, key: string, { body, method, path }: LoadedCall): Promise<LoadedReply> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'x-sim-tokens-per-second': '0',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request(`${publicUrl}${path}`, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
