/**
 * Tallies what a response says of its tokens: the counts that the provider states, and the text that it delivered. A stream says its text up
 * to four times: in deltas, at the end of each text, with each item, and in the response as a whole. The most of these counts, since a
 * server may leave out any of them.
 *
 * Invariant: taking in a response or an event costs no more than its length.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { saysWithheld, textBytes } from '../openai/reply-counts.ts';
import { claimsIn } from '../openai/usage-claims.ts';
import type { ClaimedUsage, ReplyTally } from '../port/shape.ts';
import { isObject, listOf } from './items.ts';

/** UTF-8 bytes by what they are. */
interface Bytes {
  answer: number;
  reasoning: number;
  other: number;
}
const none = (): Bytes => ({ answer: 0, reasoning: 0, other: 0 });

export class ResponseTally implements ReplyTally {
  claim: ClaimedUsage | null = null;
  isStale = false;
  isFiltered = false;
  /** In deltas, in items, and in the whole response. */
  readonly #deltas = none();
  readonly #items = none();
  #whole = none();

  get answerBytes(): number {
    return this.#most('answer');
  }

  get reasoningBytes(): number {
    return this.#most('reasoning');
  }

  get otherBytes(): number {
    return this.#most('other');
  }

  /** Whether nothing was delivered that a model could have written. */
  get isEmpty(): boolean {
    return this.answerBytes + this.reasoningBytes === 0;
  }

  #most(kind: keyof Bytes): number {
    return Math.max(this.#deltas[kind], this.#items[kind], this.#whole[kind]);
  }

  /** Takes a whole response in, or one that has only begun. */
  take(response: JsonObject): void {
    const whole = none();
    for (const item of listOf(response.output)) addItem(whole, item);
    this.#whole = whole;
    const { incomplete_details: details } = response;
    if (isObject(details) && saysWithheld(details.reason)) this.isFiltered = true;
    const found = claimsIn(response)[0]?.claim;
    if (found === undefined) return;
    this.claim = found;
    this.isStale = false;
  }

  /** Takes an item in that has come to its end. */
  takeItem(item: JsonObject): void {
    addItem(this.#items, item);
  }

  /** Takes a piece of text in, by the type of its event. */
  takeDelta(type: string, bytes: number): void {
    this.#deltas[kindOf(type)] += bytes;
    this.isStale = this.claim !== null;
  }
}

const answers = /output_text|refusal|function_call_arguments|custom_tool_call_input/;
const kindOf = (type: string): keyof Bytes =>
  answers.test(type) ? 'answer' : type.includes('reasoning') ? 'reasoning' : 'other';

const calls: Readonly<Record<string, string>> = { function_call: 'arguments', custom_tool_call: 'input' };

function addItem(to: Bytes, item: JsonObject): void {
  const { content, name, summary, type } = item;
  const said = calls[String(type)];
  if (type === 'message') to.answer += textBytes(texts(content));
  else if (type === 'reasoning') to.reasoning += Math.max(textBytes(texts(content)), textBytes(texts(summary)));
  else if (said !== undefined) to.answer += textBytes(name) + textBytes(item[said]);
  else to.other += textBytes(item);
}

/** Returns what is said in parts: neither their annotations nor their logprobs. */
const texts = (parts: unknown): readonly unknown[] => listOf(parts).map(({ refusal, text }) => text ?? refusal);
