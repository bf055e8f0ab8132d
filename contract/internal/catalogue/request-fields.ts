/**
 * Fields of a request that not every provider takes, or takes by this name. Leaving one out changes how an answer is made, and
 * not what was asked: what an answer has to be (`n`, `stop`, `tools`, `response_format`) is not among them.
 *
 * Invariant: they stand at the beginning of the body, behind the model, so that each attempt of a call can have its own.
 */
export const variedFields = [
  'max_completion_tokens',
  'max_tokens',
  'seed',
  'random_seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'store',
  'metadata',
  'service_tier',
  'reasoning_effort',
  'verbosity',
  'safety_identifier',
  'prompt_cache_key',
  'stream_options',
  'dimensions',
  'encoding_format',
] as const;
export type VariedField = (typeof variedFields)[number];

/** Field → the name that the provider takes it by; null: it is left out. */
export type RequestFields = { readonly [name in VariedField]?: VariedField | null };
