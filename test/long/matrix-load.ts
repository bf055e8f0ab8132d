/** Calls of every kind, JSON and streams, free and pinned, for as long as something is being broken. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Receipt } from '@gw/contract/receipt';
import type { Call, Client, Reply } from '../outage/client.ts';

export interface Seen {
  readonly receipts: readonly Receipt[];
  /** Replies other than a whole 200 with its receipt: status, code, and what else is odd. */
  readonly failures: readonly Failure[];
  /** Connections that broke, and replies that could not be read. */
  readonly faults: readonly string[];
}

export interface Failure {
  readonly status: number;
  readonly code: string | null;
  readonly receiptId: string | null;
  readonly text: string;
}

export interface LoadOptions {
  readonly client: Client;
  readonly connections: number;
  /** How long the provider takes for each call, ms. */
  readonly delayMs: number;
  /** A model that is called too, besides the usual ones. */
  readonly model: string;
}

/** A connection that was refused waits a moment, as a client would. */
const pauseAfterFailureMs = 50;

/** Runs until the returned function is called, which gives what the clients saw. */
export function startLoad({ client, connections, delayMs, model }: LoadOptions): () => Promise<Seen> {
  const receipts: Receipt[] = [];
  const failures: Failure[] = [];
  const faults: string[] = [];
  const sim = { 'x-sim-delay-ms': String(delayMs), 'x-sim-tokens': '40', 'x-sim-tokens-per-second': '1000' };
  const kinds: ((call: Call) => Promise<Reply>)[] = [
    (call) => client.chat(call),
    (call) => client.chat({ ...call, stream: true }),
    (call) => client.chat({ ...call, region: 'eu-north' }),
    (call) => client.completion({ ...call, stream: true, region: 'eu-west' }),
    (call) => client.chat({ ...call, model }),
    (call) => client.chat({ ...call, model, stream: true }),
    (call) => client.embedding(call),
  ];
  let stopped = false;
  const work = async (connection: number): Promise<void> => {
    for (let turn = connection; !stopped; turn += 1) {
      const ask = kinds[turn % kinds.length];
      if (!ask) return;
      const reply = await ask({ sim }).catch((error: unknown) => String(error));
      if (typeof reply !== 'string' && isWhole(reply)) {
        receipts.push(reply.receipt);
        continue;
      }
      if (typeof reply === 'string') faults.push(reply);
      else failures.push(failureOf(reply));
      await delay(pauseAfterFailureMs);
    }
  };
  const working = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
  return async () => {
    stopped = true;
    await working;
    return { receipts, failures, faults };
  };
}

const isWhole = (reply: Reply): reply is Reply & { readonly receipt: Receipt } =>
  reply.status === 200 &&
  !reply.broken &&
  reply.receipt !== null &&
  (reply.content !== '' || reply.text.includes('"embedding"'));

function failureOf({ status, headers, text, json, broken }: Reply): Failure {
  const error = json !== null && typeof json === 'object' && 'error' in json ? json.error : null;
  const code = error !== null && typeof error === 'object' && 'code' in error ? String(error.code) : null;
  const receiptId = headers.get('x-gw-receipt-id');
  return { status, code, receiptId, text: `${broken ? '(broken) ' : ''}${text.slice(-700)}` };
}
