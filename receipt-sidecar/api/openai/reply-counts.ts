/**
 * Tallies what an OpenAI reply says of its tokens: the counts that the provider states, and the text that it delivered.
 *
 * Invariant: taking in a reply or a chunk costs no more than its length.
 */

import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClaimedUsage, ReplyShape, ReplyTally } from '../port/shape.ts';
import { isPromptBlocked } from './blocked-prompt.ts';
import { isError } from './chunk.ts';
import { claimOfChoices, claimsIn, type FoundClaim } from './usage-claims.ts';

const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;

/** How deep text is looked for in a choice; none of a model lies deeper. */
const maxDepth = 8;
/** Fields that hold names and kinds, which no model wrote. */
const notText = new Set(['id', 'type', 'role', 'index', 'object', 'signature', 'format']);

export function textBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value === null || typeof value !== 'object' || depth > maxDepth) return 0;
  let bytes = 0;
  if (Array.isArray(value)) for (const item of value) bytes += textBytes(item, depth + 1);
  else for (const key in value) if (!notText.has(key)) bytes += textBytes(field(value, key), depth + 1);
  return bytes;
}

/** Parts of the words by which providers say that they withheld an answer: OpenAI's, Gemini's, Bedrock's, Anthropic's, Zhipu's. */
const withheld =
  /filter|safety|moderat|guardrail|sensitive|recitation|prohibited|blocklist|^blocked|spii|refusal|policy|^language$/i;
/** The fields of a choice in which they say it; a gateway in front of a provider repeats its word under another name. */
const reasons = ['finish_reason', 'native_finish_reason', 'stop_reason'];
/** A longer text is no such word. */
const longestReason = 64;

export const saysWithheld = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.length <= longestReason && withheld.test(reason);

const answers = new Set(['content', 'refusal', 'tool_calls', 'function_call']);

/** Tallies a reply, whole or chunk by chunk. */
export class ReplyCounts implements ReplyTally {
  claim: ClaimedUsage | null = null;
  isStale = false;
  answerBytes = 0;
  reasoningBytes = 0;
  otherBytes = 0;
  isFiltered = false;
  #rank = Number.POSITIVE_INFINITY;
  readonly #ofChoices = new Map<number, ClaimedUsage>();

  /** Whether nothing was delivered that a model could have written. */
  get isEmpty(): boolean {
    return this.answerBytes + this.reasoningBytes === 0;
  }

  /** Takes the text first and then the usage, since a count in the same chunk covers its text. */
  take(chunk: { readonly choices?: unknown; readonly usage?: unknown }): void {
    const before = this.answerBytes + this.reasoningBytes;
    if (Array.isArray(chunk.choices)) for (const choice of chunk.choices) this.#choice(choice);
    if (this.answerBytes + this.reasoningBytes > before) this.isStale = this.claim !== null;
    for (const found of claimsIn(chunk)) this.#claimed(found);
  }

  /**
   * A later claim replaces an earlier one, unless that one stands in a better place and covers all of the text. Some servers fill the usage
   * of chunks that count nothing with zeros, also behind the counts.
   */
  #claimed({ choice, claim, rank }: FoundClaim): void {
    if (rank > this.#rank && !this.isStale) return;
    if (this.claim !== null && !claim.prompt && !claim.completion && !claim.total) return;
    this.#rank = rank;
    this.isStale = false;
    if (choice !== null) this.#ofChoices.set(choice, claim);
    const stated = choice === null ? claim : claimOfChoices([...this.#ofChoices.values()]);
    if (stated === null) return;
    // Some state the prompt at the beginning of a stream, and only the completion at its end.
    const begun = stated.prompt === null && stated.total === null ? this.claim : null;
    this.claim = begun ? { ...stated, prompt: begun.prompt, cached: stated.cached ?? begun.cached } : stated;
  }

  /** The same for a chunk with nothing but text of an answer. */
  takeText(bytes: number): void {
    this.answerBytes += bytes;
    this.isStale = this.claim !== null;
  }

  #choice(choice: unknown): void {
    this.#end(choice);
    const legacy = field(choice, 'text');
    if (typeof legacy === 'string') this.answerBytes += Buffer.byteLength(legacy);
    const said = field(choice, 'delta') ?? field(choice, 'message');
    if (said === null || typeof said !== 'object') return;
    let reasoning = 0;
    for (const key in said) {
      const value = field(said, key);
      if (value === null || notText.has(key)) continue;
      const bytes = textBytes(value);
      if (answers.has(key)) this.answerBytes += bytes;
      // Some servers say it under both names.
      else if (key === 'reasoning_content' || key === 'reasoning') reasoning = Math.max(reasoning, bytes);
      else this.otherBytes += bytes;
    }
    this.reasoningBytes += reasoning;
  }

  #end(choice: unknown): void {
    if (reasons.some((name) => saysWithheld(field(choice, name)))) this.isFiltered = true;
  }
}

/** JSON replies, and the chunks of streams. A reply without a list of answers, or with an empty one, is a failure in whatever words. */
export const jsonReply = (answers: 'choices' | 'data'): Pick<ReplyShape, 'tally' | 'isFailure' | 'mended'> => ({
  tally: () => new ReplyCounts(),
  isFailure: (reply: JsonObject) => isError(reply) || isPromptBlocked(reply) || !isFilled(reply[answers]),
  mended: (text: string, value: JsonObject) => ({ text, value }),
});

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
