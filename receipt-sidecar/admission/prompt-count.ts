/**
 * Counts a prompt for a client that asks for its tokens.
 *
 * Invariant: a count is that of all texts by the model's own tokenizer, or there is none: then a provider is asked. Only the frame around
 * the texts is an estimate.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { knownTokenizer, type Tokenizer } from '@gw/contract/internal/tokenizers';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf } from '../api/shapes.ts';
import { countTokens } from '../api/tokens/count-tokens.ts';
import type { Vocabulary } from '../api/tokens/vocabulary.ts';
import { namedFacts, type ReadingContext } from '../catalogue/reading-context.ts';

export interface CountedPrompt {
  readonly tokenizer: Tokenizer;
  readonly texts: readonly string[];
  readonly frame: number;
}

/** Returns null for a call whose prompt is not to be counted, or not by a tokenizer. */
export function promptToCount(
  request: ParsedRequest,
  body: JsonObject,
  context: Pick<ReadingContext, 'allowed' | 'models'>,
): CountedPrompt | null {
  const shape = shapeOf(request.endpoint);
  if (shape.counts === undefined) return null;
  const tokenizer = knownTokenizer(namedFacts(request.model, context)?.tokenizer ?? null);
  const { frame, isWhole, texts } = shape.request.prompt(body);
  return tokenizer && isWhole ? { tokenizer, texts, frame } : null;
}

/** Returns null where the text has pieces that nobody can count, or `isLate` became true. */
export function promptCount(
  { frame, texts }: CountedPrompt,
  vocabulary: Vocabulary,
  isLate: () => boolean,
): number | null {
  const job = { texts, together: true, limit: -1, stopAbove: Number.POSITIVE_INFINITY };
  const over = countTokens(job, vocabulary, isLate)?.over;
  return over?.whole ? over.tokens + frame : null;
}
