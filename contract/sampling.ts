/**
 * Sampler parameters that chat and text completions share, with OpenAI's ranges.
 *
 * Words of which OpenAI and other servers know more each year (efforts, tiers, formats) are any short text here: which
 * of them a model takes is the provider's to say.
 */
import { z } from 'zod';

/** A word out of a set that grows. */
export const word = z.string().min(1).max(64);

/** What a function, a tool or a schema may be called: OpenAI takes 64 of letters, digits, _ and -, other servers more. */
export const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_.:/-]{1,128}$/, 'expected 1 to 128 letters, digits, _, -, ., : and /');

/** Any JSON object: a schema, say. */
export const jsonObject = z.record(z.string(), z.unknown());

/** Counts that servers keep in 32 bits; more would overflow there, or be a whole window that nobody meant. */
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
  seed: z.int().nullish(),
  user: z.string().nullish(),
};

/** `prompt_tokens` and `completion_tokens` of a reply; other counts pass through. */
export const usageSchema = z.looseObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative().optional(),
  total_tokens: z.int().nonnegative().optional(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nonnegative().nullish() }).nullish(),
});
