import type { Receipt } from './receipt.ts';

type Counts = Pick<Receipt, 'prompt_tokens' | 'completion_tokens'>;

/** The counts alone of what a receipt states. */
export const countsIn = ({ prompt_tokens, completion_tokens }: Counts): Counts => ({
  prompt_tokens,
  completion_tokens,
});

/** Returns the token counts of a receipt; null where they are not known. */
export const receiptCounts = (
  usage: { readonly promptTokens: number; readonly completionTokens: number } | null,
): Counts => ({
  prompt_tokens: usage?.promptTokens ?? null,
  completion_tokens: usage?.completionTokens ?? null,
});
