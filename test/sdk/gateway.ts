/** How the suites of this folder talk to the gateway: by the official client, and by plain HTTP for what it has no call for. */

import { setTimeout as delay } from 'node:timers/promises';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { routingTraceSchema } from '@gw/contract/routing-trace';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import OpenAI, { type ClientOptions } from 'openai';
import { z } from 'zod';
import { stack } from '../shared-stack.ts';

export { stack };

export const messages = [{ role: 'user' as const, content: 'What is the weather?' }];

/** Simulated replies without any pause. */
export const quick = { 'x-sim-tokens-per-second': '0' };

/** Never retries, so that the first answer is the one that a test sees. */
export function openAi(apiKey: string = stack.keys.auditPlus, options: ClientOptions = {}): OpenAI {
  return new OpenAI({
    baseURL: `${stack.publicUrl}/v1`,
    apiKey,
    maxRetries: 0,
    defaultHeaders: quick,
    ...options,
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** `path` begins with `/v1`. */
export async function get(path: string, key: string = stack.keys.auditPlus): Promise<HttpReply> {
  const response = await fetch(`${stack.publicUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const ours = z.looseObject({ gw: receiptInReply.optional(), routing_trace: routingTraceSchema.optional() });

/** The fields that the gateway adds to a reply or a chunk; strict, so that an unknown field of a receipt is an error. */
export const additionsOf = (reply: unknown): z.infer<typeof ours> => ours.parse(reply);

export function receiptOf(reply: unknown): Receipt {
  return receiptInReply.parse(z.looseObject({ gw: z.unknown() }).parse(reply).gw);
}

/**
 * Asks until there is an answer, at most for 20 s. Four times a second: reads of receipts have a small rate of their own.
 * Null and undefined mean "not yet".
 */
export async function eventually<T>(what: string, ask: () => Promise<T | null | undefined>): Promise<T> {
  for (let tries = 0; tries < 80; tries += 1) {
    const answer = await ask();
    if (answer !== null && answer !== undefined) return answer;
    await delay(250);
  }
  throw new Error(`Waited 20 s in vain for ${what}.`);
}

/** The receipt once the call is over. */
export function finishedReceipt(id: string, key?: string): Promise<Receipt> {
  return eventually(`the end of ${id}`, async () => {
    const answer = await get(`/v1/gw/receipts/${id}`, key);
    if (answer.status === 202) return null;
    if (answer.status !== 200) throw new Error(`${answer.status} for ${id}: ${answer.text}`);
    return receiptSchema.parse(answer.body);
  });
}
