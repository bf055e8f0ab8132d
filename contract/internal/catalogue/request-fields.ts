/**
 * Fields of a request that not every provider takes, or takes by this name. Leaving one out changes how an answer is made, and
 * not what was asked: what an answer has to be (`n`, `stop`, `tools`, `response_format`, `logprobs`) is not among them, and the
 * bound of its length can only be renamed.
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

/** Field → the name that the provider takes it by; null: it is left out. */
export type RequestFields = { readonly [name in VariedField]?: VariedField | null };

const bounds: readonly string[] = ['max_completion_tokens', 'max_tokens'];

/** Whether each field has one name and each name one field, and no bound is left out. */
export function areRequestFields(rules: Readonly<Record<string, unknown>>): rules is RequestFields {
  const isVaried = (name: unknown): boolean => variedFields.some((field) => field === name);
  const names = Object.values(rules).filter((as) => as !== null);
  return (
    Object.entries(rules).every(
      ([name, as]) => isVaried(name) && (as === null ? !bounds.includes(name) : isVaried(as)),
    ) &&
    names.every((as) => !Object.hasOwn(rules, String(as))) &&
    new Set(names).size === names.length
  );
}
