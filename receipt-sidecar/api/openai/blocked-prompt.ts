/** Gemini answers a prompt that it blocks with a 200 that has a reason in place of choices. */
import type { JsonObject } from '@gw/contract/internal/strict-json';

export function isPromptBlocked({ promptFeedback, prompt_feedback }: JsonObject): boolean {
  const feedback: unknown = promptFeedback ?? prompt_feedback;
  if (typeof feedback !== 'object' || feedback === null) return false;
  return Boolean(Reflect.get(feedback, 'blockReason') ?? Reflect.get(feedback, 'block_reason'));
}
