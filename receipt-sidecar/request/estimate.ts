/** A rough count of a prompt, for a call that broke off before its provider had counted. */
import type { JsonObject } from '@gw/contract/internal/strict-json';

/** OpenAI's rule of thumb for English text. */
const charactersPerToken = 4;
/** An image of 1024 × 1024 in OpenAI's tiling; any other part that is not text counts the same. */
const tokensPerPart = 765;

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return content.length / charactersPerToken;
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, part) => {
    const text = (part as { text?: unknown } | null)?.text;
    return sum + (typeof text === 'string' ? text.length / charactersPerToken : tokensPerPart);
  }, 0);
}

/** A text, several, a tokenised text, or several of those. */
function promptTokens(prompt: unknown): number {
  if (typeof prompt === 'string') return prompt.length / charactersPerToken;
  if (typeof prompt === 'number') return 1;
  return Array.isArray(prompt) ? prompt.reduce<number>((sum, item) => sum + promptTokens(item), 0) : 0;
}

/** Tokens of `messages`, `prompt` or `input`, rounded up. */
export function estimatePromptTokens(body: JsonObject): number {
  const { messages } = body;
  if (!Array.isArray(messages)) return Math.ceil(promptTokens(body.prompt ?? body.input));
  const tokens = messages.map((message) => contentTokens((message as { content?: unknown } | null)?.content));
  return Math.ceil(tokens.reduce((sum, count) => sum + count, 0));
}
