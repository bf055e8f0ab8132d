/**
 * Request fields that not every provider accepts, or accepts under this name. Removing one may change how an answer is generated,
 * but not what was asked for: `n`, `stop`, `tools`, `response_format` and `logprobs` are not among them, and the limits of the
 * length can only be renamed.
 *
 * Invariant: they come first in the body, after the model, so that each attempt of a call can have its own.
 */
export const variedFields = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'seed',
  'random_seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
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
] as const;
export type VariedField = (typeof variedFields)[number];

/** Maps a field to the provider's name for it, or to null to remove it. */
export type RequestFields = { readonly [name in VariedField]?: VariedField | null };

/** The limits of the length in chat and text completions. */
export const limitFields: readonly string[] = ['max_completion_tokens', 'max_tokens'];
/** The limits of the length in all APIs. */
export const allLimitFields: readonly string[] = [...limitFields, 'max_output_tokens'];

/** Whether the mapping is one to one and removes no limit. */
export function areRequestFields(rules: Readonly<Record<string, unknown>>): rules is RequestFields {
  const isVaried = (name: unknown): boolean => variedFields.some((field) => field === name);
  const names = Object.values(rules).filter((as) => as !== null);
  return (
    Object.entries(rules).every(
      ([name, as]) => isVaried(name) && (as === null ? !allLimitFields.includes(name) : isVaried(as)),
    ) &&
    names.every((as) => !Object.hasOwn(rules, String(as))) &&
    new Set(names).size === names.length
  );
}
