/** `POST /v1/chat/completions`: OpenAI's shapes, checked for type and range only, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { content, message } from './chat-messages.ts';
import { toolFields } from './chat-tools.ts';
import { gatewayFields } from './gw-options.ts';
import { chatMetadata } from './project.ts';
import { shownReceiptSchema } from './receipt.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { jsonObject, maxCount, samplingFields, usageSchema, word } from './sampling.ts';

const location = {
  city: z.string().nullish(),
  country: z.string().nullish(),
  region: z.string().nullish(),
  timezone: z.string().nullish(),
};

export const chatRequestSchema = z
  .looseObject({
    ...samplingFields,
    ...toolFields,
    ...gatewayFields,
    messages: z.array(message).min(1),
    max_tokens: z.int().min(1).max(maxCount).nullish(),
    max_completion_tokens: z.int().min(1).max(maxCount).nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    metadata: chatMetadata.nullish(),
    modalities: z.array(word).min(1).nullish(),
    audio: z
      .looseObject({ format: word, voice: z.union([z.string().min(1), z.looseObject({ id: z.string() })]) })
      .nullish(),
    prediction: z.looseObject({ type: word, content }).nullish(),
    moderation: z.looseObject({ model: z.string(), policy: jsonObject.nullish() }).nullish(),
    reasoning_effort: word.nullish(),
    verbosity: word.nullish(),
    service_tier: word.nullish(),
    store: z.boolean().nullish(),
    safety_identifier: z.string().max(64).nullish(),
    prompt_cache_key: z.string().nullish(),
    prompt_cache_options: z.looseObject({ mode: word.nullish(), ttl: word.nullish() }).nullish(),
    prompt_cache_retention: word.nullish(),
    web_search_options: z
      .looseObject({
        search_context_size: word.nullish(),
        user_location: z.looseObject({ type: word, approximate: z.looseObject(location) }).nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'ChatCompletionRequest' });

export const chatResponseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        finish_reason: z.string().nullable(),
        message: z.looseObject({ role: z.string(), content: z.string().nullish() }),
      }),
    ),
    usage: usageSchema.nullish(),
    gw: shownReceiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'ChatCompletion' });

/**
 * One event of a stream. The provider's chunks pass unchanged, except that a usage which the client did not request is removed, and that
 * an index or a list of choices that a chunk lacks is added.
 * `gw` and `routing_trace` are on the last chunk with choices and on the usage chunk if these could wait for the receipt,
 * otherwise on a chunk of their own, whose one choice has an empty delta.
 */
export const chatChunkSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({ role: z.string().nullish(), content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    ),
    usage: usageSchema.nullish(),
    gw: shownReceiptSchema.optional(),
    routing_trace: routingTraceSchema.optional(),
  })
  .meta({ id: 'ChatCompletionChunk', description: 'The data of one server-sent event; the last one is `[DONE]`' });
