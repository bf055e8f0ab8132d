/** `POST /v1/chat/completions`: OpenAI's shapes, checked as far as the shape goes, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { gatewayFields } from './gw-options.ts';
import { receiptSchema, routingTraceSchema } from './receipt.ts';
import { samplingFields, usageSchema } from './sampling.ts';

const contentPart = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(contentPart).min(1)]);

const toolCall = z.looseObject({
  id: z.string(),
  type: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('developer'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(toolCall).nullish() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
  z.looseObject({ role: z.literal('function'), content: content.nullable(), name: z.string() }),
]);

const tool = z.looseObject({
  type: z.string(),
  function: z.looseObject({ name: z.string(), description: z.string().nullish() }).optional(),
});

export const chatRequestSchema = z
  .looseObject({
    ...samplingFields,
    ...gatewayFields,
    messages: z.array(message).min(1),
    max_completion_tokens: z.int().min(1).nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    tools: z.array(tool).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
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
    gw: receiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'ChatCompletion' });

/** One event of a stream. The provider's chunks pass unchanged; ours are `gw` and `routing_trace`, on one of them. */
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
    gw: receiptSchema.optional(),
    routing_trace: routingTraceSchema.optional(),
  })
  .meta({ id: 'ChatCompletionChunk', description: 'The data of one server-sent event; the last one is `[DONE]`' });
