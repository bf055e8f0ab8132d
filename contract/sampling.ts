/**
 * Sampler parameters that chat and text completions share, with OpenAI's ranges.
 *
 * OpenAI and other servers keep adding values (efforts, tiers, formats), so any short text is accepted here; the provider decides
 * which values its model takes.
 */
import { z } from 'zod';
import { usageReceiptSchema } from './receipt.ts';

export const word = z.string().min(1).max(64);

/** The name of a function, tool or schema. OpenAI allows 64 letters, digits, _ and -; other servers allow more, and Moonshot's own begin with $. */
export const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_.:/$-]{1,128}$/, 'expected 1 to 128 letters, digits, _, -, ., :, / and $');

/** Any JSON object, such as a schema. */
export const jsonObject = z.record(z.string(), z.unknown());

/** The largest count that fits into 32 bits; larger ones would overflow in some servers. */
export const maxCount = 2 ** 31 - 1;

export const samplingFields = {
  model: z.string().min(1).max(256),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)], 'expected a text, or a list of at most 4 texts').nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z
    .record(z.string().regex(/^\d{1,10}$/, 'expected the number of a token'), z.number().min(-100).max(100))
    .nullish(),
  seed: z.number().refine(Number.isInteger, 'expected a whole number').meta({ type: 'integer' }).nullish(),
  user: z.string().nullish(),
};

/** Other counts pass through. */
export const usageSchema = z.looseObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative().optional(),
  total_tokens: z.int().nonnegative().optional(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nonnegative().nullish() }).nullish(),
  gw: usageReceiptSchema.optional(),
});
