/**
 * `POST /v1/responses`: OpenAI's shapes, plus `gw` and `routing_trace`. The gateway stores no responses: the provider is told so, and
 * fields that refer to something stored are refused.
 */
import { z } from 'zod';
import { gatewayFields } from './gw-options.ts';
import { chatMetadata } from './project.ts';
import { shownReceiptSchema, usageReceiptSchema } from './receipt.ts';
import { responseInputItem } from './responses-input.ts';
import { responseToolFields } from './responses-tools.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { maxCount, samplingFields, word } from './sampling.ts';

const { model, stream, temperature, top_p, user } = samplingFields;

/** A field that is known by its name so that it can be refused. */
const refused = (instead: string) => z.unknown().optional().describe(`Refused with \`unsupported_field\`: ${instead}`);

export const responseRequestSchema = z
  .looseObject({
    ...gatewayFields,
    ...responseToolFields,
    model,
    stream,
    temperature,
    top_p,
    user,
    input: z.union([z.string(), z.array(responseInputItem).min(1)], 'expected a text, or a list of items'),
    instructions: z.string().nullish(),
    max_output_tokens: z.int().min(1).max(maxCount).nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    reasoning: z
      .looseObject({ effort: word.nullish(), summary: word.nullish(), generate_summary: word.nullish() })
      .nullish(),
    truncation: word.nullish(),
    include: z.array(word).max(64).nullish(),
    metadata: chatMetadata.nullish(),
    safety_identifier: z.string().max(64).nullish(),
    prompt_cache_key: z.string().nullish(),
    prompt_cache_retention: word.nullish(),
    prompt_cache_options: z.looseObject({ mode: word.nullish(), ttl: word.nullish() }).nullish(),
    service_tier: word.nullish(),
    stream_options: z.looseObject({ include_obfuscation: z.boolean().nullish() }).nullish(),
    store: z
      .boolean()
      .nullish()
      .describe('The provider is sent `false`, and the response says `false`, whatever was sent: nothing is stored'),
    background: z.boolean().nullish().describe('`true` is refused with `unsupported_field`: nothing is stored'),
    previous_response_id: refused('send the items of the earlier turns in `input`'),
    conversation: refused('send the items of the conversation in `input`'),
    prompt: refused('send the text of the prompt in `instructions` and `input`'),
  })
  .meta({ id: 'ResponseRequest' });

const count = z.int().nonnegative();

/** Other counts pass through. */
const responseUsage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z.looseObject({ cached_tokens: count.nullish() }).nullish(),
  output_tokens: count,
  output_tokens_details: z.looseObject({ reasoning_tokens: count.nullish() }).nullish(),
  total_tokens: count,
  gw: usageReceiptSchema.optional(),
});

const fields = {
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number(),
  model: z.string(),
  status: z.string().nullish(),
  output: z.array(z.looseObject({ type: z.string() })),
  store: z.literal(false),
  usage: responseUsage.nullish(),
};

export const responseSchema = z
  .looseObject({ ...fields, gw: shownReceiptSchema, routing_trace: routingTraceSchema })
  .meta({ id: 'Response' });

/**
 * One event of a stream. The provider's events pass with their names and numbers. `gw` and `routing_trace` are in `response` of the last
 * one, `response.completed`, `response.incomplete` or `response.failed`, which waits for the receipt.
 */
export const responseEventSchema = z
  .looseObject({
    type: z.string(),
    sequence_number: count.nullish(),
    response: z
      .looseObject({ ...fields, gw: shownReceiptSchema.optional(), routing_trace: routingTraceSchema.optional() })
      .optional(),
  })
  .meta({
    id: 'ResponseStreamEvent',
    description: 'The data of one server-sent event, whose name is its `type`; `response` of the last one has `gw`',
  });
