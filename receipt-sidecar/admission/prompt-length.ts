/**
 * Refuses a prompt that is longer than the context window of its model.
 *
 * Invariant: nothing that fits is ever refused, and no prompt that is only to be counted. What cannot be counted for certain (images, tools, names, a template)
 * is not counted; a model whose tokenizer is not known counts nothing but lists of tokens; and where counting fails the
 * call goes on, since the provider refuses by itself. Only the prompt counts, not what was asked to be generated.
 */

import { type ApiError, apiError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { knownTokenizer, longestTokenBytes, type Tokenizer } from '@gw/contract/internal/tokenizers';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { tooManyTokens } from '../api/prompt-words.ts';
import { shapeOf } from '../api/shapes.ts';
import { tokenListsOf } from '../api/token-lists.ts';
import type { Counted, CountJob } from '../api/tokens/count-tokens.ts';
import { namedFacts, type ReadingContext } from '../catalogue/reading-context.ts';

/** Up to how many times the limit is counted: a prompt a little too long gets its exact count, a huge one does not. */
const countedTimesLimit = 2;

/** A prompt whose tokens cannot be judged without the vocabulary of its model. */
export interface Uncounted {
  readonly tokenizer: Tokenizer;
  readonly job: CountJob;
  readonly refusalOf: (over: NonNullable<Counted['over']>) => ApiError;
}

/**
 * Returns null if the prompt fits, as all do that have no more bytes than the window has tokens, or if it cannot be
 * known.
 */
export function promptLength(
  request: ParsedRequest,
  body: JsonObject,
  context: Pick<ReadingContext, 'allowed' | 'models'>,
): Uncounted | ApiError | null {
  const model = namedFacts(request.model, context);
  const limit = model?.contextWindow ?? null;
  // Each token stands for at least one byte, and the body holds all of them.
  if (!model || limit === null || request.promptBytes <= limit) return null;
  if (shapeOf(request.endpoint).counts !== undefined) return null;
  if (asksToTruncate(body)) return null;
  const tooLong = (prompt: LongPrompt) => refusal(request, model.id, limit, prompt);
  const tokens = tokenListsOf(request.endpoint, body)?.lists;
  if (tokens) {
    const at = tokens.findIndex((list) => list.length > limit);
    return at === -1 ? null : tooLong({ at, of: tokens.length, tokens: elementAt(tokens, at).length, isWhole: true });
  }
  const tokenizer = knownTokenizer(model.tokenizer);
  if (!tokenizer) return null;
  const { texts, frame, isWhole, together } = shapeOf(request.endpoint).request.prompt(body);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bounds = together ? [sizes.reduce((sum, size) => sum + size, 0)] : sizes;
  if (bounds.every((size) => size + frame <= limit)) return null;
  const of = together ? 1 : texts.length;
  const leastOf = (size: number) => Math.ceil(size / longestTokenBytes) + frame;
  const certain = bounds.findIndex((size) => leastOf(size) > limit);
  if (certain !== -1) return tooLong({ at: certain, of, tokens: leastOf(elementAt(bounds, certain)), isWhole: false });
  const job = { texts, together, limit: limit - frame, stopAbove: limit * countedTimesLimit };
  const refusalOf = ({ at, tokens: count, whole }: NonNullable<Counted['over']>) =>
    tooLong({ at, of, tokens: count + frame, isWhole: whole && isWhole });
  return { tokenizer, job, refusalOf };
}

interface LongPrompt {
  /** The index of the prompt, and the number of prompts. */
  readonly at: number;
  readonly of: number;
  readonly tokens: number;
  /** False if it has at least so many tokens, and perhaps more. */
  readonly isWhole: boolean;
}

function refusal(
  request: ParsedRequest,
  model: string,
  limit: number,
  { at, of, tokens, isWhole }: LongPrompt,
): ApiError {
  const param = shapeOf(request.endpoint).request.promptField;
  const message = tooManyTokens(of > 1 ? `\`${param}[${at}]\`` : 'it', model, { tokens, limit, isWhole });
  return apiError('prompt_too_long', { message, param });
}

/** Fields that ask a server to cut a prompt that is too long: a client that sends one does not want to be refused. */
const truncation = ['truncate_prompt_tokens', 'truncate', 'truncation'];
const asksToTruncate = (body: JsonObject): boolean =>
  truncation.some((field) => body[field] !== undefined && body[field] !== null && body[field] !== false);
