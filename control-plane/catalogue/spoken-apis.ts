/**
 * Finds out which APIs a provider speaks, by the smallest call of each.
 *
 * Invariants: a call has one word as its prompt and a bound of 16 tokens; nothing that the provider says leaves this file, and what is not
 * certain is said to be: only a path that is not there, or a reply of the right form, decides.
 */
import { type ApiName, apiNames } from '@gw/contract/internal/catalogue/apis';
import { jsonIn } from '@gw/contract/internal/json-in';
import type { Result } from '@gw/contract/internal/result';
import { z } from 'zod';
import type { ProviderReply } from './provider-calls.ts';

/** Sends a body to an endpoint of the provider. */
export type Ask = (
  endpoint: string,
  body: { readonly model: string },
  headers: Readonly<Record<string, string>>,
) => Promise<Result<ProviderReply, string>>;

/** The models that the calls name, as the provider knows them; null: it offers none of that kind. */
export interface AskedModels {
  readonly chat: string | null;
  readonly embedding: string | null;
}

export type Spoken = Readonly<Record<ApiName, 'spoken' | 'absent' | 'unclear'>>;

interface SmallCall {
  readonly endpoint: string;
  readonly kind: keyof AskedModels;
  readonly body: object;
  readonly reply: z.ZodType;
  readonly headers?: Readonly<Record<string, string>>;
}

const hello = [{ role: 'user', content: 'Hello' }];
const most = 16;
const some = z.looseObject({});

const calls: Readonly<Record<ApiName, SmallCall>> = {
  chat: {
    endpoint: 'chat/completions',
    kind: 'chat',
    body: { messages: hello, max_tokens: most },
    reply: z.looseObject({ choices: z.array(z.looseObject({ message: some })).min(1) }),
  },
  completions: {
    endpoint: 'completions',
    kind: 'chat',
    body: { prompt: 'Hello', max_tokens: most },
    reply: z.looseObject({ choices: z.array(z.looseObject({ text: z.string() })).min(1) }),
  },
  embeddings: {
    endpoint: 'embeddings',
    kind: 'embedding',
    body: { input: 'Hello' },
    reply: z.looseObject({ data: z.array(z.looseObject({ embedding: z.unknown() })).min(1) }),
  },
  responses: {
    endpoint: 'responses',
    kind: 'chat',
    body: { input: 'Hello', max_output_tokens: most, store: false },
    reply: z.looseObject({ object: z.literal('response'), output: z.array(some) }),
  },
  messages: {
    endpoint: 'messages',
    kind: 'chat',
    body: { messages: hello, max_tokens: most },
    reply: z.looseObject({ type: z.literal('message'), content: z.array(some) }),
    headers: { 'anthropic-version': '2023-06-01' },
  },
};

/** Statuses of a path that is not there. A 404 can be about the model as well; its words tell then. */
const missing = new Set([404, 405, 501]);

function judged({ reply }: SmallCall, { body, status }: ProviderReply): Spoken[ApiName] {
  if (status === 200) return reply.safeParse(jsonIn(body)).success ? 'spoken' : 'absent';
  return missing.has(status) && !/model/i.test(body) ? 'absent' : 'unclear';
}

/** `known`: what other calls have found out already. */
export async function spokenApis(ask: Ask, models: AskedModels, known: Partial<Spoken>): Promise<Spoken> {
  const found = apiNames.map(async (name): Promise<[ApiName, Spoken[ApiName]]> => {
    const call = calls[name];
    const model = models[call.kind];
    const before = known[name];
    if (before !== undefined) return [name, before];
    if (model === null) return [name, 'unclear'];
    const reply = await ask(call.endpoint, { model, ...call.body }, call.headers ?? {});
    return [name, reply.ok ? judged(call, reply.value) : 'unclear'];
  });
  return Object.fromEntries(await Promise.all(found)) as Spoken;
}

/** Returns the APIs that the entry should name: what is unclear stays as it is. Empty where none is left. */
export const proposedApis = (spoken: Spoken, entered: readonly ApiName[]): ApiName[] =>
  apiNames.filter((name) => spoken[name] === 'spoken' || (spoken[name] === 'unclear' && entered.includes(name)));
