/** Reads the token counts that a provider reports. */
import type { Usage } from '../receipt.ts';

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;

/**
 * `usage` of OpenAI's shape; null if it is missing or not plausible. Reasoning tokens are part of `completion_tokens`.
 * An embedding has no completion tokens, so a missing count is 0 as long as the prompt was counted.
 */
export function readUsage(usage: unknown): Usage | null {
  const promptTokens = count(field(usage, 'prompt_tokens'));
  if (promptTokens === null) return null;
  const completion = field(usage, 'completion_tokens');
  const completionTokens = completion === undefined || completion === null ? 0 : count(completion);
  if (completionTokens === null) return null;
  const cached = count(field(field(usage, 'prompt_tokens_details'), 'cached_tokens')) ?? 0;
  return { promptTokens, cachedPromptTokens: Math.min(cached, promptTokens), completionTokens };
}
