/**
 * The load of a day while the parts are replaced: calls of every kind over connections that stay open, long streams, the
 * official client, reads and changes. Plain sockets never retry, so they see each failure.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { isWhole, loadCalls, type Refusal, send } from '../outage/load-client.ts';

export interface RollingLoadOptions {
  readonly url: string;
  /** Its limits are out of reach. */
  readonly key: string;
  /** May also issue and revoke keys. */
  readonly adminKey: string;
  /** How long a stream takes, seconds. Default 10. */
  readonly streamS?: number;
  /** False: nothing that a control plane answers. Default true. */
  readonly manages?: boolean;
}

export interface RollingLoad {
  /** Calls that have ended so far, by kind. */
  readonly ended: ReadonlyMap<string, number>;
  /** How many long streams are open. */
  openStreams(): number;
  stop(): Promise<{ readonly failures: readonly string[]; readonly receiptIds: readonly string[] }>;
}

const message = { role: 'user' as const, content: 'What keeps a gateway standing?' };
const model = 'sim-small';

/** `url` may lead to several gateways, as long as each connection leads to one. */
export function startRollingLoad({
  url,
  key,
  adminKey,
  streamS = 10,
  manages = true,
}: RollingLoadOptions): RollingLoad {
  const agent = new Agent({ keepAlive: true });
  const slow = { 'x-sim-tokens': String(12 * streamS), 'x-sim-tokens-per-second': '12' };
  const ended = new Map<string, number>();
  const failures: string[] = [];
  const receiptIds: string[] = [];
  let isWanted = true;
  let openStreams = 0;
  const began = performance.now();

  const fail = (kind: string, why: string) =>
    failures.push(`${kind} at ${((performance.now() - began) / 1000).toFixed(1)} s: ${why}`);
  const work = async (
    { kind, pauseMs, afterMs }: { readonly kind: string; readonly pauseMs: number; readonly afterMs: number },
    one: (turn: number) => Promise<string | null>,
  ): Promise<void> => {
    await delay(afterMs);
    for (let turn = 0; isWanted; turn += 1) {
      const why = await one(turn).catch((error: unknown) => String(error));
      ended.set(kind, (ended.get(kind) ?? 0) + 1);
      if (why !== null) fail(kind, why);
      await delay(why === null ? pauseMs : 100);
    }
  };
  /** Null if all is well. */
  const judged = (reply: Refusal): string | null => {
    const id = String(reply.headers['x-gw-receipt-id'] ?? '');
    if (reply.status !== 200) return `${reply.status} ${reply.text.slice(0, 120)}`;
    receiptIds.push(id);
    if (!isWhole(reply, id)) return `torn: ${reply.text.slice(-200)}`;
    const degraded = /"degraded_reason":"(\w+)"/.exec(reply.text)?.[1];
    return degraded ? `degraded: ${degraded}` : null;
  };
  const quick = async (turn: number) => {
    const call = loadCalls[turn % loadCalls.length];
    return call ? judged(await send(agent, `${url}${call.path}`, `Bearer ${key}`, call.body, 100)) : null;
  };
  const stream = async () => {
    openStreams += 1;
    try {
      const body = { model, messages: [message], stream: true };
      return judged(await ask(agent, url, key, 'POST', '/v1/chat/completions', body, slow));
    } finally {
      openStreams -= 1;
    }
  };
  const official = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: key,
    defaultHeaders: { 'x-sim-tokens': '20', 'x-sim-tokens-per-second': '40' },
  });
  const client = async (turn: number) => {
    if (turn % 2 === 0) {
      const reply = await official.chat.completions.create({ model, messages: [message] });
      return note(reply);
    }
    let last: object = {};
    for await (const event of await official.chat.completions.create({ model, messages: [message], stream: true }))
      last = event;
    return note(last);
  };
  const note = (holder: object): string | null => {
    const receipt = (holder as { gw?: { id: string; degraded_reason?: string | null } }).gw;
    if (!receipt) return 'no receipt';
    receiptIds.push(receipt.id);
    return receipt.degraded_reason ? `degraded: ${receipt.degraded_reason}` : null;
  };
  const read = async (turn: number) => {
    const path = ['/v1/models', '/v1/gw/receipts?limit=3', '/v1/usage'][turn % 3] ?? '';
    const { status, text } = await ask(agent, url, adminKey, 'GET', path);
    return status === 200 ? null : `${path}: ${status} ${text.slice(0, 120)}`;
  };
  const change = async (turn: number) => {
    const made = await ask(agent, url, adminKey, 'POST', '/v1/keys', { name: `rolling ${turn}` });
    if (made.status !== 200) return `POST /v1/keys: ${made.status} ${made.text.slice(0, 120)}`;
    const { id } = JSON.parse(made.text) as { id: string };
    const gone = await ask(agent, url, adminKey, 'POST', `/v1/keys/${id}/revoke`);
    return gone.status === 200 ? null : `revoke: ${gone.status} ${gone.text.slice(0, 120)}`;
  };

  const several = (count: number, kind: string, pauseMs: number, one: (turn: number) => Promise<string | null>) =>
    Array.from({ length: count }, (_, index) => work({ kind, pauseMs, afterMs: (index * 10_000) / count }, one));
  const working = Promise.all([
    ...several(12, 'quick', 0, quick),
    ...several(6, 'stream', 200, stream),
    ...several(2, 'client', 0, client),
    ...several(manages ? 1 : 0, 'read', 250, read),
    ...several(manages ? 1 : 0, 'change', 800, change),
  ]);
  return {
    ended,
    openStreams: () => openStreams,
    stop: async () => {
      isWanted = false;
      await working;
      agent.destroy();
      return { failures, receiptIds };
    },
  };
}

/** Over a connection that stays open; rejects if it breaks before the reply is whole. */
function ask(
  agent: Agent,
  url: string,
  key: string,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? null : JSON.stringify(body);
    const json = text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request(`${url}${path}`, {
      agent,
      method,
      headers: { authorization: `Bearer ${key}`, ...json, ...headers },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let received = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        received += data;
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received }),
      );
    });
    sent.end(text);
  });
}
