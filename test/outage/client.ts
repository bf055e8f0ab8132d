/** A client of the gateway that shows each reply as it came. */

import { jsonIn } from '@gw/contract/internal/json-in';
import type { Receipt } from '@gw/contract/receipt';
import type { Stack } from '@gw/stack/stack';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { z } from 'zod';

export interface Call {
  /** Default: Enterprise, whose limits are out of reach. */
  readonly key?: string;
  readonly stream?: boolean;
  /** Default: the model of the endpoint. */
  readonly model?: string;
  /** Pins the call. */
  readonly region?: string;
  /** More of `gw`. */
  readonly options?: object;
  /** `x-sim-*`: how the simulated provider answers. Default: as fast as it can. */
  readonly sim?: Readonly<Record<string, string>>;
  /** Told after each piece of the body, with the text so far. */
  readonly onText?: (text: string) => void;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** True if the connection broke before the reply was whole. */
  readonly broken: boolean;
  /** The JSON reply; null if it is none. */
  readonly json: unknown;
  /** The events of a stream, `[DONE]` left out. */
  readonly events: readonly unknown[];
  /** The content of the choices, concatenated. */
  readonly content: string;
  readonly receipt: Receipt | null;
}

export interface Client {
  chat(call?: Call): Promise<Reply>;
  completion(call?: Call): Promise<Reply>;
  embedding(call?: Call): Promise<Reply>;
  get(path: string, key?: string): Promise<Reply>;
  /** How many requests with this marker have reached the provider. */
  reachedProvider(marker: string): Promise<number>;
  /** Lets the provider go on with replies that it holds (`x-sim-hold`) for this marker. */
  release(marker: string): Promise<void>;
}

const bodies = {
  chat: { model: 'sim-small', messages: [{ role: 'user', content: 'What keeps a gateway standing?' }] },
  completion: { model: 'sim-small', prompt: 'What keeps a gateway standing?' },
  embedding: { model: 'sim-embed', input: 'What keeps a gateway standing?' },
};

export function clientOf(stack: Pick<Stack, 'publicUrl' | 'simulatorUrl' | 'keys'>): Client {
  const post =
    (path: string, body: object) =>
    async ({
      key = stack.keys.enterprise,
      stream = false,
      model,
      region,
      options = {},
      sim = {},
      onText,
    }: Call = {}): Promise<Reply> => {
      const response = await fetch(`${stack.publicUrl}/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-sim-tokens-per-second': '0',
          ...sim,
        },
        body: JSON.stringify({
          ...body,
          ...(model !== undefined && { model }),
          gw: { ...options, ...(region !== undefined && { region }) },
          ...(stream && { stream }),
        }),
      });
      return read(response, onText);
    };
  return {
    chat: post('chat/completions', bodies.chat),
    completion: post('completions', bodies.completion),
    embedding: post('embeddings', bodies.embedding),
    get: async (path, key = stack.keys.enterprise) =>
      read(await fetch(`${stack.publicUrl}${path}`, { headers: { authorization: `Bearer ${key}` } })),
    reachedProvider: async (marker) => {
      const reply = await fetch(`${stack.simulatorUrl}/sim/count?marker=${marker}`);
      return z.object({ count: z.number() }).parse(await reply.json()).count;
    },
    release: async (marker) => {
      await fetch(`${stack.simulatorUrl}/sim/release?marker=${marker}`);
    },
  };
}

async function read(response: Response, onText?: (text: string) => void): Promise<Reply> {
  const decoder = new TextDecoder();
  let text = '';
  let broken = false;
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      onText?.(text);
    }
  } catch {
    broken = true;
  }
  const stream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const json = stream ? null : jsonIn(text);
  const events = stream ? eventsOf(text) : [];
  const parts = stream ? events : [json];
  const { status, headers } = response;
  return { status, headers, text, broken, json, events, content: contentOf(parts), receipt: receiptOf(parts) };
}

function eventsOf(text: string): unknown[] {
  const data = text.split('\n\n').filter((event) => event.startsWith('data: ') && event !== 'data: [DONE]');
  return data.map((event) => JSON.parse(event.slice('data: '.length)));
}

const replyShape = z.looseObject({
  gw: z.unknown().optional(),
  choices: z
    .array(
      z.looseObject({
        text: z.string().optional(),
        delta: z.looseObject({ content: z.string().nullish() }).optional(),
        message: z.looseObject({ content: z.string().nullish() }).optional(),
      }),
    )
    .optional(),
});

function contentOf(parts: readonly unknown[]): string {
  const choices = parts.flatMap((part) => replyShape.safeParse(part).data?.choices ?? []);
  return choices.map(({ text, delta, message }) => text ?? delta?.content ?? message?.content ?? '').join('');
}

/** Strict: a receipt with an unknown field is an error. There is at most one. */
function receiptOf(parts: readonly unknown[]): Receipt | null {
  const found = parts.map((part) => replyShape.safeParse(part).data?.gw).filter((gw) => gw !== undefined);
  if (found.length > 1) throw new Error('The reply carries more than one receipt.');
  return found.length === 1 ? receiptInReply.parse(found[0]) : null;
}
