/**
 * A fixed number of connections that call as fast as they are answered, and what they saw.
 *
 * Plain `node:http`, since it shares the processors with the gateway that it measures.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface LoadOptions {
  readonly publicUrl: string;
  readonly connections: number;
  readonly durationMs: number;
  /** Goes on until so many calls have got a 200, on a machine that is too slow for them in this time. */
  readonly leastReplies?: number;
  /** The key of each connection, by its number. */
  readonly keyOf: (connection: number) => string;
}

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Load {
  /** One entry for every 200, in the order of the replies. */
  readonly receiptIds: readonly string[];
  /** Replies of 200 whose body has no receipt of that id, or no end. Must be empty. */
  readonly torn: readonly string[];
  readonly refusals: readonly Refusal[];
  /** Connections that broke. Must be empty. */
  readonly faults: readonly string[];
}

const message = 'Say something short.';
/** One call in four is a stream, as fast as the simulator can. */
export const loadCalls = [
  { path: '/v1/chat/completions', body: { model: 'sim-small', messages: [{ role: 'user', content: message }] } },
  { path: '/v1/completions', body: { model: 'sim-small', prompt: message } },
  { path: '/v1/embeddings', body: { model: 'sim-embed', input: message } },
  {
    path: '/v1/chat/completions',
    body: { model: 'sim-small', messages: [{ role: 'user', content: message }], stream: true },
  },
].map(({ path, body }) => ({ path, body: JSON.stringify(body) }));

/** A client that is told to wait does so, if not as long as it should. */
const pauseAfterRefusalMs = 100;

export async function runLoad({
  publicUrl,
  connections,
  durationMs,
  leastReplies = 0,
  keyOf,
}: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const receiptIds: string[] = [];
  const torn: string[] = [];
  const refusals: Refusal[] = [];
  const faults: string[] = [];
  const end = performance.now() + durationMs;
  const goesOn = () => performance.now() < end || (receiptIds.length < leastReplies && faults.length < leastReplies);

  const work = async (connection: number): Promise<void> => {
    const authorization = `Bearer ${keyOf(connection)}`;
    for (let turn = connection; goesOn(); turn += 1) {
      const call = loadCalls[turn % loadCalls.length];
      if (!call) return;
      const reply = await send(agent, `${publicUrl}${call.path}`, authorization, call.body).catch((error: Error) => {
        faults.push(error.message);
        return null;
      });
      if (!reply) continue;
      if (reply.status === 200) {
        const id = String(reply.headers['x-gw-receipt-id']);
        receiptIds.push(id);
        if (!isWhole(reply, id)) torn.push(reply.text);
      } else {
        refusals.push(reply);
        await delay(pauseAfterRefusalMs);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
  agent.destroy();
  return { receiptIds, torn, refusals, faults };
}

export function isWhole({ headers, text }: Refusal, id: string): boolean {
  const ended = headers['content-type']?.startsWith('text/event-stream')
    ? text.endsWith('data: [DONE]\n\n')
    : text.endsWith('}');
  return ended && text.includes(`"gw":{"id":"${id}"`);
}

/** `heldMs`: how long the provider takes for its answer. */
export function send(
  agent: Agent,
  url: string,
  authorization: string,
  body: string,
  heldMs?: number,
): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-sim-tokens-per-second': '0',
        ...(heldMs === undefined ? {} : { 'x-sim-delay-ms': String(heldMs) }),
      },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.end(body);
  });
}
