/** `POST /v1/embeddings`: OpenAI's shapes, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { gatewayFields } from './gw-options.ts';
import { otherMetadata } from './project.ts';
import { shownReceiptSchema } from './receipt.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { maxCount, samplingFields, usageSchema, word } from './sampling.ts';

const token = z.int().nonnegative();
/** The most texts, or lists of tokens, in one request. */
export const maxTexts = 2048;

/** One tokenised text, or several. */
export const tokenLists = [z.array(token).min(1), z.array(z.array(token).min(1)).min(1).max(maxTexts)] as const;

const textOrTokens = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(maxTexts), ...tokenLists]);

export const embeddingRequestSchema = z
  .looseObject({
    ...gatewayFields,
    model: samplingFields.model,
    input: textOrTokens,
    /** OpenAI has `float` and `base64`; other servers have more. */
    encoding_format: word.nullish(),
    dimensions: z.int().min(1).max(maxCount).nullish(),
    metadata: otherMetadata.nullish(),
    user: z.string().nullish(),
  })
  .meta({ id: 'EmbeddingRequest' });

export const embeddingResponseSchema = z
  .looseObject({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    usage: usageSchema.nullish(),
    gw: shownReceiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'EmbeddingList' });
