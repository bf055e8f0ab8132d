/** `POST /v1/messages`: Anthropic's shapes, checked for type and range only, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { gatewayFields } from './gw-options.ts';
import { otherMetadata } from './project.ts';
import { shownReceiptSchema, usageReceiptSchema } from './receipt.ts';
import { requiredByType } from './required-by-type.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { jsonObject, maxCount, samplingFields, word } from './sampling.ts';

const cacheControl = z.looseObject({ type: word, ttl: word.nullish() }).nullish();
const citations = z.union([jsonObject, z.array(jsonObject)]).nullish();

const source = z
  .looseObject({
    type: z.string(),
    media_type: z.string().nullish(),
    data: z.string().nullish(),
    url: z.string().min(1).nullish(),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))]).nullish(),
  })
  .check(requiredByType({ base64: 'data', text: 'data', url: 'url', content: 'content' }));

const simpleBlock = {
  type: z.string(),
  text: z.string().nullish(),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations,
  cache_control: cacheControl,
};

/** The result of a tool may hold these. */
const resultBlock = z
  .looseObject({ ...simpleBlock, source: z.union([z.string(), source]).nullish() })
  .check(requiredByType({ text: 'text', image: 'source', document: 'source', search_result: 'source' }));

const block = z
  .looseObject({
    ...simpleBlock,
    source: z.union([z.string(), source]).nullish(),
    thinking: z.string().nullish(),
    signature: z.string().nullish(),
    data: z.string().nullish(),
    id: z.string().nullish(),
    name: z.string().nullish(),
    input: z.unknown().optional(),
    tool_use_id: z.string().nullish(),
    is_error: z.boolean().nullish(),
    content: z
      .union(
        [z.string(), z.array(resultBlock), jsonObject],
        'expected a text, a list of blocks, or the result of a tool',
      )
      .nullish(),
  })
  .check(
    requiredByType({
      text: 'text',
      image: 'source',
      document: 'source',
      search_result: 'source',
      tool_use: 'id',
      tool_result: 'tool_use_id',
      thinking: 'thinking',
      redacted_thinking: 'data',
    }),
  )
  .check(requiredByType({ tool_use: 'name', thinking: 'signature', search_result: 'content' }))
  .check(requiredByType({ tool_use: 'input' }));

const content = z.union([z.string(), z.array(block)], 'expected a text, or a list of blocks');

const textBlock = z.looseObject({ type: word, text: z.string(), citations, cache_control: cacheControl });

const tool = z
  .looseObject({
    type: word.nullish(),
    name: z
      .string()
      .regex(/^[a-zA-Z0-9_.:/$-]{1,128}$/, 'expected 1 to 128 letters, digits, _, -, ., :, / and $')
      .nullish(),
    description: z.string().nullish(),
    input_schema: jsonObject.nullish(),
    strict: z.boolean().nullish(),
    cache_control: cacheControl,
  })
  .check(requiredByType({ custom: 'name' }, 'custom'))
  .check(requiredByType({ custom: 'input_schema' }, 'custom'));

export const messageRequestSchema = z
  .looseObject({
    ...gatewayFields,
    model: samplingFields.model,
    messages: z
      .array(
        z.discriminatedUnion('role', [
          z.looseObject({ role: z.literal('user'), content }),
          z.looseObject({ role: z.literal('assistant'), content }),
          z.looseObject({ role: z.literal('system'), content }),
        ]),
      )
      .min(1),
    system: z.union([z.string(), z.array(textBlock)], 'expected a text, or a list of text blocks').nullish(),
    tools: z.array(tool).nullish(),
    tool_choice: z
      .looseObject({ type: word, name: z.string().nullish(), disable_parallel_tool_use: z.boolean().nullish() })
      .check(requiredByType({ tool: 'name' }))
      .nullish(),
    thinking: z
      .looseObject({ type: word, budget_tokens: z.int().min(0).max(maxCount).nullish(), display: word.nullish() })
      .check(requiredByType({ enabled: 'budget_tokens' }))
      .nullish(),
    output_config: z
      .looseObject({
        effort: word.nullish(),
        format: z
          .looseObject({ type: word, schema: jsonObject.nullish() })
          .check(requiredByType({ json_schema: 'schema' }))
          .nullish(),
      })
      .nullish(),
    cache_control: cacheControl,
    speed: word.nullish(),
    // 0 fills the provider's prompt cache and generates nothing.
    max_tokens: z.int().min(0).max(maxCount),
    stop_sequences: z.array(z.string()).max(64).nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).max(maxCount).nullish(),
    metadata: otherMetadata.extend({ user_id: z.string().max(512).nullish() }).nullish(),
    service_tier: word.nullish(),
    stream: z.boolean().nullish(),
  })
  .meta({ id: 'MessageRequest' });

/** Fields about the answer are none of it; those that a client sends all the same go on unread. */
export const messageCountRequestSchema = messageRequestSchema
  .omit({
    max_tokens: true,
    stop_sequences: true,
    temperature: true,
    top_p: true,
    top_k: true,
    service_tier: true,
    stream: true,
  })
  .meta({ id: 'MessageCountRequest' });

export const messageCountSchema = z
  .strictObject({ input_tokens: z.int().min(0).describe('Tokens of the messages, the system prompt and the tools') })
  .meta({ id: 'MessageTokensCount' });

/** The counts that the prompt was served with from a cache, or written to one, are not in `input_tokens`. */
const usage = z.looseObject({
  input_tokens: z.int().min(0).nullish(),
  output_tokens: z.int().min(0),
  cache_creation_input_tokens: z.int().min(0).nullish(),
  cache_read_input_tokens: z.int().min(0).nullish(),
  gw: usageReceiptSchema.optional(),
});

export const messageResponseSchema = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullish(),
    usage,
    gw: shownReceiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'Message' });

/** `message_delta` carries `gw`, `routing_trace` and `usage.gw`; the others pass unchanged. */
export const messageEventSchema = z
  .looseObject({
    type: z.string(),
    usage: usage.partial().nullish(),
    gw: shownReceiptSchema.optional(),
    routing_trace: routingTraceSchema.optional(),
  })
  .meta({
    id: 'MessageStreamEvent',
    description: 'The data of one server-sent event, whose name is its `type`; the last one is `message_stop`',
  });
