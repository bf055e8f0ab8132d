/** Chunks of our own, where the provider has sent none that the receipt can ride on, or none with the usage. */
import type { TokenUsage } from '@gw/methodology/assess';
import { type Additions, addToObject } from '../wire/json-body.ts';
import { dataEvent } from '../wire/write-events.ts';
import type { Origin } from './chunk.ts';

/** What the receipt adds to a stream. */
export interface StreamReceipt extends Required<Additions> {
  /** The counts of the receipt, perhaps estimated; null if it has none. */
  readonly counts: TokenUsage | null;
}

/** Returns an event without choices. `usage`: as OpenAI shows it; absent, there is none. */
export function ownChunk(origin: Origin | null, object: string, additions: Additions, usage?: object): Buffer {
  const chunk = { ...origin, object, choices: [], ...(usage && { usage }) };
  return dataEvent(addToObject(JSON.stringify(chunk), chunk, additions));
}

export const usageOf = ({ completionTokens, promptTokens }: TokenUsage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});
