/** `POST /v1/embeddings`: OpenAI's shapes, plus `gw` and `routing_trace`. */
import { z } from 'zod';
import { gatewayFields } from './gw-options.ts';
import { receiptSchema, routingTraceSchema } from './receipt.ts';
import { samplingFields, usageSchema } from './sampling.ts';

const token = z.int().nonnegative();
/** Texts, or lists of tokens, in one request. */
export const maxTexts = 2048;

/** A text, several texts, a tokenised text, or several of those. Never empty. */
export const textOrTokens = z.union([
  z.string().min(1),
  z.array(z.string().min(1)).min(1).max(maxTexts),
  z.array(token).min(1),
  z.array(z.array(token).min(1)).min(1).max(maxTexts),
]);

export const embeddingRequestSchema = z
  .looseObject({
    ...gatewayFields,
    model: samplingFields.model,
    input: textOrTokens,
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish(),
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
    gw: receiptSchema,
    routing_trace: routingTraceSchema,
  })
  .meta({ id: 'EmbeddingList' });
