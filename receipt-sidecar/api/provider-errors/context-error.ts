/**
 * The words in which providers say that a prompt is too long for the model, as one code.
 *
 * Invariant: numbers are only said again in our words where the provider's text says for certain what they count. Else
 * the text itself is shown.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { ParsedRequest } from '../port/parsed-request.ts';
import { tooManyTokens } from '../prompt-words.ts';
import { shapeOf } from '../shapes.ts';
import type { ProviderWords } from './provider-words.ts';
import { redacted } from './redaction.ts';

/** Codes and types that say by themselves that the prompt is too long. */
const certain = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'context_window_exceeded',
  'contextwindowexceedederror',
  'model_context_window_exceeded',
  // Copilot, GitHub
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
  // Zhipu
  '1261',
]);
const isCertain = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && certain.has(String(value).toLowerCase());

/**
 * `tokens` are those of the prompt, `limit` what the model takes. `output` stands where room for the answer is part of
 * the sum that is too large.
 */
const sayings: readonly RegExp[] = [
  // OpenAI, Azure, DeepSeek, vLLM, llama-cpp-python, OpenRouter: with the parts of the sum.
  /maximum context length is (?<limit>\d+) tokens[.,] however,? (?:you requested|your messages resulted in) (?:about )?\d+ tokens \((?<tokens>\d+) (?:in (?:your prompt|the messages)|of text input)(?:[,;] (?<more>\d+) of tool input)?[,;] (?<output>\d+) (?:for|in) the (?:completion|output)/i,
  /maximum context length is (?<limit>\d+) tokens[.,] however,? your (?:messages|prompt) (?:resulted in|contains) (?<tokens>\d+) tokens/i,
  /input tokens exceed the configured limit of (?<limit>\d+) tokens\. your messages resulted in (?<tokens>\d+) tokens/i,
  /maximum input length is (?<limit>\d+) tokens/i,
  // vLLM
  /you passed (?<tokens>\d+) input tokens and requested (?<output>\d+) output tokens\. however, the model's context length is only (?<limit>\d+)/i,
  /maximum context length is (?<limit>\d+) tokens\. however, you requested (?<output>\d+) output tokens and your prompt contains (?:at least )?(?<tokens>\d+) input tokens/i,
  /is too large: (?<output>\d+)\. this model's maximum context length is (?<limit>\d+) tokens and your request has (?<tokens>\d+) input tokens/i,
  /prompt \((?:total )?length (?<tokens>\d+)\) is (?:too long to fit into the model \(context length|longer than the maximum model length of) (?<limit>\d+)/i,
  /maximum context length is (?<limit>\d+) tokens/i,
  // SGLang
  /the input \((?<tokens>\d+) tokens\) is longer than the model's context length \((?<limit>\d+) tokens\)/i,
  /maximum context length of (?<limit>\d+) tokens\. you requested a total of \d+ tokens: (?<tokens>\d+) tokens from the input messages and (?<output>\d+) tokens for the completion/i,
  // TGI, TEI, Together
  /`inputs` must have less than (?<limit>\d+) tokens\. given: (?<tokens>\d+)/i,
  /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d+)\. given: (?<tokens>\d+) `inputs` tokens and (?<output>\d+)/i,
  // llama.cpp
  /request \((?<tokens>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  /the request exceeds the available context size/i,
  // Mistral
  /prompt contains (?<tokens>\d+) tokens.{0,40}too large for model with (?<limit>\d+) maximum context length/i,
  // Anthropic
  /prompt is too long: (?<tokens>\d+) tokens > (?<limit>\d+) maximum/i,
  /input length and `max_tokens` exceed context limit: (?<tokens>\d+) \+ (?<output>\d+) > (?<limit>\d+)/i,
  // SGLang, TensorRT-LLM, DeepInfra, Volcengine, Poolside
  /(?:input|prompt) length \(?(?<tokens>\d+)(?: tokens)?\)? exceeds [a-z' ]{0,60}(?:length|size)(?: of)? \(?(?<limit>\d+)/i,
  // Gemini, Vertex AI, xAI, Fireworks, Cohere, Cerebras, DashScope, Bedrock
  /input token count \((?<tokens>\d+)\) exceeds the maximum number of tokens allowed \((?<limit>\d+)\)/i,
  /maximum prompt length is (?<limit>\d+) but the request contains (?<tokens>\d+) tokens/i,
  /prompt is too long: (?<tokens>\d+), model maximum context length: (?<limit>\d+)/i,
  /tokens in the prompt cannot exceed (?<limit>\d+) - received (?<tokens>\d+)/i,
  /input token count is (?<tokens>\d+) but model only supports up to (?<limit>\d+)/i,
  /length of the messages or completion\. current length is (?<tokens>\d+) while limit is (?<limit>\d+)/i,
  /range of input length should be \[1, (?<limit>\d+)\]/i,
  /input is too long for requested model/i,
  /too many input tokens\. max input tokens: (?<limit>\d+), request input token count: (?<tokens>\d+)/i,
  // Copilot, SiliconFlow, Volcengine
  /prompt token count of (?<tokens>\d+) exceeds the limit of (?<limit>\d+)/i,
  /length of prompt_tokens \((?<tokens>\d+)\) must be less than max_seq_len \((?<limit>\d+)\)/i,
  /exceed max message tokens/i,
  // Moonshot, Ollama, LM Studio
  /exceeded model token limit: (?<limit>\d+)/i,
  /input length exceeds the (?:maximum )?context length/i,
  /model is loaded with context length of only (?<limit>\d+) tokens/i,
  // LiteLLM, which puts its own name for it in front of the provider's words, and OpenAI
  /ContextWindowExceededError/i,
  /exceeds the context window of this model/i,
];

/**
 * Other words for it: what is measured, and that it is too much, in either order. Clients that shorten a conversation by themselves look for
 * the code, so a server whose words are in no list above gets it as well. No numbers are taken from these words.
 */
const general: readonly RegExp[] = [
  /\b(?:input|prompt|context)\b[^.;\n]{0,60}\b(?:length|tokens?|window)\b[^.;\n]{0,80}\b(?:exceed(?:s|ed)?|too long|(?:longer|larger|greater|more) than)\b/i,
  /\b(?:input|prompt|context|conversation)\b[^.;\n]{0,40}\bexceed(?:s|ed)?\b[^.;\n]{0,60}\b(?:length|tokens?|window)\b/i,
  /\b(?:input|prompt|context|conversation)(?: (?:prompt|text|is|are|has|contains)){0,3} (?:too long|too many tokens)\b/i,
  /\bmax(?:imum)? (?:allowed )?(?:input|prompt|context) (?:length|tokens|characters)\b[^.;\n]{0,60}\bis \d/i,
  /\breduce the length of the (?:messages|prompt|input)\b/i,
  /\btokens in request more than max tokens allowed\b/i,
];
/** With these words it can be the answer that is too long, another part of the request, a rate or a quota, or the provider's own time. */
const ambiguous =
  /max_(?:completion_|new_|output_)?tokens|\b(?:array|batch|images?|audio|video|files?|tools?|functions?|stop|names?|descriptions?|schemas?|headers?)\b|\b(?:rate limit|per (?:second|minute|day)|TPM|quota|plan|deadline|wait)\b/i;
const promptFields = /^(?:messages|prompt|input)(?!\w)/;

const saysSo = (text: string, { param }: ProviderWords): boolean =>
  (typeof param !== 'string' || param === '' || promptFields.test(param)) &&
  !ambiguous.test(text) &&
  general.some((saying) => saying.test(text));

/** How many characters of a provider's text are looked at; no text of this kind is longer. */
const longestSaying = 2000;

/**
 * Returns null if the provider says something else. `isQuoted` says whether its text can be shown: only that of a plain
 * refusal of the request can, since any other can be about the provider itself.
 */
export function contextError(
  words: ProviderWords,
  request: ParsedRequest,
  isQuoted: boolean,
  names?: ReadonlyMap<string, string>,
): ApiError | null {
  const text = (words.message ?? '').slice(0, longestSaying);
  const said = sayings.map((saying) => saying.exec(text)).find((found) => found !== null);
  if (!said && !isCertain(words.code) && !isCertain(words.type) && !(isQuoted && saysSo(text, words))) return null;
  const counts = countsOf(said?.groups, words);
  const param = shapeOf(request.endpoint).request.promptField;
  if (counts && counts.tokens > counts.limit)
    return apiError('prompt_too_long', { param, message: tooManyTokens('it', request.model, counts) });
  const message = (isQuoted ? redacted(withoutProxy(text), names) : null) ?? undefined;
  const asked = said?.groups?.output === undefined ? null : request.outputField;
  // The prompt fits by itself: what was asked to be generated is too much.
  if (counts && asked) return fieldError(asked, message ?? `\`${asked}\` is too large.`);
  return apiError('prompt_too_long', { param, ...(message === undefined ? {} : { message }) });
}

/** Takes off LiteLLM's names for the error and the provider: `litellm.ContextWindowExceededError: OpenAIException - `. */
const withoutProxy = (text: string): string => text.replace(/^(?:(?:litellm\.)?\w+Error: |\w+Exception - ){1,8}/, '');

/** Returns the counts; null if they are not certain. llama.cpp has them in fields of their own. */
function countsOf(groups: Record<string, string | undefined> | undefined, { fields }: ProviderWords) {
  const tokens = numberOf(groups?.tokens ?? fields.n_prompt_tokens) + numberOf(groups?.more ?? 0);
  const limit = numberOf(groups?.limit ?? fields.n_ctx);
  return Number.isSafeInteger(tokens) && Number.isSafeInteger(limit) ? { tokens, limit } : null;
}

/** Converts only texts and numbers, since an object of the provider's can throw when it is converted. */
const numberOf = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
