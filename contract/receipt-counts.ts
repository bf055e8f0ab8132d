import type { Receipt } from './receipt.ts';

/** Returns the token counts of a receipt; null where they are not known. */
export const receiptCounts = (
  usage: { readonly promptTokens: number; readonly completionTokens: number } | null,
): Pick<Receipt, 'prompt_tokens' | 'completion_tokens'> => ({
  prompt_tokens: usage?.promptTokens ?? null,
  completion_tokens: usage?.completionTokens ?? null,
});
