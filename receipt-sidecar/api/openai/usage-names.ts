/**
 * The names by which servers state token counts, and how a name is looked up.
 */

type Names = readonly string[];

/** With the cached part of the prompt, or without it (`apart`). Names with a dot lie within an object. */
const promptNames: Names = [
  'prompt_tokens',
  'input_tokens',
  'promptTokens',
  'inputTokens',
  // Gemini, as REST and as its Python client write it
  'promptTokenCount',
  'prompt_token_count',
  // Ollama, llama.cpp, Bedrock, watsonx, Cohere
  'prompt_eval_count',
  'prompt_n',
  'tokens_evaluated',
  'inputTokenCount',
  'inputTextTokenCount',
  'input_token_count',
  'tokens.input_tokens',
  'billed_units.input_tokens',
];
const completionNames: Names = [
  'completion_tokens',
  'output_tokens',
  'completionTokens',
  'outputTokens',
  'candidatesTokenCount',
  'candidates_token_count',
  'eval_count',
  'predicted_n',
  'tokens_predicted',
  'outputTokenCount',
  'generated_token_count',
  // TGI
  'generated_tokens',
  'tokens.output_tokens',
  'billed_units.output_tokens',
];
const totalNames: Names = ['total_tokens', 'totalTokens', 'totalTokenCount', 'total_token_count'];
const cachedNames: Names = [
  'prompt_tokens_details.cached_tokens',
  'input_tokens_details.cached_tokens',
  // Moonshot, DashScope
  'cached_tokens',
  // DeepSeek
  'prompt_cache_hit_tokens',
  // Anthropic, LiteLLM
  'cache_read_input_tokens',
  'cacheReadInputTokens',
  'cacheReadInputTokenCount',
  'cachedContentTokenCount',
  'cached_content_token_count',
  'cache_n',
  // Servers and proxies that keep the count of their engine
  'num_cached_tokens',
  'cached_prompt_tokens',
  'cache_read_tokens',
  'prompt_tokens_details.cache_read_tokens',
  'prompt_tokens_details.cache_read_input_tokens',
];
/** The part of the prompt that was written to a cache, which Anthropic and Bedrock count beside the rest. */
const storedNames: Names = [
  'cache_creation_input_tokens',
  'cacheWriteInputTokens',
  'cacheCreationInputTokens',
  'cacheWriteInputTokenCount',
];
const reasoningNames: Names = [
  'completion_tokens_details.reasoning_tokens',
  'output_tokens_details.reasoning_tokens',
  // SGLang, Perplexity
  'reasoning_tokens',
  'thoughtsTokenCount',
  'thoughts_token_count',
];
/** Gemini counts what its tools gave the model to read beside the prompt. */
const toolPromptNames: Names = ['toolUsePromptTokenCount', 'tool_use_prompt_token_count'];

export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
export const count = (value: unknown): number | null => (isCount(value) ? value : null);
/** Adds up what is stated. */
export const sumOf = (...counts: readonly (number | null)[]): number =>
  counts.reduce<number>((sum, each) => (each === null ? sum : sum + each), 0);
export const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;

interface Path {
  readonly name: string;
  readonly inner: string | null;
}

/** Servers and proxies fill the names that they do not use with 0, so the first count above 0 holds. */
export function firstOf(usage: object, paths: readonly Path[]): number | null {
  let found: number | null = null;
  for (const { inner, name } of paths) {
    const value = field(usage, name);
    const stated = count(inner === null ? value : field(value, inner));
    if (stated !== null && stated > 0) return stated;
    found ??= stated;
  }
  return found;
}
function paths(names: Names): readonly Path[] {
  return names.map((path) => {
    const at = path.indexOf('.');
    return at === -1 ? { name: path, inner: null } : { name: path.slice(0, at), inner: path.slice(at + 1) };
  });
}
export const known = {
  prompt: paths(promptNames),
  completion: paths(completionNames),
  total: paths(totalNames),
  cached: paths(cachedNames),
  stored: paths(storedNames),
  reasoning: paths(reasoningNames),
  toolPrompt: paths(toolPromptNames),
};

/** Names that a reply has itself, where its counts stand in no object. */
export const flatNames: ReadonlySet<string> = new Set([
  ...[...promptNames, ...completionNames, ...totalNames].filter((name) => !name.includes('.')),
  'prompt_cache_hit_tokens',
]);
