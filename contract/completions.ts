/** `POST /v1/completions`: OpenAI's legacy text completion, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { maxTexts, tokenLists } from './embeddings.ts';
import { gatewayFields } from './gw-options.ts';
import { otherMetadata } from './project.ts';
import { shownReceiptSchema } from './receipt.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { maxCount, samplingFields, usageSchema } from './sampling.ts';

/** Null lets the model begin without a prompt. */
const prompt = z.union([z.string(), z.array(z.string()).min(1).max(maxTexts), ...tokenLists]).nullable();

export const completionRequestSchema = z
  .looseObject({
    ...samplingFields,
    ...gatewayFields,
    prompt,
    // 0 returns only the log probabilities of the prompt.
    max_tokens: z.int().min(0).max(maxCount).nullish(),
    metadata: otherMetadata.nullish(),
    suffix: z.string().nullish(),
    echo: z.boolean().nullish(),
    best_of: z.int().min(1).max(20).nullish(),
    /** OpenAI accepts at most 5, vLLM 20. */
    logprobs: z.int().min(0).max(20).nullish(),
  })
  .meta({ id: 'CompletionRequest' });

export const completionResponseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullable() })),
    usage: usageSchema.nullish(),
    gw: shownReceiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'Completion' });

/** One event of a stream; `gw` and `routing_trace` are on one of them, or on two, as in `chatChunkSchema`. */
export const completionChunkSchema = completionResponseSchema
  .extend({
    choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullish() })),
    gw: shownReceiptSchema.optional(),
    routing_trace: routingTraceSchema.optional(),
  })
  .meta({ id: 'CompletionChunk', description: 'The data of one server-sent event; the last one is `[DONE]`' });
